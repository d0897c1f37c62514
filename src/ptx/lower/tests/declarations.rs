//! Variables, initialisers, shared memory, launch bounds, source places.

use super::{last, module};
use crate::ptx::ir::{FunctionId, RelocationTarget, Space, VariableId};

#[test]
fn initialisers_become_bytes_and_addresses() {
    let module = module(
        ".global .align 4 .u16 a[2][3] = {{1, 2}, {-1}};
         .const .f32 f[] = {0f3F800000, 2.0};
         .global .u8 byte[3] = {0xFF(a), 0xFF00(a), 7};
         .global .u64 p[2] = {generic(a)+4, f};
         .global .b8 zero[8];
         .func g() { ret; }
         .global .u64 code = g;",
    );
    let [a, f, byte, p, zero, code] = &module.variables[..] else { panic!("six variables") };
    let bytes = |v: &crate::ptx::ir::Variable| v.initializer.as_ref().unwrap().bytes.clone();
    assert_eq!((a.size, a.align), (12, 4));
    assert_eq!(bytes(a), [1, 0, 2, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0]);
    assert_eq!((f.space, f.size), (Space::Const, 8));
    assert_eq!(bytes(f), [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]);
    let places = |v: &crate::ptx::ir::Variable| {
        let list = &v.initializer.as_ref().unwrap().relocations;
        list.iter().map(|r| (r.offset, r.size, r.shift, r.addend, r.target)).collect::<Vec<_>>()
    };
    let to_a = RelocationTarget::Variable(VariableId(0));
    assert_eq!(places(byte), [(0, 1, 0, 0, to_a), (1, 1, 8, 0, to_a)]);
    assert_eq!(bytes(byte), [0, 0, 7]);
    let generic = RelocationTarget::Generic(VariableId(0));
    let to_f = RelocationTarget::Variable(VariableId(1));
    assert_eq!(places(p), [(0, 8, 0, 4, generic), (8, 8, 0, 0, to_f)]);
    assert_eq!(zero.initializer, None);
    assert_eq!(places(code), [(0, 8, 0, 0, RelocationTarget::Function(FunctionId(0)))]);
}

#[test]
fn shared_variables_keep_one_offset_and_cost_only_the_kernels_that_use_them() {
    let module = module(
        ".shared .align 4 .b8 only_a[100]; .shared .align 16 .b8 both[32];
         .extern .shared .align 16 .b8 dyn[];
         .func helper() { .reg .b32 %r; mov.u32 %r, both; ret; }
         .visible .entry a() { .reg .b32 %r; mov.u32 %r, only_a; call helper; }
         .visible .entry b() { .shared .u32 own; .reg .b32 %r; mov.u32 %r, own; call helper; mov.u32 %r, dyn; }
         .visible .entry c() { .shared .align 8 .b8 big[40]; .reg .b32 %r; st.shared.u32 [big], %r; }",
    );
    let offset = |name: &str| module.variables.iter().find(|v| v.name == name).unwrap().shared_offset;
    // `both` must lie behind `only_a`, which kernel a has before it, also where b and c do not
    assert_eq!((offset("only_a"), offset("both"), offset("own")), (Some(0), Some(112), Some(144)));
    assert_eq!((offset("big"), offset("dyn")), (Some(0), None));
    let layout = |name: &str| module.function(name).unwrap().1.shared.clone();
    assert_eq!((layout("a").static_bytes, layout("a").uses_dynamic), (144, false));
    assert_eq!((layout("b").static_bytes, layout("b").dynamic_offset), (148, 160));
    assert!(layout("b").uses_dynamic);
    assert_eq!((layout("c").static_bytes, layout("c").variables.len()), (40, 1));
}

#[test]
fn launch_bounds_are_kept() {
    let module =
        module(".visible .entry k() .maxntid 256, 2 .reqntid 128 .minnctapersm 2 .maxnreg 64 { ret; }");
    let bounds = last(&module).bounds;
    assert_eq!(bounds.max_ntid, Some([256, 2, 1]));
    assert_eq!(bounds.req_ntid, Some([128, 1, 1]));
    assert_eq!((bounds.min_ctas_per_sm, bounds.max_registers), (Some(2), Some(64)));
}

#[test]
fn a_kernel_with_a_texture_parameter_is_marked_and_the_others_load() {
    let module = module(
        ".global .texref tex;
         .visible .entry bad(.param .texref t) { ret; }
         .visible .entry good() { .reg .b32 %r<4>; .reg .b64 %d; mov.u64 %d, tex; ret; }",
    );
    let bad = module.function("bad").unwrap().1.unsupported.clone().unwrap();
    assert_eq!((bad.what.as_str(), bad.line), ("parameter of type .texref", 5));
    let good = module.function("good").unwrap().1;
    assert_eq!(good.unsupported, None);
    assert_eq!(super::lines(good)[0], "unsupported `mov.u64`");
}

#[test]
fn a_declaration_and_its_definition_are_one_function() {
    let module = module(
        ".func (.param .b32 r) f(.param .b32 a);
         .visible .entry k() { .param .b32 p; .param .b32 q; call (q), f, (p); }
         .func (.param .b32 r) f(.param .b32 a) { ret; }",
    );
    assert_eq!(module.functions.len(), 2);
    assert!(module.functions[0].defined);
}

#[test]
fn source_places_say_what_was_inlined_where() {
    let module = module(
        ".file 1 \"kernel.cu\"
         .visible .entry k() {
         .loc 1 10 3
         trap;
         .loc 1 4 7, function_name $L__name0, inlined_at 1 10 3
         trap;
         .loc 1 2 1, function_name $L__name0+6, inlined_at 1 4 7
         trap;
         }
         .section .debug_str
         {
         $L__name0:
         .b8 111,117,116,101,114
         .b8 0
         .b8 105,110
         .b8 110
         .b8 101,114,0
         }",
    );
    let kernel = last(&module);
    let place = |index: usize| &module.locations[kernel.code[index].location.unwrap().0 as usize];
    assert_eq!((place(0).line, place(0).column, &place(0).inlined), (10, 3, &None));
    let outer = place(1).inlined.clone().unwrap();
    assert_eq!((outer.function.as_str(), outer.at), ("outer", kernel.code[0].location.unwrap()));
    let inner = place(2).inlined.clone().unwrap();
    assert_eq!((inner.function.as_str(), inner.at), ("inner", kernel.code[1].location.unwrap()));
    assert_eq!(module.file(1).unwrap().path, "kernel.cu");
    assert_eq!(kernel.code[2].line, 11);
}
