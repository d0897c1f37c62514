//! Names: scopes, ranges, registers in mid-body, names for messages.

use super::{kernel, last, lines, lowered, module};
use crate::ptx::ir::{Reg, RegClass, Width};

#[test]
fn a_scope_may_declare_a_name_again() {
    let body = ".reg .b32 x; mov.u32 x, 1; { .reg .b64 x; mov.u64 x, 2; } mov.u32 x, 3;";
    assert_eq!(lowered(body), ["mov r28, 0x1", "mov d16, 0x2", "mov r28, 0x3"]);
}

#[test]
fn a_number_belongs_to_the_range_that_has_it() {
    let module = module(
        ".entry k() { .reg .b32 %r<3>; .reg .b64 %r1<4>; mov.u32 %r2, 0; mov.u64 %r13, 0; mov.u64 %r10, 1; }",
    );
    assert_eq!(lines(last(&module)), ["mov r2, 0x0", "mov d3, 0x0", "mov d0, 0x1", "ret"]);
}

#[test]
fn registers_may_be_declared_in_mid_body() {
    let body = "mov.u32 %r0, 1; .reg .f32 %late; mov.f32 %late, %r0;";
    assert_eq!(lowered(body), ["mov r0, 0x1", "mov r28, r0"]);
}

#[test]
fn narrow_registers_share_the_file_of_32_bit_ones() {
    let module = module(".entry k() { .reg .b16 %a; .reg .b32 %b; .reg .b8 %c; .reg .pred %p; }");
    let files = last(&module).registers;
    assert_eq!((files.predicates, files.slots32, files.slots64), (1, 3, 0));
    assert_eq!(files.count(RegClass::Slot32), 3);
}

#[test]
fn registers_have_their_names_for_messages() {
    let module = kernel(".reg .f64 %sum; add.u32 %r0, %laneid, 1;");
    let kernel = last(&module);
    let name = |width, index| kernel.register_name(Reg { width, index });
    assert_eq!(name(Width::B32, 5).as_deref(), Some("%r5"));
    assert_eq!(name(Width::B16, 17).as_deref(), Some("%rs1"));
    assert_eq!(name(Width::B64, 16).as_deref(), Some("%sum"));
    assert_eq!(name(Width::B32, 28), None);
}

#[test]
fn a_directive_inside_a_body_that_is_not_known_marks_the_kernel() {
    let module = kernel(".newdirective 5; ret;");
    assert_eq!(last(&module).unsupported.as_ref().unwrap().what, ".newdirective");
}
