//! Constant expressions, against the rules of the PTX manual's chapter on them (the same as C's on
//! 64-bit integers, save where a test says so).

use super::{kernel, only, parsed};
use crate::ptx::ast::{Immediate, OperandKind};
use crate::ptx::parser::parse;
use Immediate::{F32, F64, Signed, Unsigned};

fn value(text: &str) -> Immediate {
    let source = kernel(&format!("mov.b64 %rd1, {text};"));
    let module = parsed(&source);
    let operand = &only(&module).operands[1];
    assert_eq!(source.text(operand.span), text);
    match operand.kind {
        OperandKind::Immediate(value) => value,
        ref other => panic!("{text}: {other:?}"),
    }
}

fn refused(text: &str) -> String {
    parse(&kernel(&format!("mov.b64 %rd1, {text};"))).unwrap_err().message
}

#[test]
fn integers_of_every_base() {
    for (text, expected) in [
        ("0", Signed(0)),
        ("12", Signed(12)),
        ("0x1F", Signed(31)),
        ("0XfF", Signed(255)),
        ("017", Signed(15)),
        ("0b101", Signed(5)),
        ("12U", Unsigned(12)),
        ("0x1FU", Unsigned(31)),
        ("0U", Unsigned(0)),
        ("9223372036854775807", Signed(i64::MAX)),
        ("9223372036854775808", Unsigned(1 << 63)),
        ("0xFFFFFFFFFFFFFFFF", Unsigned(u64::MAX)),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_number_is_refused() {
    for text in
        ["18446744073709551616", "0b12", "08", "0x", "12q", "0f3F80", "0d3F800000", "0f3F8000000", "1.5.5"]
    {
        assert!(parse(&kernel(&format!("mov.b64 %rd1, {text};"))).is_err(), "{text}");
    }
}

#[test]
fn signs_keep_the_type_and_wrap() {
    assert_eq!(value("-8"), Signed(-8));
    assert_eq!(value("- 8"), Signed(-8));
    assert_eq!(value("-9223372036854775808"), Unsigned(1 << 63));
    assert_eq!(value("-1U"), Unsigned(u64::MAX));
    assert_eq!(value("--3"), Signed(3));
    assert_eq!(value("~0"), Unsigned(u64::MAX));
    assert_eq!(value("!5"), Signed(0));
    assert_eq!(value("!0"), Signed(1));
}

#[test]
fn floats_are_double_unless_written_in_hexadecimal() {
    assert_eq!(value("1.5"), F64(1.5_f64.to_bits()));
    assert_eq!(value(".5"), F64(0.5_f64.to_bits()));
    assert_eq!(value("1."), F64(1_f64.to_bits()));
    assert_eq!(value("1e-3"), F64(1e-3_f64.to_bits()));
    assert_eq!(value("2.5E+2"), F64(250_f64.to_bits()));
    assert_eq!(value("-1.5"), F64((-1.5_f64).to_bits()));
    assert_eq!(value("0f3fC00000"), F32(1.5_f32.to_bits()));
    assert_eq!(value("0d3FF8000000000000"), F64(1.5_f64.to_bits()));
}

#[test]
fn operators_bind_as_in_c() {
    for (text, expected) in [
        ("(1+2)*4", 12),
        ("1+2*4", 9),
        ("10-4-3", 3),
        ("7/2*2", 6),
        ("-7/2", -3),
        ("1<<4+1", 32),
        ("-16>>2", -4),
        ("1<2==1", 1),
        ("3>2>1", 0),
        ("2||0&&0", 1),
        ("1?2:3", 2),
        ("0?2:0?3:4", 4),
        ("5 % 3", 2),
        ("(.s64)(3U)", 3),
        ("WARP_SZ", 32),
        ("WARP_SZ-1", 31),
        ("2*WARP_SZ", 64),
        ("1<<64", 0),
        ("-1>>64", -1),
    ] {
        assert_eq!(value(text), Signed(expected), "{text}");
    }
    assert_eq!(value("6|1^3&2"), Unsigned(6 | 1 ^ 3 & 2));
}

#[test]
fn an_unsigned_operand_makes_the_result_unsigned() {
    assert_eq!(value("-1 + 0U"), Unsigned(u64::MAX));
    assert_eq!(value("-1 < 0U"), Signed(0));
    assert_eq!(value("-1 < 0"), Signed(1));
    assert_eq!(value("0x8000000000000000 >> 63"), Unsigned(1));
    assert_eq!(value("(.u64)-2 / 2"), Unsigned((u64::MAX - 1) / 2));
}

#[test]
fn arithmetic_wraps_and_never_overflows() {
    assert_eq!(value("9223372036854775807+1"), Signed(i64::MIN));
    assert_eq!(value("(9223372036854775807+1)/-1"), Signed(i64::MIN));
    assert_eq!(value("9223372036854775807*9223372036854775807"), Signed(1));
}

#[test]
fn floats_in_expressions() {
    assert_eq!(value("1.5*2.0+1.0"), F64(4_f64.to_bits()));
    assert_eq!(value("1.0/0.0"), F64(f64::INFINITY.to_bits()));
    assert_eq!(value("1.5>1.0"), Signed(1));
}

#[test]
fn expressions_without_a_value_are_refused_by_name() {
    assert_eq!(refused("1/0"), "division by zero in a constant expression");
    assert_eq!(refused("1 % 0"), "division by zero in a constant expression");
    assert_eq!(refused("1.5<<2.0"), "this operator takes integers, not floats");
    assert_eq!(refused("~1.5"), "expected an integer, found a float");
    assert_eq!(refused("0f3F800000+1"), "a `0f` number cannot be part of an expression");
    assert_eq!(refused("-0f3F800000"), "a `0f` number cannot be part of an expression");
    assert_eq!(refused("1.5+1"), "a constant expression mixes a float and an integer");
    assert_eq!(refused("(1"), "expected `)`, found `;`");
    assert_eq!(refused("1?2;"), "expected `:` of `? :`, found `;`");
}
