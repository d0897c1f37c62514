//! Spans are exact: text is inserted at them, so that each must be the thing itself.

use super::{corpus, instructions, kernel, parsed, source};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::ptx::source::{Position, Source, Span};

fn check_operand(source: &Source, operand: &Operand<'_>) {
    let text = source.text(operand.span);
    let delimited = |open, close| assert!(text.starts_with(open) && text.ends_with(close), "{text}");
    match &operand.kind {
        OperandKind::Symbol(name) => assert_eq!(text, *name),
        OperandKind::Sink => assert_eq!(text, "_"),
        OperandKind::Member { register, member } => {
            assert_eq!(text, format!("{}.{}", register.text, member.text))
        }
        OperandKind::Vector(operands) => {
            delimited('{', '}');
            operands.iter().for_each(|operand| check_operand(source, operand));
        }
        OperandKind::List(operands) => {
            delimited('(', ')');
            operands.iter().for_each(|operand| check_operand(source, operand));
        }
        OperandKind::Pair(pair) => {
            assert_eq!(
                text.split('|').map(str::trim).collect::<Vec<_>>(),
                [source.text(pair[0].span), source.text(pair[1].span)]
            );
        }
        OperandKind::Address(address) => {
            delimited('[', ']');
            let base = address.base.map_or("", |name| source.text(name.span));
            assert_eq!(base, address.base.map_or("", |name| name.text));
            assert!(text[1..].trim_start().starts_with(base), "{text}");
        }
        _ => assert_eq!(text, text.trim()),
    }
}

fn check_instruction(source: &Source, instruction: &Instruction<'_>) {
    let text = source.text(instruction.span);
    assert!(text.ends_with(';') && text.matches(';').count() == 1, "{text}");
    let start = instruction.guard.map_or(instruction.opcode.text, |guard| source.text(guard.span));
    assert!(text.starts_with(start), "{text}");
    assert_eq!(source.text(instruction.opcode.span), instruction.opcode.text);
    for modifier in instruction.modifiers.iter() {
        assert_eq!(source.text(modifier.span), format!(".{}", modifier.text));
    }
    let mut end = instruction.opcode.span.end;
    for operand in &instruction.operands {
        assert!(end <= operand.span.start && operand.span.end < instruction.span.end, "{text}");
        end = operand.span.end;
        check_operand(source, operand);
    }
}

#[test]
fn spans_of_the_corpus_are_the_text_they_name() {
    for (_, text) in corpus() {
        let source = source(text);
        let module = parsed(&source);
        for function in module.functions() {
            let text = source.text(function.span);
            assert!(text.starts_with('.') && text.ends_with(['}', ';']), "{text}");
            assert_eq!(source.text(function.name.span), function.name.text);
            let list = source.text(function.parameter_list.unwrap_or_default());
            assert!(list.is_empty() || list.starts_with('(') && list.ends_with(')'), "{list}");
            for parameter in &function.parameters {
                let text = source.text(parameter.span);
                assert!(text.starts_with(".param") && text.contains(parameter.name.text), "{text}");
            }
            let Some(body) = &function.body else { continue };
            assert_eq!(body.span.end, function.span.end);
            let mut all = Vec::new();
            instructions(body, &mut all);
            all.iter().for_each(|instruction| check_instruction(&source, instruction));
        }
    }
}

#[test]
fn an_insertion_before_each_instruction_leaves_a_module_with_as_many_more() {
    for (name, text) in corpus() {
        let source = source(text);
        let module = parsed(&source);
        let mut all = Vec::new();
        module.functions().filter_map(|f| f.body.as_ref()).for_each(|body| instructions(body, &mut all));
        let mut rewritten = source.as_str().to_owned();
        for instruction in all.iter().rev() {
            rewritten.insert_str(instruction.span.start as usize, "nop; ");
        }
        let expected = 2 * all.len();
        let rewritten = super::source(rewritten);
        let module = parsed(&rewritten);
        let mut all = Vec::new();
        module.functions().filter_map(|f| f.body.as_ref()).for_each(|body| instructions(body, &mut all));
        assert_eq!(all.len(), expected, "{name}");
    }
}

#[test]
fn constants_and_signs_are_within_their_spans() {
    let source = kernel("  add.s32  %r1 , - 4 * ( 2 ) ,  ! %p1 ;");
    let module = parsed(&source);
    let texts: Vec<_> =
        super::only(&module).operands.iter().map(|operand| source.text(operand.span)).collect();
    assert_eq!(texts, ["%r1", "- 4 * ( 2 )", "! %p1"]);
}

#[test]
fn lines_and_columns_count_from_one_in_characters() {
    let source = source("ab\r\nçd\n\nx");
    assert_eq!(source.line_count(), 4);
    assert_eq!([1, 2, 3, 4].map(|line| source.line_text(line)), ["ab", "çd", "", "x"]);
    assert_eq!((source.line_text(0), source.line_text(5)), ("", ""));
    let at = |needle: &str| source.position(source.as_str().find(needle).unwrap() as u32);
    assert_eq!(at("ab"), Position { line: 1, column: 1 });
    assert_eq!(at("d"), Position { line: 2, column: 2 });
    assert_eq!(at("x"), Position { line: 4, column: 1 });
    assert_eq!(source.position(1000), Position { line: 4, column: 2 });
    assert_eq!(source.text(Span::new(4, 1000)), "");
}
