//! `cvt` on one lane: between integers, between floats, and across, with rounding and saturation.

use super::float::{self, format_of};
use super::integer::{limits, mask, value};
use super::soft::{self, Exact, Format};
use crate::ptx::ir::{Convert, FloatModifiers, Rounding, Type};

/// The result of `cvt`, in the low bits of the destination type.
pub(super) fn convert(c: &Convert, src: u64) -> u64 {
    let src = src & mask(c.src_ty.bits());
    match (c.src_ty.is_float(), c.dst_ty.is_float()) {
        (false, false) => integer_to_integer(c, src),
        (true, false) => float_to_integer(c, src),
        (false, true) => integer_to_float(c, src),
        (true, true) => float_to_float(c, src),
    }
}

fn integer_to_integer(c: &Convert, src: u64) -> u64 {
    let mut number = value(src, c.src_ty);
    if c.saturate {
        let (low, high) = limits(c.dst_ty);
        number = number.clamp(low, high);
    }
    number as u64 & mask(c.dst_ty.bits())
}

/// Out of range saturates; NaN gives 0, but for f64 sources and 64-bit results the top bit alone, as the
/// hardware does.
fn float_to_integer(c: &Convert, src: u64) -> u64 {
    let format = format_of(c.src_ty);
    let src = if c.flush { float::flush(src, format) } else { src };
    let (low, high) = limits(c.dst_ty);
    let bits = c.dst_ty.bits();
    if format.is_nan(src) {
        return if bits == 64 || c.src_ty == Type::F64 { 1 << (bits - 1) } else { 0 };
    }
    let number = if format.is_infinite(src) {
        if src & format.sign_bit() != 0 { low } else { high }
    } else {
        integral(soft::exact(src, format), c.rounding.unwrap_or(Rounding::Zero)).clamp(low, high)
    };
    number as u64 & mask(bits)
}

/// A finite value rounded to an integer, or some number beyond every integer type.
fn integral(exact: Exact, rounding: Rounding) -> i128 {
    let magnitude = match exact.exponent {
        e if e < 0 => soft::shift_rounded(exact.magnitude, -e as u32, exact.negative, rounding),
        e if e < 70 => exact.magnitude << e,
        _ if exact.magnitude == 0 => 0,
        _ => 1 << 100,
    } as i128;
    if exact.negative { -magnitude } else { magnitude }
}

fn integer_to_float(c: &Convert, src: u64) -> u64 {
    let number = value(src, c.src_ty);
    let exact = Exact { negative: number < 0, exponent: 0, magnitude: number.unsigned_abs() };
    let format = format_of(c.dst_ty);
    let bits = soft::round(exact, format, c.rounding.unwrap_or(Rounding::NearestEven));
    float::finish(bits, format, modifiers(c))
}

fn modifiers(c: &Convert) -> FloatModifiers {
    FloatModifiers { flush: c.flush, saturate: c.saturate, relu: c.relu, ..FloatModifiers::default() }
}

fn float_to_float(c: &Convert, src: u64) -> u64 {
    let (from, to) = (format_of(c.src_ty), format_of(c.dst_ty));
    // `.ftz` is about f32 only, on either side
    let src = if c.flush && from == soft::F32 { float::flush(src, from) } else { src };
    let rounding = c.rounding.unwrap_or(Rounding::NearestEven);
    if c.to_integer && !from.is_nan(src) && !from.is_infinite(src) {
        let exact = soft::exact(src, from);
        let rounded = if exact.exponent >= 0 {
            exact
        } else {
            let shift = -exact.exponent as u32;
            let magnitude = soft::shift_rounded(exact.magnitude, shift, exact.negative, rounding);
            Exact { exponent: 0, magnitude, ..exact }
        };
        return finish(c, soft::round(rounded, to, rounding), to);
    }
    finish(c, narrow(src, from, to, rounding, c.saturate_finite), to)
}

fn finish(c: &Convert, bits: u64, to: Format) -> u64 {
    let flush = c.flush && to == soft::F32;
    // tf32 lives in the upper bits of a 32-bit register
    let bits = float::finish(bits, to, FloatModifiers { flush, ..modifiers(c) });
    if to == soft::TF32 { bits << 13 } else { bits }
}

/// The value in another format; with `.satfinite` nothing becomes infinite.
pub(super) fn narrow(src: u64, from: Format, to: Format, rounding: Rounding, finite: bool) -> u64 {
    let bits = float::convert(src, from, to, rounding);
    let became_infinite = to.is_infinite(bits) || (to.finite && to.is_nan(bits));
    if finite && became_infinite && !from.is_nan(src) {
        return bits & to.sign_bit() | to.largest();
    }
    bits
}

/// `cvt` of two `f32` to a packed pair, `a` above `b`.
pub(super) fn pair(
    dst_ty: Type,
    rounding: Rounding,
    modifiers: FloatModifiers,
    finite: bool,
    a: u64,
    b: u64,
) -> u64 {
    let to = format_of(dst_ty);
    let part = |v| {
        let v = if modifiers.flush { float::flush(v, soft::F32) } else { v };
        let bits = narrow(v, soft::F32, to, rounding, finite);
        float::finish(bits, to, FloatModifiers { flush: false, ..modifiers })
    };
    let bits = dst_ty.bits() / 2;
    part(a) << bits | part(b)
}

/// `cvt` of a packed 8-bit pair to `f16x2`; every value is representable.
pub(super) fn widen_pair(src_ty: Type, relu: bool, src: u64) -> u64 {
    let from = format_of(src_ty);
    let modifiers = FloatModifiers { relu, ..FloatModifiers::default() };
    let part = |v| {
        let bits = float::convert(v, from, soft::F16, Rounding::NearestEven);
        float::finish(bits, soft::F16, modifiers)
    };
    part(src >> 8 & 0xff) << 16 | part(src & 0xff)
}

/// `cvt.pack.sat`: `a` above `b`, both saturated; 8- and 4-bit results push `c` up.
pub(super) fn pack_saturate(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    let bits = ty.bits();
    let (low, high) = limits(ty);
    let part = |v| value(v, Type::S32).clamp(low, high) as u64 & mask(bits);
    let both = part(a) << bits | part(b);
    if bits >= 16 { both } else { (c << (2 * bits) | both) & mask(32) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::ir::{Operand, Reg, Width};

    fn cvt(dst_ty: Type, src_ty: Type, rounding: Option<Rounding>, to_integer: bool) -> Convert {
        Convert {
            dst_ty,
            src_ty,
            rounding,
            to_integer,
            flush: false,
            saturate: false,
            saturate_finite: false,
            relu: false,
            dst: Reg { width: Width::B32, index: 0 },
            src: Operand::Imm(0),
        }
    }

    fn f32_bits(v: f32) -> u64 {
        u64::from(v.to_bits())
    }

    #[test]
    fn floats_saturate_to_integers() {
        let c = cvt(Type::S32, Type::F32, Some(Rounding::Zero), true);
        assert_eq!(convert(&c, f32_bits(3e9)), 0x7fff_ffff);
        assert_eq!(convert(&c, f32_bits(-3e9)), 0x8000_0000);
        assert_eq!(convert(&c, f32_bits(f32::NAN)), 0);
        assert_eq!(convert(&c, f32_bits(-1.9)), 0xffff_ffff);
        let c = cvt(Type::U8, Type::F32, Some(Rounding::NearestEven), true);
        assert_eq!(convert(&c, f32_bits(300.0)), 255);
        assert_eq!(convert(&c, f32_bits(-5.0)), 0);
        assert_eq!(convert(&c, f32_bits(2.5)), 2);
    }

    #[test]
    fn the_four_integer_roundings() {
        let cases = [
            (Rounding::NearestEven, 2.5, 2),
            (Rounding::NearestEven, 3.5, 4),
            (Rounding::Zero, -2.5, -2),
            (Rounding::Down, -2.5, -3),
            (Rounding::Up, 2.1, 3),
        ];
        for (rounding, from, to) in cases {
            let c = cvt(Type::S32, Type::F32, Some(rounding), true);
            assert_eq!(convert(&c, f32_bits(from)), i64::from(to) as u64 & mask(32), "{rounding:?} {from}");
            let c = cvt(Type::F32, Type::F32, Some(rounding), true);
            assert_eq!(convert(&c, f32_bits(from)), f32_bits(to as f32), "{rounding:?} {from}");
        }
        let c = cvt(Type::F32, Type::F32, Some(Rounding::NearestEven), true);
        assert_eq!(convert(&c, f32_bits(-0.25)), 0x8000_0000, "the sign stays");
    }

    #[test]
    fn integers_round_once_on_their_way_to_floats() {
        let c = cvt(Type::F32, Type::U64, Some(Rounding::NearestEven), false);
        assert_eq!(convert(&c, u64::MAX), f32_bits(18_446_744_073_709_551_615.0));
        let c = cvt(Type::F32, Type::S32, Some(Rounding::Up), false);
        assert_eq!(convert(&c, 16_777_217), f32_bits(16_777_218.0));
        let c = cvt(Type::F32, Type::S32, Some(Rounding::NearestEven), false);
        assert_eq!(convert(&c, 0xffff_ffff), f32_bits(-1.0));
    }

    #[test]
    fn integers_extend_truncate_and_saturate() {
        assert_eq!(convert(&cvt(Type::S64, Type::S8, None, false), 0x80), (-128_i64) as u64);
        assert_eq!(convert(&cvt(Type::U8, Type::U32, None, false), 0x1ff), 0xff);
        let saturating = Convert { saturate: true, ..cvt(Type::U8, Type::S32, None, false) };
        assert_eq!(convert(&saturating, 300), 255);
        assert_eq!(convert(&saturating, 0xffff_ff00), 0);
    }

    #[test]
    fn narrow_formats() {
        let half = cvt(Type::F16, Type::F32, Some(Rounding::NearestEven), false);
        assert_eq!(convert(&half, f32_bits(1.0)), 0x3c00);
        assert_eq!(convert(&half, f32_bits(65520.0)), 0x7c00);
        assert_eq!(convert(&half, f32_bits(6e-8)), 1);
        assert_eq!(convert(&half, f32_bits(f32::NAN)), 0x7fff);
        let plain = FloatModifiers::default();
        let bf = |a, b| pair(Type::BF16x2, Rounding::NearestEven, plain, false, f32_bits(a), f32_bits(b));
        assert_eq!(bf(1.0, -2.0), 0x3f80_c000);
        let e4 = |a, b| pair(Type::E4M3x2, Rounding::NearestEven, plain, true, f32_bits(a), f32_bits(b));
        assert_eq!(e4(1000.0, -1.0), 0x7eb8);
        assert_eq!(widen_pair(Type::E4M3x2, false, 0x7eb8), 0x5f00_bc00);
        let tf = cvt(Type::TF32, Type::F32, Some(Rounding::NearestAway), false);
        assert_eq!(convert(&tf, 0x3f80_1000), 0x3f80_2000);
    }

    #[test]
    fn packing_saturates_both() {
        assert_eq!(pack_saturate(Type::S16, 70_000, 0xffff_0000, 0), 0x7fff_8000);
        assert_eq!(pack_saturate(Type::U8, 300, 5, 0x1234_abcd), 0xabcd_ff05);
    }
}
