//! Bit-field instructions on one lane: shifts, fields, masks, permutations, `lop3`, `fns`.

use super::integer::{mask, signed};
use crate::ptx::ir::{BoolOp, PermuteMode, Range, Type};

/// `and`, `or`, `xor`
pub(super) fn logic(op: BoolOp, a: u64, b: u64) -> u64 {
    match op {
        BoolOp::And => a & b,
        BoolOp::Or => a | b,
        BoolOp::Xor => a ^ b,
    }
}

/// `lop3`: bit `4·a + 2·b + c` of the table, at each position.
pub(super) fn lop3(lut: u8, a: u64, b: u64, c: u64) -> u64 {
    (0..8_u32).filter(|i| lut >> i & 1 == 1).fold(0, |result, i| {
        let pick = |v: u64, bit: u32| if i >> bit & 1 == 1 { v } else { !v };
        result | pick(a, 2) & pick(b, 1) & pick(c, 0)
    }) & mask(32)
}

/// `shl`, `shr`: amounts above the width act as the width.
pub(super) fn shift(left: bool, ty: Type, a: u64, amount: u64) -> u64 {
    let bits = ty.bits();
    let amount = (amount as u32).min(bits);
    if left {
        return a.checked_shl(amount).unwrap_or(0) & mask(bits);
    }
    if ty.is_signed() {
        return (signed(a, bits) >> amount.min(63)) as u64 & mask(bits);
    }
    (a & mask(bits)).checked_shr(amount).unwrap_or(0)
}

/// `shf` on the 64 bits `b:a`.
pub(super) fn funnel_shift(left: bool, range: Range, a: u64, b: u64, amount: u64) -> u64 {
    let amount = match range {
        Range::Clamp => (amount as u32).min(32),
        Range::Wrap => amount as u32 & 31,
    };
    let pair = (b & mask(32)) << 32 | a & mask(32);
    let result = if left { (u128::from(pair) << amount >> 32) as u64 } else { pair >> amount };
    result & mask(32)
}

/// `bfe`: the field is read as if the value were extended for ever, by zeros or by its top bit. For 32 bits
/// position and length are the low 8 bits of the operand; for 64 bits the hardware takes them whole.
pub(super) fn extract(ty: Type, a: u64, position: u64, length: u64) -> u64 {
    let bits = ty.bits();
    let (position, length) = field(bits, position, length);
    let is_signed = ty.is_signed();
    if length == 0 {
        return 0;
    }
    // the sign of the field: its top bit, or the value's where the field sticks out
    let top = (u64::from(position) + u64::from(length) - 1).min(u64::from(bits) - 1);
    let negative = is_signed && a >> top & 1 == 1;
    let inside = bits.saturating_sub(position).min(length);
    let field = if inside == 0 { 0 } else { (a & mask(bits)) >> position & mask(inside) };
    if negative { (field | !mask(inside)) & mask(bits) } else { field }
}

/// `bfi`: `b` with the low bits of `a` in a field of it.
pub(super) fn insert(ty: Type, a: u64, b: u64, position: u64, length: u64) -> u64 {
    let bits = ty.bits();
    let (position, length) = field(bits, position, length);
    if position >= bits {
        return b;
    }
    let field = mask(length.min(bits)) << position & mask(bits);
    b & !field | a << position & field
}

fn field(bits: u32, position: u64, length: u64) -> (u32, u32) {
    match bits {
        32 => (position as u32 & 0xff, length as u32 & 0xff),
        _ => (position as u32, length as u32),
    }
}

/// `bmsk`
pub(super) fn bit_mask(range: Range, position: u64, length: u64) -> u64 {
    let (position, length) = match range {
        Range::Clamp => ((position as u32).min(32), (length as u32).min(32)),
        Range::Wrap => (position as u32 & 31, length as u32 & 31),
    };
    mask(length) << position & mask(32)
}

/// `szext`
pub(super) fn extend(range: Range, ty: Type, a: u64, length: u64) -> u64 {
    let length = match range {
        Range::Clamp => (length as u32).min(32),
        Range::Wrap => length as u32 & 31,
    };
    let low = a & mask(length);
    match (ty.is_signed(), length) {
        (_, 0) => 0,
        (true, _) => signed(low, length) as u64 & mask(32),
        (false, _) => low,
    }
}

/// `fns`: position of the `offset`-th set bit counted from `base`, all ones if there is none.
pub(super) fn find_nth_set(value: u64, base: u64, offset: u64) -> u64 {
    let (value, base, offset) = (value as u32, base as u32, offset as i32);
    let set = |bit: &u32| value >> bit & 1 == 1;
    let none = u64::from(u32::MAX);
    if base > 31 {
        return none;
    }
    let found = match offset {
        0 => Some(base).filter(set),
        1.. => (base..32).filter(set).nth(offset as usize - 1),
        _ => (0..=base).rev().filter(set).nth(offset.unsigned_abs() as usize - 1),
    };
    found.map_or(none, u64::from)
}

/// `prmt`: four bytes of the eight of `b:a`.
pub(super) fn permute(mode: PermuteMode, a: u64, b: u64, selector: u64) -> u64 {
    let pair = (b & mask(32)) << 32 | a & mask(32);
    let byte = |index: u64| pair >> (index % 8 * 8) & 0xff;
    let s = selector & 3;
    let picks: [u64; 4] = match mode {
        PermuteMode::Default => {
            return (0..4).fold(0, |result, i| {
                let nibble = selector >> (4 * i);
                let value = byte(nibble & 7);
                let value = match nibble & 8 {
                    0 => value,
                    _ => 0xff * (value >> 7),
                };
                result | value << (8 * i)
            });
        }
        PermuteMode::Forward4 => [s, s + 1, s + 2, s + 3],
        PermuteMode::Backward4 => [s, s + 7, s + 6, s + 5],
        PermuteMode::Replicate8 => [s; 4],
        PermuteMode::EdgeClampLeft => [0, 1, 2, 3].map(|i: u64| i.max(s)),
        PermuteMode::EdgeClampRight => [0, 1, 2, 3].map(|i: u64| i.min(s)),
        PermuteMode::Replicate16 => {
            let low = (selector & 1) * 2;
            [low, low + 1, low, low + 1]
        }
    };
    picks.iter().enumerate().fold(0, |result, (i, &pick)| result | byte(pick) << (8 * i))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_clamp_at_the_width() {
        assert_eq!(shift(true, Type::B32, 1, 32), 0);
        assert_eq!(shift(true, Type::B64, 1, 64), 0);
        assert_eq!(shift(false, Type::U64, u64::MAX, 200), 0);
        assert_eq!(shift(false, Type::S32, 0x8000_0000, 99), 0xffff_ffff);
        assert_eq!(shift(false, Type::S64, 1 << 63, 64), u64::MAX);
        assert_eq!(shift(false, Type::S16, 0x8000, 3), 0xf000);
    }

    #[test]
    fn funnel_shifts() {
        assert_eq!(funnel_shift(true, Range::Wrap, 0x8000_0000, 1, 1), 3);
        assert_eq!(funnel_shift(false, Range::Wrap, 2, 1, 1), 0x8000_0001);
        assert_eq!(funnel_shift(true, Range::Clamp, 0x1234, 0xdead, 77), 0x1234);
        assert_eq!(funnel_shift(false, Range::Clamp, 0x1234, 0xdead, 32), 0xdead);
        assert_eq!(funnel_shift(true, Range::Wrap, 0x1234, 0xdead, 32), 0xdead);
    }

    #[test]
    fn fields_that_stick_out_extend_by_the_sign() {
        assert_eq!(extract(Type::U32, 0xf0, 4, 4), 0xf);
        assert_eq!(extract(Type::S32, 0xf0, 4, 4), 0xffff_ffff);
        assert_eq!(extract(Type::S32, 0x8000_0000, 28, 10), 0xffff_fff8);
        assert_eq!(extract(Type::U32, 0x8000_0000, 28, 10), 8);
        assert_eq!(extract(Type::S32, 0x8000_0000, 40, 4), 0xffff_ffff);
        assert_eq!(extract(Type::S32, 0x8000_0000, 3, 0), 0);
        assert_eq!(insert(Type::B32, 0xab, 0xffff_ffff, 8, 8), 0xffff_abff);
        assert_eq!(insert(Type::B64, 1, 0, 63, 9), 1 << 63);
        assert_eq!(insert(Type::B32, 0xab, 7, 32, 8), 7);
    }

    #[test]
    fn lop3_is_the_table() {
        // the manual's way to make a table: evaluate the expression on 0xF0, 0xCC, 0xAA
        let table = (0xF0 & 0xCC) ^ 0xAA;
        let (a, b, c) = (0x1234_5678, 0xdead_beef, 0x0f0f_3c3c);
        assert_eq!(lop3(table, a, b, c), (a & b) ^ c);
    }

    #[test]
    fn permutations() {
        let (a, b) = (0x3322_1100, 0x7766_5544);
        let f = |mode, s| permute(mode, a, b, s);
        assert_eq!(f(PermuteMode::Default, 0x0123), 0x0011_2233);
        assert_eq!(permute(PermuteMode::Default, 0x80, 0, 0x1118), 0x0000_00ff);
        assert_eq!(f(PermuteMode::Forward4, 2), 0x5544_3322);
        assert_eq!(f(PermuteMode::Backward4, 1), 0x6677_0011);
        assert_eq!(f(PermuteMode::Replicate8, 3), 0x3333_3333);
        assert_eq!(f(PermuteMode::EdgeClampLeft, 2), 0x3322_2222);
        assert_eq!(f(PermuteMode::EdgeClampRight, 1), 0x1111_1100);
        assert_eq!(f(PermuteMode::Replicate16, 1), 0x3322_3322);
    }

    #[test]
    fn nth_set_bit_counts_both_ways() {
        assert_eq!(find_nth_set(0b1010_1000, 0, 2), 5);
        assert_eq!(find_nth_set(0b1010_1000, 5, 1), 5);
        assert_eq!(find_nth_set(0b1010_1000, 5, (-2_i64) as u64), 3);
        assert_eq!(find_nth_set(0b1010_1000, 3, 0), 3);
        assert_eq!(find_nth_set(0b1010_1000, 4, 0), 0xffff_ffff);
        assert_eq!(find_nth_set(0b1010_1000, 0, 4), 0xffff_ffff);
    }

    #[test]
    fn masks_and_extensions() {
        assert_eq!(bit_mask(Range::Clamp, 4, 8), 0xff0);
        assert_eq!(bit_mask(Range::Clamp, 0, 40), 0xffff_ffff);
        assert_eq!(bit_mask(Range::Wrap, 36, 8), 0xff0);
        assert_eq!(extend(Range::Clamp, Type::S32, 0x80, 8), 0xffff_ff80);
        assert_eq!(extend(Range::Clamp, Type::U32, 0xfff, 8), 0xff);
    }
}
