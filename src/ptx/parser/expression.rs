//! Constants: literals and the constant expressions of the manual, evaluated as they are read.
//!
//! The rules are those of the PTX manual's section on constant expression evaluation: integers are
//! `.s64` or `.u64`, floats `.f64`, arithmetic wraps, C's precedence. Where the manual is silent, what
//! is refused is what NVIDIA's assembler (13.0) refuses.

use super::super::ast::Immediate;
use super::super::lexer::TokenKind;
use super::super::source::Span;
use super::{Parse, Parser};

/// The number that `WARP_SZ` stands for.
pub(super) const WARP_SIZE: Immediate = Immediate::Signed(32);

impl Parser<'_> {
    /// Whether a constant begins here. `-` and `!` may as well stand before a register.
    pub(super) fn at_literal(&self) -> bool {
        use TokenKind::{Decimal, F32, F64, Integer};
        matches!(self.token.kind, Integer | Decimal | F32 | F64)
    }

    /// A constant expression.
    pub(super) fn constant(&mut self) -> Parse<Immediate> {
        let start = self.token.span.start;
        let value = self.unary()?;
        self.constant_after(value, start)
    }

    /// The rest of a constant expression whose first term has been read.
    pub(super) fn constant_after(&mut self, first: Immediate, start: u32) -> Parse<Immediate> {
        if !self.at(TokenKind::Question) && precedence(self.token.kind).is_none() {
            return Ok(first);
        }
        let value = self.binary_after(first, start, 0)?;
        if !self.at(TokenKind::Question) {
            return Ok(value);
        }
        let condition = self.truth(value, start)?;
        self.advance();
        let yes = self.nested(Self::constant)?;
        self.expect(TokenKind::Colon, "`:` of `? :`")?;
        let no = self.nested(Self::constant)?;
        Ok(if condition { yes } else { no })
    }

    /// A constant expression that must be an integer, as its 64 bits.
    pub(super) fn integer(&mut self, expected: &str) -> Parse<u64> {
        let start = self.token.span.start;
        if !self.begins_constant() {
            return Err(self.expected(expected));
        }
        let value = self.constant()?;
        self.integer_value(value, start)
    }

    /// An integer without operators or a sign: all that directives take.
    pub(super) fn plain_integer(&mut self, expected: &str) -> Parse<u64> {
        let start = self.token.span.start;
        if !self.at(TokenKind::Integer) {
            return Err(self.expected(expected));
        }
        let value = self.literal()?;
        self.integer_value(value, start)
    }

    /// A plain integer from 0 to 2³² − 1.
    pub(super) fn small_integer(&mut self, expected: &str) -> Parse<u32> {
        let span = self.token.span;
        let value = self.plain_integer(expected)?;
        u32::try_from(value).map_err(|_| {
            let text = self.slice(span);
            self.error(span, format!("expected {expected}, `{text}` does not fit in 32 bits"))
        })
    }

    /// `+4`, `+-8` behind a symbol or register: bytes to add. 0 where nothing follows.
    pub(super) fn offset(&mut self) -> Parse<i64> {
        if self.at(TokenKind::Minus) {
            let error = self.expected("`+`");
            return Err(Box::new(error.help("PTX writes a negative offset as `+-8`")));
        }
        if !self.eat(TokenKind::Plus) {
            return Ok(0);
        }
        Ok(self.integer("a number of bytes")? as i64)
    }

    /// Whether a constant expression may begin here.
    pub(super) fn begins_constant(&self) -> bool {
        use TokenKind::{Bang, Minus, ParenOpen, Plus, Tilde};
        self.at_literal()
            || matches!(self.token.kind, Plus | Minus | Tilde | Bang | ParenOpen)
            || self.at_warp_size()
    }

    pub(super) fn at_warp_size(&self) -> bool {
        self.at(TokenKind::Word) && self.slice(self.token.span) == "WARP_SZ"
    }

    fn integer_value(&self, value: Immediate, start: u32) -> Parse<u64> {
        value
            .integer_bits()
            .ok_or_else(|| self.error(self.since(start), "expected an integer, found a float"))
    }

    fn truth(&self, value: Immediate, start: u32) -> Parse<bool> {
        Ok(self.integer_value(value, start)? != 0)
    }

    /// Operators that bind at least as tightly as `least`, behind their first operand.
    fn binary_after(&mut self, first: Immediate, start: u32, least: u8) -> Parse<Immediate> {
        let mut left = first;
        while let Some(level) = precedence(self.token.kind).filter(|&level| level >= least) {
            let operator = self.advance();
            let right_start = self.token.span.start;
            let right = self.unary()?;
            let right = self.binary_after(right, right_start, level + 1)?;
            left = self.apply(operator.kind, left, right, self.since(start))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parse<Immediate> {
        use TokenKind::{Bang, Minus, ParenOpen, Plus, Tilde};
        let start = self.token.span.start;
        match self.token.kind {
            Plus | Minus | Tilde | Bang => {
                let operator = self.advance().kind;
                let value = self.nested(Self::unary)?;
                Ok(match (operator, value) {
                    (Plus, value) => value,
                    (Minus, Immediate::Signed(value)) => Immediate::Signed(value.wrapping_neg()),
                    (Minus, Immediate::Unsigned(value)) => Immediate::Unsigned(value.wrapping_neg()),
                    (Minus, Immediate::F32(_)) => {
                        return Err(self.error(self.since(start), HEX_FLOAT));
                    }
                    (Minus, Immediate::F64(bits)) => Immediate::F64(bits ^ 1 << 63),
                    (Tilde, value) => Immediate::Unsigned(!self.integer_value(value, start)?),
                    (_, value) => Immediate::Signed(i64::from(!self.truth(value, start)?)),
                })
            }
            ParenOpen => {
                self.advance();
                if let Some(signed) = self.cast() {
                    let value = self.nested(Self::unary)?;
                    let bits = self.integer_value(value, start)?;
                    return Ok(if signed {
                        Immediate::Signed(bits as i64)
                    } else {
                        Immediate::Unsigned(bits)
                    });
                }
                let value = self.nested(Self::constant)?;
                self.expect(TokenKind::ParenClose, "`)`")?;
                Ok(value)
            }
            TokenKind::Word if self.at_warp_size() => {
                self.advance();
                Ok(WARP_SIZE)
            }
            _ => self.literal(),
        }
    }

    /// `.s64)` or `.u64)` behind the `(` of a cast; whether it is signed.
    fn cast(&mut self) -> Option<bool> {
        let signed = match self.peek_dotted()?.text {
            "s64" => true,
            "u64" => false,
            _ => return None,
        };
        self.advance();
        self.eat(TokenKind::ParenClose);
        Some(signed)
    }

    fn literal(&mut self) -> Parse<Immediate> {
        let (kind, span) = (self.token.kind, self.token.span);
        let text = self.slice(span);
        let value = match kind {
            TokenKind::Integer => integer_literal(text),
            TokenKind::Decimal => text.parse().ok().map(|value: f64| Immediate::F64(value.to_bits())),
            TokenKind::F32 => u32::from_str_radix(&text[2..], 16).ok().map(Immediate::F32),
            TokenKind::F64 => u64::from_str_radix(&text[2..], 16).ok().map(Immediate::F64),
            _ => return Err(self.expected("a number")),
        };
        let Some(value) = value else {
            let message = format!("{} is not a number of at most 64 bits", self.found());
            return Err(self.error(span, message));
        };
        self.advance();
        Ok(value)
    }

    fn apply(&self, operator: TokenKind, left: Immediate, right: Immediate, span: Span) -> Parse<Immediate> {
        let value = match (left, right) {
            (Immediate::F32(_), _) | (_, Immediate::F32(_)) => {
                return Err(self.error(span, HEX_FLOAT));
            }
            (Immediate::F64(a), Immediate::F64(b)) => {
                let (a, b) = (f64::from_bits(a), f64::from_bits(b));
                let Some(value) = float_operation(operator, a, b) else {
                    return Err(self.error(span, "this operator takes integers, not floats"));
                };
                value
            }
            (Immediate::F64(_), _) | (_, Immediate::F64(_)) => {
                return Err(self.error(span, "a constant expression mixes a float and an integer"));
            }
            _ => {
                let Some(value) = integer_operation(operator, left, right) else {
                    return Err(self.error(span, "division by zero in a constant expression"));
                };
                value
            }
        };
        Ok(value)
    }
}

/// The manual keeps `0f` numbers out of constant expressions, signs included.
const HEX_FLOAT: &str = "a `0f` number cannot be part of an expression";

/// How tightly a binary operator binds, as in C.
fn precedence(operator: TokenKind) -> Option<u8> {
    use TokenKind::{
        Ampersand, AndAnd, BangEqual, Caret, EqualEqual, Greater, GreaterEqual, GreaterGreater, Less,
        LessEqual, LessLess, Minus, OrOr, Percent, Pipe, Plus, Slash, Star,
    };
    Some(match operator {
        OrOr => 0,
        AndAnd => 1,
        Pipe => 2,
        Caret => 3,
        Ampersand => 4,
        EqualEqual | BangEqual => 5,
        Less | Greater | LessEqual | GreaterEqual => 6,
        LessLess | GreaterGreater => 7,
        Plus | Minus => 8,
        Star | Slash | Percent => 9,
        _ => return None,
    })
}

/// `12`, `0x1F`, `017`, `0b101`, with or without `U`. Signed unless it does not fit.
fn integer_literal(text: &str) -> Option<Immediate> {
    let (digits, unsigned) = match text.strip_suffix('U') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let value = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&digits[2..], 16).ok()?,
        [b'0', b'b' | b'B', ..] => u64::from_str_radix(&digits[2..], 2).ok()?,
        [b'0', _, ..] => u64::from_str_radix(&digits[1..], 8).ok()?,
        _ => digits.parse().ok()?,
    };
    Some(match i64::try_from(value) {
        Ok(value) if !unsigned => Immediate::Signed(value),
        _ => Immediate::Unsigned(value),
    })
}

fn float_operation(operator: TokenKind, a: f64, b: f64) -> Option<Immediate> {
    let float = |value: f64| Some(Immediate::F64(value.to_bits()));
    let truth = |value: bool| Some(Immediate::Signed(i64::from(value)));
    match operator {
        TokenKind::Plus => float(a + b),
        TokenKind::Minus => float(a - b),
        TokenKind::Star => float(a * b),
        TokenKind::Slash => float(a / b),
        TokenKind::Less => truth(a < b),
        TokenKind::Greater => truth(a > b),
        TokenKind::LessEqual => truth(a <= b),
        TokenKind::GreaterEqual => truth(a >= b),
        TokenKind::EqualEqual => truth(a == b),
        TokenKind::BangEqual => truth(a != b),
        _ => None,
    }
}

/// `None` is a division by zero. A pair with an unsigned number is unsigned, as in C; a shift has
/// the type of its first operand.
fn integer_operation(operator: TokenKind, left: Immediate, right: Immediate) -> Option<Immediate> {
    use Immediate::{Signed, Unsigned};
    let (a, b) = (left.integer_bits()?, right.integer_bits()?);
    let (sa, sb) = (a as i64, b as i64);
    let left_signed = matches!(left, Signed(_));
    let signed = left_signed && matches!(right, Signed(_));
    let truth = |value: bool| Signed(i64::from(value));
    let typed = |value: u64| {
        if signed { Signed(value as i64) } else { Unsigned(value) }
    };
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    Some(match operator {
        TokenKind::Plus => typed(a.wrapping_add(b)),
        TokenKind::Minus => typed(a.wrapping_sub(b)),
        TokenKind::Star => typed(a.wrapping_mul(b)),
        TokenKind::Slash if b == 0 => return None,
        TokenKind::Slash if signed => Signed(sa.wrapping_div(sb)),
        TokenKind::Slash => Unsigned(a / b),
        TokenKind::Percent => Signed(a.checked_rem(b)? as i64),
        TokenKind::LessLess => {
            let value = a.checked_shl(shift).unwrap_or(0);
            if left_signed { Signed(value as i64) } else { Unsigned(value) }
        }
        TokenKind::GreaterGreater if left_signed => Signed(sa >> shift.min(63)),
        TokenKind::GreaterGreater => Unsigned(a.checked_shr(shift).unwrap_or(0)),
        TokenKind::Less => truth(if signed { sa < sb } else { a < b }),
        TokenKind::Greater => truth(if signed { sa > sb } else { a > b }),
        TokenKind::LessEqual => truth(if signed { sa <= sb } else { a <= b }),
        TokenKind::GreaterEqual => truth(if signed { sa >= sb } else { a >= b }),
        TokenKind::EqualEqual => truth(a == b),
        TokenKind::BangEqual => truth(a != b),
        TokenKind::Ampersand => Unsigned(a & b),
        TokenKind::Pipe => Unsigned(a | b),
        TokenKind::Caret => Unsigned(a ^ b),
        TokenKind::AndAnd => truth(a != 0 && b != 0),
        TokenKind::OrOr => truth(a != 0 || b != 0),
        _ => return None,
    })
}
