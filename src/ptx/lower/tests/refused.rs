//! Modules that an assembler refuses: the whole message, as a person reads it.

use super::{REGISTERS, load};

fn refused(body: &str) -> String {
    let text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .u32 n) {{\n{}\n{body}\n}}",
        REGISTERS.replace('\n', " ")
    );
    match load(&text) {
        Ok(_) => panic!("accepted: {body}"),
        Err(message) => message,
    }
}

/// The message alone.
fn title(body: &str) -> String {
    let message = refused(body);
    message.lines().next().unwrap().trim_start_matches("error: ").to_owned()
}

#[test]
fn registers_of_the_wrong_width() {
    let expected = "\
error: `%r1` has 32 bits where 64 are needed
 --> test.ptx:6:1
  |
6 | add.u64 %rd0, %r1, %rd2;
  | ^^^^^^^^^^^^^^^^^^^^^^^^";
    assert_eq!(refused("add.u64 %rd0, %r1, %rd2;"), expected);
    assert_eq!(title("add.u32 %rd0, %r1, %r2;"), "`%rd0` has 64 bits where 32 are needed");
    assert_eq!(title("@%r0 ret;"), "`%r0` has 32 bits where a predicate is needed");
    assert_eq!(title("add.s32 %r0, %p0, 1;"), "`%p0` is a predicate where 32 are needed");
    assert_eq!(title("ld.global.u64 %r0, [%rd0];"), "`%r0` has 32 bits where at least 64 are needed");
    assert_eq!(title("mul.wide.s32 %r0, %r1, %r2;"), "`%r0` has 32 bits where 64 are needed");
    assert_eq!(title("shl.b64 %rd0, %rd1, %rd2;"), "`%rd2` has 64 bits where 32 are needed");
    assert_eq!(title("mov.u32 %rd0, %rd1;"), "a register of 64 bits stands where .u32 has 32");
    assert_eq!(title("mov.b64 %rd0, {%r0, %rs0};"), "`%rs0` has 16 bits where 32 are needed");
    assert_eq!(
        title("st.shared.u32 [%p0], %r0;"),
        "`%p0` is a predicate where an address of 32 or 64 bits is needed"
    );
}

#[test]
fn names_that_are_missing_or_stand_twice() {
    let expected = "\
error: `%x` is not declared
 --> test.ptx:6:14
  |
6 | add.u32 %r0, %x, 1;
  |              ^^ no register, variable, parameter, label or function of this name";
    assert_eq!(refused("add.u32 %r0, %x, 1;"), expected);
    let expected = "\
error: `%r` is declared twice
 --> test.ptx:6:11
  |
6 | .reg .b32 %r<4>;
  |           ^^ the same name stands before, in this scope";
    assert_eq!(refused(".reg .b32 %r<4>;"), expected);
    assert_eq!(title("bra nowhere;"), "`nowhere` is not declared");
    assert_eq!(title("bra n;"), "`n` is no label");
    assert_eq!(title("{ INNER: } bra INNER;"), "`INNER` is not declared");
    assert_eq!(title("add.u32 %r0, %r16, 1;"), "`%r16` is not declared");
    assert_eq!(title("A: A: ret;"), "`A` is declared twice");
    assert_eq!(title("call %r0;"), "a call through a register needs a prototype");
}

#[test]
fn operands_of_the_wrong_number_or_kind() {
    assert_eq!(title("add.u32 %r0, %r1;"), "`add` takes 3 operands here, not 2");
    assert_eq!(title("bar.sync;"), "`bar` takes 1 or 2 operands here, not 0");
    assert_eq!(title("add.u32 5, %r1, %r2;"), "a destination must be a register");
    assert_eq!(title("add.f32 %r0, %r1, 1;"), "a number of this kind is no value of .f32");
    assert_eq!(title("ld.global.u32 %r0, %rd0;"), "an address in brackets belongs here");
    assert_eq!(title("ld.global.v4.u32 {%r0, %r1}, [%rd0];"), "4 elements belong here, not 2");
    assert_eq!(
        title("ld.global.u32 %r0, [n];"),
        "this lies in .param space, the instruction accesses .global"
    );
    assert_eq!(
        title("cp.async.cg.shared.global [%r0], [%rd0], 8;"),
        "the size of `cp.async` is 4, 8 or 16 bytes, with `.cg` 16"
    );
}

#[test]
fn types_that_an_instruction_does_not_have() {
    assert_eq!(title("add.b32 %r0, %r1, %r2;"), "this instruction has no type .b32");
    assert_eq!(title("mul.lo.u8 %rb0, %rb1, %rb2;"), "this instruction has no type .u8");
    assert_eq!(title("setp.lt.b32 %p0, %r1, %r2;"), "this instruction has no type .b32");
    assert_eq!(title("setp.ltu.s32 %p0, %r1, %r2;"), "this instruction has no type .s32");
    assert_eq!(title("atom.global.and.f32 %r0, [%rd0], %r1;"), "this instruction has no type .f32");
    assert_eq!(title("add.sat.u32 %r0, %r1, %r2;"), "this instruction has no type .u32");
    assert_eq!(title("cvt.s32.f32 %r0, %r1;"), "the conversion from .f32 to .s32 has another rounding");
    assert_eq!(title("cvt.f32.s32 %r0, %r1;"), "the conversion from .s32 to .f32 has another rounding");
}

#[test]
fn places_outside_of_parameters_and_constants() {
    assert_eq!(title("ld.param.u64 %rd0, [n];"), "8 bytes at offset 0 of parameter `n`, which has 4 bytes");
    assert_eq!(
        title("ld.param.u32 %r0, [n+-4];"),
        "4 bytes at offset -4 of parameter `n`, which has 4 bytes"
    );
    assert_eq!(title("st.param.u32 [n], %r0;"), "parameters and constants cannot be written");
    assert_eq!(title("st.const.u32 [%rd0], %r0;"), "parameters and constants cannot be written");
    assert_eq!(title("bar.sync 16;"), "barriers are numbered 0 to 15, there is no 16");
    assert_eq!(title("bar.sync 1, 48;"), "48 threads at a barrier are no multiple of 32");
    assert_eq!(
        title("ld.global.v8.u64 {%rd0,%rd1,%rd2,%rd3,%rd4,%rd5,%rd6,%rd7}, [%rd8];"),
        "8 elements of .u64 are no vector"
    );
    assert_eq!(title(".reg .b32 %many<2000000>;"), "2000028 registers of one class, the limit is 1048576");
}

#[test]
fn functions_that_do_not_fit_their_calls_or_declarations() {
    let items = |items: &str| {
        let text = format!(".version 9.0\n.target sm_90\n.address_size 64\n{items}");
        load(&text).unwrap_err().lines().next().unwrap().to_owned()
    };
    assert_eq!(
        items(".func f(.param .b32 a) { ret; } .entry k() { call f; }"),
        "error: the function has 1 arguments, the call 0"
    );
    assert_eq!(
        items(".func f(.param .b32 a) { ret; } .entry k() { .param .b64 p; call f, (p); }"),
        "error: 8 bytes stand for a parameter of 4 bytes"
    );
    assert_eq!(
        items(".func f(.param .b32 a); .func f(.param .b64 a) { ret; }"),
        "error: `f` is declared with other parameters before"
    );
    assert_eq!(items(".func f() { ret; } .func f() { ret; }"), "error: function `f` is defined twice");
    assert_eq!(
        items(".entry a() { ret; } .entry k() { call a; }"),
        "error: `a` is a kernel, which cannot be called"
    );
    assert_eq!(items(".global .u32 x = missing;"), "error: `missing` is not declared");
    assert_eq!(items(".global .u32 x; .global .u8 x;"), "error: `x` is declared twice");
    assert_eq!(
        items(".global .u32 x; .global .u8 y = x;"),
        "error: an address does not fit into an element of .u8"
    );
    assert_eq!(
        items(".shared .u32 x = 5;"),
        "error: `x` lies in .shared space, which has no initial contents"
    );
    assert_eq!(items(".global .u32 x[2] = {1, 2, 3};"), "error: the initialiser has 3 elements, `x` has 2");
}
