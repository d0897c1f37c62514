//! Calls: arguments and results as byte ranges, registers as arguments, pointers, recursion, the
//! device's own functions.

use super::{last, lines, module};
use crate::ptx::ir::{CallTarget, Op, ParamCopy};

#[test]
fn arguments_and_results_are_copied_between_blocks() {
    let module = module(
        ".func (.param .b32 r) f(.param .b32 a, .param .align 8 .b8 s[12]) { ret; }
         .visible .entry k() {
           .reg .b32 %r<2>; .reg .b64 %rd;
           { .param .b32 p0; st.param.b32 [p0+0], %r0;
             .param .align 8 .b8 p1[12]; st.param.b64 [p1+0], %rd; st.param.b32 [p1+8], 7;
             .param .b32 back;
             call.uni (back), f, (p0, p1);
             ld.param.b32 %r1, [back+0]; }
         }",
    );
    let kernel = last(&module);
    assert_eq!(
        lines(kernel),
        [
            "st.param.b32 [call0], r0",
            "st.param.b64 [call1], d0",
            "st.param.b32 [call1+8], 0x7",
            "call.uni (call2), function0, (call0, call1)",
            "ld.param.b32 r1, [call2]",
            "ret",
        ]
    );
    let Op::Call(call) = &kernel.code[3].op else { panic!("no call") };
    let copy = |call_param, caller_offset, callee_offset, size| ParamCopy {
        call_param,
        caller_offset,
        callee_offset,
        size,
    };
    assert_eq!(call.args[..], [copy(0, 0, 0, 4), copy(1, 8, 8, 12)]);
    assert_eq!(call.rets[..], [copy(2, 20, 0, 4)]);
    assert_eq!((kernel.call_bytes, module.functions[0].param_bytes), (24, 20));
}

#[test]
fn registers_and_constants_pass_through_the_same_blocks() {
    let module = module(
        ".func (.reg .u32 r) f(.reg .u32 a, .reg .u64 b) { add.u32 r, a, 1; ret; }
         .visible .entry k() {
           .reg .b32 %r<2>;
           call (%r0), f, (%r1, 5);
         }",
    );
    assert_eq!(
        lines(&module.functions[0]),
        [
            "ld.param.u32 r0, [in0]",
            "ld.param.u64 d0, [in1]",
            "add.u32 r1, r0, 0x1",
            "st.param.u32 [out0], r1",
            "ret",
        ]
    );
    assert_eq!(
        lines(last(&module)),
        [
            "st.param.u32 [call0], r1",
            "st.param.u64 [call1], 0x5",
            "call (call2), function0, (call0, call1)",
            "ld.param.u32 r0, [call2]",
            "ret",
        ]
    );
}

#[test]
fn the_address_of_a_functions_parameter_is_that_of_a_local_copy() {
    let module = module(
        ".func f(.param .align 4 .b8 s[6]) {
           .reg .b64 %rd<2>; .reg .b32 %r;
           mov.b64 %rd0, s; L: ld.local.u32 %r, [%rd0]; bra L;
         }",
    );
    let function = last(&module);
    assert_eq!(
        lines(function),
        [
            "ld.param.b32 r1, [in0]",
            "st.local.b32 [local0], r1",
            "ld.param.b16 h2, [in0+4]",
            "st.local.b16 [local0+4], h2",
            "address d0, local0",
            "ld.local.u32 r0, [d0]",
            "bra @5",
        ]
    );
    assert_eq!((function.local_bytes, function.labels[0].target), (6, 5));
}

#[test]
fn indirect_calls_know_the_layout_from_a_prototype_or_a_list() {
    let module = module(
        ".func (.param .f32 r) f(.param .f32 a) { ret; }
         .func (.param .f32 r) g(.param .f32 a) { ret; }
         .global .u64 table[2] = {f, g};
         .visible .entry k() {
           .reg .b64 %rd<2>; .reg .f32 %f;
           .param .f32 p; .param .f32 back;
           proto: .callprototype (.param .f32 _) _ (.param .f32 _);
           list: .calltargets f, g;
           mov.u64 %rd0, f;
           call (back), %rd0, (p), proto;
           call (back), %rd1, (p), list;
         }",
    );
    assert_eq!(
        lines(last(&module)),
        [
            "address d0, function0",
            "call (call1), d0, (call0)",
            "call (call1), d1, of {function0, function1}, (call0)",
            "ret",
        ]
    );
    let initializer = module.variables[0].initializer.as_ref().unwrap();
    let places: Vec<_> = initializer.relocations.iter().map(|r| (r.offset, r.size)).collect();
    assert_eq!(places, [(0, 8), (8, 8)]);
}

#[test]
fn the_devices_own_functions_are_known_by_name_and_layout() {
    let module = module(
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
         .extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
         .extern .func (.param .b64 r) malloc(.param .b64 a);
         .extern .func free(.param .b32 a);
         .visible .entry k() {
           .param .b64 a; .param .b64 b; .param .b32 c; .param .b32 r; .param .b64 m;
           call (r), vprintf, (a, b);
           call __assertfail, (a, b, c, a, b);
           call (m), malloc, (a);
           call free, (c);
         }",
    );
    let lines = lines(last(&module));
    assert_eq!(lines[0], "call (call3), vprintf, (call0, call1)");
    assert_eq!(lines[1], "call (), assertfail, (call0, call1, call2, call0, call1)");
    assert_eq!(lines[2], "call (call4), malloc, (call0)");
    // another layout, so another function: reaching the call is a fault, as nothing defines it
    assert_eq!(lines[3], "call (), function3, (call2)");
}

#[test]
fn recursion_and_aliases_name_the_same_function() {
    let module = module(
        ".func f(.param .b32 a) { .param .b32 p; call f, (p); call h, (p); ret; }
         .func h(.param .b32 a);
         .alias h, f;",
    );
    let targets = module.functions[0].code.iter().filter_map(|inst| match &inst.op {
        Op::Call(call) => Some(&call.target),
        _ => None,
    });
    assert!(targets.clone().next().is_some());
    for target in targets {
        let CallTarget::Direct(id) = target else { panic!("{target:?}") };
        assert_eq!(module.functions[id.0 as usize].name, "f");
    }
}

#[test]
fn call_space_of_scopes_that_do_not_overlap_is_shared() {
    let module = module(".visible .entry k() { { .param .b64 a; } { .param .b32 b; } .param .b64 c; }");
    let kernel = last(&module);
    let offsets: Vec<_> = kernel.call_params.iter().map(|p| p.offset).collect();
    assert_eq!((offsets.as_slice(), kernel.call_bytes), (&[0, 0, 0][..], 8));
}
