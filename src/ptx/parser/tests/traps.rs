//! What real PTX contains that a parser written from its examples trips over, one test each.

use super::{body, function, kernel, module, only, parsed};
use crate::ptx::ast::{
    AddressInitializer, FunctionKind, Immediate, Initializer, Item, Linkage, OperandKind, SourcePlace, Space,
    Statement, TargetKind, Type,
};

#[test]
fn modifiers_stand_in_any_order() {
    for order in ["atom.global.cta.add.u32", "atom.add.u32.cta.global", "atom.global.gpu.acq_rel.add.u32"] {
        let source = kernel(&format!("{order} %r1, [%rd1], 1;"));
        let module = parsed(&source);
        let atom = only(&module);
        assert_eq!(atom.opcode.text, "atom");
        assert!(atom.modifiers.has("global") && atom.modifiers.has("add"), "{order}");
        assert!(!atom.modifiers.has("shared"), "{order}");
        assert_eq!(atom.modifiers.types().collect::<Vec<_>>(), [Type::U32], "{order}");
    }
    let source = kernel("atom.global.gpu.acq_rel.add.u32 %r1, [%rd1], 1;");
    let module = parsed(&source);
    let scope = only(&module).modifiers.first_of(&["cta", "cluster", "gpu", "sys"]).unwrap();
    assert_eq!((scope.text, source.text(scope.span)), ("gpu", ".gpu"));
}

#[test]
fn types_of_a_conversion_keep_their_order() {
    let source = kernel("cvt.rn.f32.s64 %f1, %rd1;");
    let module = parsed(&source);
    assert_eq!(only(&module).modifiers.types().collect::<Vec<_>>(), [Type::F32, Type::S64]);
}

#[test]
fn qualifiers_with_double_colons_are_one_word() {
    let source =
        kernel("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];");
    let module = parsed(&source);
    let words: Vec<_> = only(&module).modifiers.iter().map(|modifier| modifier.text).collect();
    assert_eq!(words, ["async", "bulk", "shared::cluster", "global", "mbarrier::complete_tx::bytes"]);
    assert_eq!(Space::from_name("shared::cta"), Some(Space::Shared));
}

#[test]
fn modifiers_that_begin_with_a_digit_are_words() {
    let source = kernel("tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, s, {%r1, %r2}];");
    let module = parsed(&source);
    assert!(only(&module).modifiers.has("2d"));
    let OperandKind::Address(address) = &only(&module).operands[1].kind else { panic!() };
    assert_eq!(address.base.unwrap().text, "t");
    assert_eq!(address.rest[0].kind, OperandKind::Symbol("s"));
    assert!(matches!(&address.rest[1].kind, OperandKind::Vector(v) if v.len() == 2));
}

#[test]
fn a_label_stands_on_the_line_of_its_instruction() {
    let source = kernel("$L__BB0_2: ret; a : b: exit;");
    let module = parsed(&source);
    let shape: Vec<_> = body(&module)
        .iter()
        .map(|statement| match statement {
            Statement::Label(name) => name.text,
            Statement::Instruction(instruction) => instruction.opcode.text,
            _ => "other",
        })
        .collect();
    assert_eq!(shape, ["$L__BB0_2", "ret", "a", "b", "exit"]);
}

#[test]
fn inner_blocks_declare_the_same_names_again() {
    let source = kernel("{ .reg .b32 t; mov.b32 t, 1; } { .reg .f64 t; { .reg .pred t; } }");
    let module = parsed(&source);
    let [Statement::Block(first), Statement::Block(second)] = body(&module) else { panic!() };
    assert!(matches!(&first.statements[0], Statement::Registers(r) if r.ty == Type::B32));
    assert!(matches!(&second.statements[1], Statement::Block(b) if b.statements.len() == 1));
}

#[test]
fn registers_are_declared_by_range_list_and_vector_and_in_mid_body() {
    let source =
        kernel(".reg .b32 %r<10>;\n.reg.b16 x, %h<3>, y;\nmov.b32 %r1, 0;\n.reg .v4 .f32 %v;\n.reg .pred p;");
    let module = parsed(&source);
    let declared: Vec<_> = body(&module)
        .iter()
        .filter_map(|statement| match statement {
            Statement::Registers(registers) => Some(registers),
            _ => None,
        })
        .flat_map(|r| r.names.iter().map(move |n| (r.ty, r.vector, n.name.text, n.count)))
        .collect();
    assert_eq!(
        declared,
        [
            (Type::B32, 1, "%r", Some(10)),
            (Type::B16, 1, "x", None),
            (Type::B16, 1, "%h", Some(3)),
            (Type::B16, 1, "y", None),
            (Type::F32, 4, "%v", None),
            (Type::Pred, 1, "p", None),
        ]
    );
}

#[test]
fn pairs_negations_and_sinks_are_operands() {
    let source = kernel("setp.lt.and.s32 %p|%q, %r1, -%r2, !%s;");
    let module = parsed(&source);
    let operands = &only(&module).operands;
    let OperandKind::Pair(pair) = &operands[0].kind else { panic!() };
    assert_eq!((&pair[0].kind, &pair[1].kind), (&OperandKind::Symbol("%p"), &OperandKind::Symbol("%q")));
    assert!(matches!(&operands[2].kind, OperandKind::Negate(r) if r.kind == OperandKind::Symbol("%r2")));
    assert!(matches!(operands[3].kind, OperandKind::Not(name) if name.text == "%s"));

    let source = kernel("elect.sync _|%p, 0xffffffff;");
    let module = parsed(&source);
    let OperandKind::Pair(pair) = &only(&module).operands[0].kind else { panic!() };
    assert_eq!((&pair[0].kind, &pair[1].kind), (&OperandKind::Sink, &OperandKind::Symbol("%p")));
}

#[test]
fn guards_may_be_negated() {
    let source = kernel("@!%p1 bra.uni L;");
    let module = parsed(&source);
    let guard = only(&module).guard.unwrap();
    assert!(guard.negated);
    assert_eq!((guard.register.text, source.text(guard.span)), ("%p1", "@!%p1"));

    let source = kernel("@ ! p ret;");
    assert!(only(&parsed(&source)).guard.unwrap().negated);
}

#[test]
fn hexadecimal_floats_keep_their_bits() {
    let source = kernel("fma.rn.f32 %f1, 0f7FC00001, 0F80000000, 0d7FF8000000000001;");
    let module = parsed(&source);
    let kinds: Vec<_> = only(&module).operands[1..].iter().map(|operand| operand.kind.clone()).collect();
    assert_eq!(
        kinds,
        [
            OperandKind::Immediate(Immediate::F32(0x7FC0_0001)),
            OperandKind::Immediate(Immediate::F32(0x8000_0000)),
            OperandKind::Immediate(Immediate::F64(0x7FF8_0000_0000_0001)),
        ]
    );
}

#[test]
fn addresses_have_signed_offsets() {
    for (text, base, offset) in [
        ("[%rd1]", Some("%rd1"), 0),
        ("[%rd1+8]", Some("%rd1"), 8),
        ("[%rd1+-8]", Some("%rd1"), -8),
        ("[ %rd17 + 0 ]", Some("%rd17"), 0),
        ("[%rd1+-4+8]", Some("%rd1"), 4),
        ("[%rd1+4-8]", Some("%rd1"), -4),
        ("[%rd1+2*(3+1)]", Some("%rd1"), 8),
        ("[sh+0x10]", Some("sh"), 16),
        ("[64]", None, 64),
        ("[0xFFFFFFFFFFFFFFFF]", None, -1),
    ] {
        let source = kernel(&format!("ld.u32 %r1, {text};"));
        let module = parsed(&source);
        let operand = &only(&module).operands[1];
        let OperandKind::Address(address) = &operand.kind else { panic!("{text}") };
        assert_eq!((address.base.map(|name| name.text), address.offset), (base, offset), "{text}");
        assert_eq!(source.text(operand.span), text);
    }
}

#[test]
fn symbols_have_offsets_and_elements() {
    let source = kernel("mov.u64 %rd1, table+16; mov.u64 %rd2, table[3]; mov.u64 %rd3, table[%r1+-1];");
    let module = parsed(&source);
    let second = |index: usize| match &body(&module)[index] {
        Statement::Instruction(instruction) => instruction.operands[1].kind.clone(),
        other => panic!("{other:?}"),
    };
    assert!(matches!(second(0), OperandKind::Offset { symbol, offset: 16 } if symbol.text == "table"));
    assert!(matches!(second(1), OperandKind::Element { index: None, offset: 3, .. }));
    assert!(matches!(second(2), OperandKind::Element { index: Some(i), offset: -1, .. } if i.text == "%r1"));
}

#[test]
fn special_registers_have_members() {
    let source = kernel("mov.u32 %r1, %ctaid.y;");
    let module = parsed(&source);
    let operand = &only(&module).operands[1];
    let OperandKind::Member { register, member } = operand.kind else { panic!() };
    assert_eq!((register.text, member.text, source.text(operand.span)), ("%ctaid", "y", "%ctaid.y"));
}

#[test]
fn pragmas_stand_everywhere() {
    let source =
        module(".pragma \"a\";\n.entry k() .pragma \"b\"; .maxntid 64 { .pragma \"nounroll\", \"c\"; ret; }");
    let module = parsed(&source);
    assert!(matches!(&module.items[0], Item::Pragma(pragma) if pragma.strings.as_slice() == ["a"]));
    let kernel = function(&module);
    assert_eq!(kernel.directives[0].strings.as_slice(), ["b"]);
    assert_eq!(kernel.directive("maxntid"), Some([64].as_slice()));
    assert_eq!(kernel.directive("reqntid"), None);
    assert!(matches!(&body(&module)[0], Statement::Pragma(p) if p.strings.as_slice() == ["nounroll", "c"]));
}

#[test]
fn source_lines_name_what_was_inlined() {
    let source =
        kernel(".loc\t1 7 3\n.loc 2 40 0, function_name $L__info_string0+4, inlined_at 1 9 11\nret;");
    let module = parsed(&source);
    let [Statement::Location(plain), Statement::Location(inlined), _] = body(&module) else { panic!() };
    let place = |file, line, column| SourcePlace { file, line, column };
    assert_eq!((plain.place, plain.inlined_at), (place(1, 7, 3), None));
    let at = inlined.inlined_at.unwrap();
    assert_eq!((inlined.place, at.place), (place(2, 40, 0), place(1, 9, 11)));
    assert_eq!((at.function_name.text, at.offset), ("$L__info_string0", 4));
    assert_eq!(source.text(plain.span), ".loc\t1 7 3");
}

#[test]
fn sections_are_skipped_whatever_is_in_them() {
    let data = ".b8 1 // not the end: }\n.b32 .debug_abbrev /* nor } here */ \"nor } here\" { .b8 08 } é #\n";
    let items = format!(
        ".file 1 \"a \\\"b\\\".cu\", 1700000000, 12\n.section .debug_info\n{{\n{}}}\n.section .debug_loc {{ }}\n.entry k() {{ ret; }}",
        data.repeat(1000)
    );
    let source = module(&items);
    let module = parsed(&source);
    assert_eq!(module.file(1), Some("a \\\"b\\\".cu"));
    let [Item::File(_), Item::Section(info), Item::Section(loc), Item::Function(_)] = &module.items[..]
    else {
        panic!()
    };
    assert_eq!((info.name.text, loc.name.text), ("debug_info", "debug_loc"));
    assert_eq!(source.text(loc.body), "{ }");
    assert_eq!(source.text(info.body).len(), 1000 * data.len() + "{\n}".len());
}

#[test]
fn dynamic_shared_memory_has_no_size() {
    let source = module(".extern .shared .align 16 .b8 x[];");
    let module = parsed(&source);
    let x = module.variables().next().unwrap();
    assert_eq!(
        (x.linkage, x.space, x.align, x.ty),
        (Some(Linkage::Extern), Space::Shared, Some(16), Type::B8)
    );
    assert_eq!(x.dimensions.as_slice(), [None]);
}

#[test]
fn weak_functions_and_declarations_are_functions() {
    let source = module(
        ".weak .func (.param .b32 r) f(.param .b64 a, .reg .f32 b)\n;\n\
         .extern .func vprintf;\n.visible .func g() .noreturn { trap; }",
    );
    let module = parsed(&source);
    let functions: Vec<_> = module.functions().collect();
    assert!(functions.iter().all(|function| function.kind == FunctionKind::Func));
    assert_eq!((functions[0].linkage, functions[0].body.is_none()), (Some(Linkage::Weak), true));
    assert_eq!(functions[0].returns[0].name.text, "r");
    assert_eq!(functions[0].parameters[1].space, Space::Reg);
    assert_eq!((functions[1].name.text, functions[1].parameter_list), ("vprintf", None));
    assert_eq!(functions[2].directive("noreturn"), Some([].as_slice()));
}

#[test]
fn common_and_managed_variables_keep_their_words() {
    let source =
        module(".common .global .align 8 .u64 env;\n.visible .global .attribute(.managed) .v4 .f32 m[2][3];");
    let module = parsed(&source);
    let [env, m] = module.variables().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!((env.linkage, env.align), (Some(Linkage::Common), Some(8)));
    assert_eq!((m.vector, m.dimensions.as_slice()), (4, [Some(2), Some(3)].as_slice()));
    assert_eq!(m.attributes[0].text, "managed");
}

#[test]
fn initializers_may_be_addresses() {
    let source = module(
        ".global .u64 a[5] = {f, x+4, generic(x)+8, 0, generic(x)};\n\
         .global .u8 b[] = {0xff00(x), 0xFF(generic(x)+4), -1};\n\
         .const .f32 c[2][1] = {{1.5}, {0f3F800000}}; .global .u32 d = 1, e;",
    );
    let module = parsed(&source);
    let variables: Vec<_> = module.variables().collect();
    let list = |index: usize| match variables[index].initializer.clone() {
        Some(Initializer::List(values)) => values,
        other => panic!("{other:?}"),
    };
    let address = |value: &Initializer<'_>| match *value {
        Initializer::Address(AddressInitializer { symbol, offset, generic, mask }) => {
            Some((symbol.text.to_owned(), offset, generic, mask))
        }
        _ => None,
    };
    let expected = |symbol: &str, offset, generic, mask| Some((symbol.to_owned(), offset, generic, mask));
    let a = list(0);
    assert_eq!(address(&a[0]), expected("f", 0, false, None));
    assert_eq!(address(&a[1]), expected("x", 4, false, None));
    assert_eq!(address(&a[2]), expected("x", 8, true, None));
    assert_eq!(a[3], Initializer::Number(Immediate::Signed(0)));
    assert_eq!(address(&a[4]), expected("x", 0, true, None));
    let b = list(1);
    assert_eq!(address(&b[0]), expected("x", 0, false, Some(0xFF00)));
    assert_eq!(address(&b[1]), expected("x", 4, true, Some(0xFF)));
    assert_eq!(b[2], Initializer::Number(Immediate::Signed(-1)));
    assert_eq!(list(2)[1], Initializer::List(vec![Initializer::Number(Immediate::F32(0x3F80_0000))]));
    assert_eq!(variables[3].initializer, Some(Initializer::Number(Immediate::Signed(1))));
    assert_eq!((variables[4].name.text, &variables[4].initializer), ("e", &None));
}

#[test]
fn sampler_initializers_have_properties() {
    let source =
        module(".global .samplerref s = { addr_mode_0 = clamp_to_border, force_unnormalized_coords = 1 };");
    let module = parsed(&source);
    let Some(Initializer::List(values)) = &module.variables().next().unwrap().initializer else { panic!() };
    let [Initializer::Property(mode, _), Initializer::Property(force, one)] = &values[..] else { panic!() };
    assert_eq!((mode.text, force.text), ("addr_mode_0", "force_unnormalized_coords"));
    assert_eq!(**one, Initializer::Number(Immediate::Signed(1)));
}

#[test]
fn indirect_calls_have_prototypes() {
    let source = kernel(
        "p0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;\n\
         p1: .callprototype ()_ ();\ncall (r), %rd1, (a, b), p0;",
    );
    let module = parsed(&source);
    let [Statement::Prototype(p0), Statement::Prototype(p1), Statement::Instruction(call)] = body(&module)
    else {
        panic!()
    };
    assert_eq!((p0.label.text, p0.returns.len(), p0.parameters.len(), p0.noreturn), ("p0", 1, 2, true));
    assert_eq!((p0.parameters[1].name.text, p0.parameters[1].dimensions[0]), ("_", Some(16)));
    assert_eq!((p1.returns.len(), p1.parameters.len(), p1.noreturn), (0, 0, false));
    assert!(matches!(&call.operands[0].kind, OperandKind::List(list) if list.len() == 1));
    assert_eq!(call.operands[1].kind, OperandKind::Symbol("%rd1"));
    assert!(matches!(&call.operands[2].kind, OperandKind::List(list) if list.len() == 2));
    assert_eq!(call.operands[3].kind, OperandKind::Symbol("p0"));
}

#[test]
fn branch_tables_are_lists_of_labels() {
    let source = kernel("$L_brx_0: .branchtargets $A,\n $B,\n $A;\nf: .calltargets g, h;");
    let module = parsed(&source);
    let [Statement::Targets(branches), Statement::Targets(calls)] = body(&module) else { panic!() };
    let names: Vec<_> = branches.targets.iter().map(|name| name.text).collect();
    assert_eq!((branches.kind, branches.label.text), (TargetKind::Branch, "$L_brx_0"));
    assert_eq!(names, ["$A", "$B", "$A"]);
    assert_eq!((calls.kind, calls.targets.len()), (TargetKind::Call, 2));
}

#[test]
fn parameters_may_be_marked_pointers() {
    let source = module(
        ".entry k(.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q, .param .align 8 .b8 s[24])\n.reqntid 128, 1, 1\n.minnctapersm 2 { }",
    );
    let module = parsed(&source);
    let kernel = function(&module);
    let p = kernel.parameters[0].pointer.unwrap();
    assert_eq!((p.space, p.align, kernel.parameters[0].align), (Some(Space::Global), Some(16), None));
    let q = kernel.parameters[1].pointer.unwrap();
    assert_eq!((q.space, q.align), (None, None));
    assert_eq!((kernel.parameters[2].align, kernel.parameters[2].pointer), (Some(8), None));
    assert_eq!(kernel.directive("reqntid"), Some([128, 1, 1].as_slice()));
    assert_eq!(source.text(kernel.parameters[0].span), ".param .u64 .ptr .global .align 16 p");
}

#[test]
fn unknown_opcodes_and_modifiers_are_no_errors() {
    let source = kernel("frobnicate.twice.u7 %r1, {%r2, _}, [%rd1, 4], 1.5;");
    let module = parsed(&source);
    assert_eq!((only(&module).opcode.text, only(&module).operands.len()), ("frobnicate", 4));
}

#[test]
fn an_unknown_directive_does_not_swallow_the_kernel_behind_it() {
    let source =
        module(".novel 1, 2\n.strange { } .other x;\n.visible .entry k() { .what %r { ; } 1; ret; }");
    let module = parsed(&source);
    let unknown: Vec<_> = module
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Unknown(word) => Some(word.text),
            _ => None,
        })
        .collect();
    assert_eq!(unknown, ["novel", "other"]);
    assert!(matches!(body(&module), [Statement::Unknown(_), Statement::Instruction(_)]));
}

#[test]
fn space_between_tokens_is_free() {
    let source = kernel("ld . global.u32 %r1,[%rd1];");
    assert!(super::parse(&source).is_err(), "a dot belongs to its word");
    let source = kernel("@%p1\nld/**/.global// comment\n  .u32 %r1,[%rd1+\n4];");
    let module = parsed(&source);
    assert!(only(&module).modifiers.has("global"));
}

#[test]
fn aliases_are_read() {
    let source = module(".alias f, g;");
    let module = parsed(&source);
    let [Item::Alias(alias)] = &module.items[..] else { panic!() };
    assert_eq!((alias.alias.text, alias.aliasee.text), ("f", "g"));
}

#[test]
fn line_markers_of_a_preprocessor_are_skipped() {
    let source = kernel("# 12 \"a.h\"\n#line 7\nret;");
    assert_eq!(only(&parsed(&source)).opcode.text, "ret");
}

/// Each is refused by NVIDIA's assembler (13.0) too: what runs on the host device must also load on
/// a GPU.
#[test]
fn what_the_assembler_refuses_is_refused() {
    for items in [
        ".entry k() { ret;; }",
        ".entry k() { { ret; }; }",
        ".entry k() { ret; };",
        ".entry k() { ld.global.u32 %r1, [%rd1-8]; }",
        ".entry k() { ld.global.u32 %r1, [%rd1+%rd2]; }",
        ".entry k() { mov.u64 %rd1, tab-4; }",
        ".entry k() { mov.u32 %r1, 5u; }",
        ".entry k() { .reg .b32 q<2+2>; }",
        ".entry k() .maxntid 8*8 { ret; }",
        ".global .b32 x[2*4];",
        ".global .b32 .align 8 x;",
        ".global .u64 p = generic(x+4);",
        ".global .u8 p[] = {0xff(x)+1};",
        ".global .b32 x[2] = {1, 2,};",
        ".visible .weak .global .u32 a;",
        ".target sm_90",
        ".entry k() { .reg .b32 $; }",
        ".entry k() { p: .callprototype (.param .b32 x) foo (.param .b64 y); }",
        ".entry k(.param .u32 a,) { ret; }",
        "\u{b}.entry k() { ret; }",
    ] {
        let source = module(items);
        assert!(super::parse(&source).is_err(), "{items}");
    }
}
