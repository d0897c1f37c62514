//! Integer instructions on the bits of one lane: arithmetic, multiplication in all its parts, carries, dot
//! products, comparisons. Bit-field work is in `bits`.

use crate::ptx::ir::{CarryOp, Comparison, DotForm, IntegerOp, IntegerUnaryOp, MulPart, Type};

/// All ones in the low `bits`.
pub(super) const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The value of the low `bits` as a signed number.
pub(super) const fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    ((value << shift) as i64) >> shift
}

/// The value as `ty` reads it.
pub(super) fn value(bits: u64, ty: Type) -> i128 {
    if ty.is_signed() { i128::from(signed(bits, ty.bits())) } else { i128::from(bits & mask(ty.bits())) }
}

/// Smallest and largest value of `ty`.
pub(super) fn limits(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    match ty.is_signed() {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// `value` in the low bits of `ty`, clamped to its range first if `saturate`.
fn fit(value: i128, ty: Type, saturate: bool) -> u64 {
    let (low, high) = limits(ty);
    let value = if saturate { value.clamp(low, high) } else { value };
    value as u64 & mask(ty.bits())
}

/// The type of each part of a packed integer, or the type itself.
pub(super) fn part_type(ty: Type) -> Type {
    match ty {
        Type::U16x2 => Type::U16,
        Type::S16x2 => Type::S16,
        other => other,
    }
}

/// `a op b` of one part. Division by zero gives all ones, quotient and remainder: PTX leaves it open, GPUs do so.
pub(super) fn binary(op: IntegerOp, ty: Type, saturate: bool, a: u64, b: u64) -> u64 {
    let ty = part_type(ty);
    let (x, y) = (value(a, ty), value(b, ty));
    match op {
        IntegerOp::Add => fit(x + y, ty, saturate),
        IntegerOp::Sub => fit(x - y, ty, saturate),
        IntegerOp::MulLo => multiply(MulPart::Lo, ty, a, b),
        IntegerOp::MulHi => multiply(MulPart::Hi, ty, a, b),
        IntegerOp::MulWide => multiply(MulPart::Wide, ty, a, b),
        IntegerOp::Mul24Lo => multiply(MulPart::Lo24, ty, a, b),
        IntegerOp::Mul24Hi => multiply(MulPart::Hi24, ty, a, b),
        IntegerOp::Div | IntegerOp::Rem if y == 0 => mask(ty.bits()),
        IntegerOp::Div => fit(x / y, ty, false),
        IntegerOp::Rem => fit(x % y, ty, false),
        IntegerOp::Min => fit(x.min(y), ty, false),
        IntegerOp::Max => fit(x.max(y), ty, false),
        IntegerOp::MinRelu => fit(x.min(y).max(0), ty, false),
        IntegerOp::MaxRelu => fit(x.max(y).max(0), ty, false),
    }
}

/// The part of `a × b` that the instruction keeps. `Wide` is twice as wide as `ty`.
pub(super) fn multiply(part: MulPart, ty: Type, a: u64, b: u64) -> u64 {
    let bits = ty.bits();
    if ty.is_signed() || bits < 64 {
        let narrow = |v| match (part, ty.is_signed()) {
            (MulPart::Lo24 | MulPart::Hi24, true) => i128::from(signed(v, 24)),
            (MulPart::Lo24 | MulPart::Hi24, false) => i128::from(v & mask(24)),
            _ => value(v, ty),
        };
        // two 64-bit signed values never overflow 128 bits
        let product = narrow(a) * narrow(b);
        return match part {
            MulPart::Lo | MulPart::Lo24 => product as u64 & mask(bits),
            MulPart::Hi => (product >> bits) as u64 & mask(bits),
            MulPart::Wide => product as u64 & mask(bits * 2),
            MulPart::Hi24 => (product >> 16) as u64 & mask(32),
        };
    }
    let product = u128::from(a) * u128::from(b);
    match part {
        MulPart::Hi => (product >> 64) as u64,
        _ => product as u64,
    }
}

/// `a × b + c`. Only `hi.s32` (and `hi` of mad24) saturate.
pub(super) fn multiply_add(part: MulPart, ty: Type, saturate: bool, a: u64, b: u64, c: u64) -> u64 {
    let product = multiply(part, ty, a, b);
    let bits = if part == MulPart::Wide { (ty.bits() * 2).min(64) } else { ty.bits() };
    if saturate {
        return fit(value(product, ty) + value(c, ty), ty, true);
    }
    product.wrapping_add(c) & mask(bits)
}

/// A step of a carry chain: the result and the carry out (for `sub`, the borrow).
pub(super) fn carry(op: CarryOp, ty: Type, carry_in: bool, a: u64, b: u64) -> (u64, bool) {
    let bits = ty.bits();
    let (a, b, c) = (u128::from(a & mask(bits)), u128::from(b & mask(bits)), u128::from(carry_in));
    let wide = match op {
        CarryOp::Add => a + b + c,
        CarryOp::Sub => a.wrapping_sub(b).wrapping_sub(c),
    };
    (wide as u64 & mask(bits), wide >> bits & 1 == 1)
}

/// `c + |a − b|`
pub(super) fn sum_absolute_difference(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    let difference = (value(a, ty) - value(b, ty)).unsigned_abs() as u64;
    difference.wrapping_add(c) & mask(ty.bits())
}

/// `dp4a`, `dp2a`
pub(super) fn dot_product(form: DotForm, a_signed: bool, b_signed: bool, a: u64, b: u64, c: u64) -> u64 {
    let pick = |v: u64, index: u32, bits: u32, is_signed: bool| {
        let part = v >> (index * bits) & mask(bits);
        if is_signed { signed(part, bits) } else { part as i64 }
    };
    let terms = |count: u32, a_bits: u32, b_first: u32| -> i64 {
        (0..count).map(|i| pick(a, i, a_bits, a_signed) * pick(b, b_first + i, 8, b_signed)).sum()
    };
    let sum = match form {
        DotForm::Dp4a => terms(4, 8, 0),
        DotForm::Dp2aLo => terms(2, 16, 0),
        DotForm::Dp2aHi => terms(2, 16, 2),
    };
    (sum as u64).wrapping_add(c) & mask(32)
}

/// One operand. `Popc`, `Clz`, `Bfind` give 32 bits.
pub(super) fn unary(op: IntegerUnaryOp, ty: Type, a: u64) -> u64 {
    let bits = ty.bits();
    let a = a & mask(bits);
    match op {
        IntegerUnaryOp::Neg => a.wrapping_neg() & mask(bits),
        IntegerUnaryOp::Abs => signed(a, bits).unsigned_abs() & mask(bits),
        IntegerUnaryOp::Not => !a & mask(bits),
        IntegerUnaryOp::CNot => u64::from(a == 0),
        IntegerUnaryOp::Popc => u64::from(a.count_ones()),
        IntegerUnaryOp::Clz => u64::from(a.leading_zeros() - (64 - bits)),
        IntegerUnaryOp::Brev => a.reverse_bits() >> (64 - bits),
        IntegerUnaryOp::Bfind | IntegerUnaryOp::BfindShift => {
            let negative = ty.is_signed() && signed(a, bits) < 0;
            let significant = if negative { !a & mask(bits) } else { a };
            match significant.checked_ilog2() {
                None => mask(32),
                Some(top) if op == IntegerUnaryOp::Bfind => u64::from(top),
                Some(top) => u64::from(bits - 1 - top),
            }
        }
    }
}

/// An integer comparison; the unordered forms are the plain ones.
pub(super) fn compare(comparison: Comparison, ty: Type, a: u64, b: u64) -> bool {
    use Comparison::*;
    let (x, y) = match comparison {
        Lo | Ls | Hi | Hs => (i128::from(a & mask(ty.bits())), i128::from(b & mask(ty.bits()))),
        _ => (value(a, ty), value(b, ty)),
    };
    match comparison {
        Eq | EqU => x == y,
        Ne | NeU => x != y,
        Lt | Lo | LtU => x < y,
        Le | Ls | LeU => x <= y,
        Gt | Hi | GtU => x > y,
        Ge | Hs | GeU => x >= y,
        Num => true,
        Nan => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_never_traps() {
        let div = |ty, a, b| binary(IntegerOp::Div, ty, false, a, b);
        assert_eq!(div(Type::S32, 0x8000_0000, 0xffff_ffff), 0x8000_0000);
        assert_eq!(div(Type::S64, i64::MIN as u64, u64::MAX), i64::MIN as u64);
        assert_eq!(binary(IntegerOp::Rem, Type::S32, false, 0x8000_0000, 0xffff_ffff), 0);
        assert_eq!(div(Type::U32, 7, 0), 0xffff_ffff);
        assert_eq!(div(Type::S32, (-7_i32) as u32 as u64, 2), (-3_i32) as u32 as u64, "towards zero");
    }

    #[test]
    fn parts_of_products() {
        assert_eq!(multiply(MulPart::Hi, Type::U64, u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(multiply(MulPart::Hi, Type::S64, u64::MAX, u64::MAX), 0);
        assert_eq!(multiply(MulPart::Wide, Type::S32, 0xffff_ffff, 2), (-2_i64) as u64);
        assert_eq!(multiply(MulPart::Wide, Type::U16, 0xffff, 0xffff), 0xfffe_0001);
        assert_eq!(multiply(MulPart::Hi24, Type::U32, 0xff_ffff, 0xff_ffff), 0xffff_fe00);
        assert_eq!(multiply(MulPart::Lo24, Type::S32, 0xff_ffff, 5), (-5_i32) as u32 as u64);
    }

    #[test]
    fn saturation() {
        let add = |a, b| binary(IntegerOp::Add, Type::S32, true, a, b);
        assert_eq!(add(0x7fff_ffff, 1), 0x7fff_ffff);
        assert_eq!(add(0x8000_0000, 0xffff_ffff), 0x8000_0000);
        // 2^30 × 2^30 has 2^28 in its upper half
        let mad = multiply_add(MulPart::Hi, Type::S32, true, 1 << 30, 1 << 30, 0x7fff_ffff);
        assert_eq!(mad, 0x7fff_ffff);
    }

    #[test]
    fn carries_chain_over_words() {
        let (low, c) = carry(CarryOp::Add, Type::U32, false, 0xffff_ffff, 1);
        assert_eq!((low, c), (0, true));
        assert_eq!(carry(CarryOp::Add, Type::U32, c, 0xffff_ffff, 0), (0, true));
        assert_eq!(carry(CarryOp::Sub, Type::U64, false, 0, 1), (u64::MAX, true));
        assert_eq!(carry(CarryOp::Sub, Type::U64, true, 5, 4), (0, false));
    }

    #[test]
    fn highest_bits() {
        assert_eq!(unary(IntegerUnaryOp::Bfind, Type::U32, 0), 0xffff_ffff);
        assert_eq!(unary(IntegerUnaryOp::Bfind, Type::S32, 0xffff_ffff), 0xffff_ffff);
        assert_eq!(unary(IntegerUnaryOp::Bfind, Type::U32, 0x10), 4);
        assert_eq!(unary(IntegerUnaryOp::BfindShift, Type::U32, 0x10), 27);
        assert_eq!(unary(IntegerUnaryOp::Clz, Type::B64, 1), 63);
        assert_eq!(unary(IntegerUnaryOp::Clz, Type::B32, 0), 32);
        assert_eq!(unary(IntegerUnaryOp::Brev, Type::B32, 1), 0x8000_0000);
        assert_eq!(unary(IntegerUnaryOp::Abs, Type::S16, 0x8000), 0x8000);
    }

    #[test]
    fn dot_products_extend_each_side_by_its_own_sign() {
        let a = 0x01ff_0203;
        assert_eq!(dot_product(DotForm::Dp4a, true, true, a, 0x0101_0101, 10), 10 + 1 - 1 + 2 + 3);
        assert_eq!(dot_product(DotForm::Dp4a, false, true, a, 0x0101_0101, 0), 1 + 255 + 2 + 3);
        assert_eq!(dot_product(DotForm::Dp2aHi, true, true, 0xffff_0002, 0x0304_0000, 0), 2 * 4 - 3);
    }

    #[test]
    fn comparisons_follow_the_type_or_their_name() {
        assert!(compare(Comparison::Lt, Type::S32, 0xffff_ffff, 0));
        assert!(!compare(Comparison::Lo, Type::S32, 0xffff_ffff, 0));
        assert!(compare(Comparison::Gt, Type::U16, 0xffff, 1));
    }
}
