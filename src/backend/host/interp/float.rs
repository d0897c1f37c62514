//! Floating-point instructions on the bit patterns of one lane: NaN, signed zeros, `.ftz`, `.sat`, `.relu`,
//! and the approximate functions. The exact arithmetic behind the roundings is in `soft`.

use super::soft::{self, Format};
use crate::ptx::ir::{
    Accuracy, FloatModifiers, FloatOp, FloatProperty, FloatUnaryOp, NarrowFloat, Rounding, Type,
};

/// The format of a scalar type or of the elements of a packed one.
pub(super) fn format_of(ty: Type) -> Format {
    match ty {
        Type::F16 | Type::F16x2 => soft::F16,
        Type::BF16 | Type::BF16x2 => soft::BF16,
        Type::TF32 => soft::TF32,
        Type::F64 => soft::F64,
        Type::E4M3 | Type::E4M3x2 => soft::E4M3,
        Type::E5M2 | Type::E5M2x2 => soft::E5M2,
        _ => soft::F32,
    }
}

/// Width of each part of a packed type, `None` for scalars.
pub(super) fn packed_bits(ty: Type) -> Option<u32> {
    match ty {
        Type::F16x2 | Type::BF16x2 | Type::U16x2 | Type::S16x2 => Some(16),
        Type::F32x2 => Some(32),
        _ => None,
    }
}

/// Applies `f` to each part of packed values, or once to scalars.
#[inline]
pub(super) fn each_part<const N: usize>(ty: Type, values: [u64; N], f: impl Fn([u64; N]) -> u64) -> u64 {
    match packed_bits(ty) {
        None => f(values),
        Some(bits) => {
            let mask = (1_u64 << bits) - 1;
            let low = f(values.map(|v| v & mask)) & mask;
            let high = f(values.map(|v| v >> bits & mask)) & mask;
            high << bits | low
        }
    }
}

/// Subnormals become zeros of the same sign.
pub(super) fn flush(bits: u64, format: Format) -> u64 {
    if format.is_subnormal(bits) { bits & format.sign_bit() } else { bits }
}

fn flush_if(on: bool, bits: u64, format: Format) -> u64 {
    if on { flush(bits, format) } else { bits }
}

fn one(format: Format) -> u64 {
    soft::round(soft::exact(1.0_f64.to_bits(), soft::F64), format, Rounding::Zero)
}

/// `.ftz`, `.sat`, `.relu` of a result, and the canonical NaN.
pub(super) fn finish(bits: u64, format: Format, modifiers: FloatModifiers) -> u64 {
    let negative = bits & format.sign_bit() != 0;
    if format.is_nan(bits) {
        // f64 keeps the payload, as the hardware does
        return match (modifiers.saturate, format == soft::F64) {
            (true, _) => 0,
            (false, true) => bits,
            (false, false) => format.nan(),
        };
    }
    let bits = flush_if(modifiers.flush, bits, format);
    if modifiers.saturate {
        return if negative { 0 } else { bits.min(one(format)) };
    }
    if modifiers.relu && negative {
        return 0;
    }
    bits
}

/// The rounding of an operation, to nearest where the text says nothing.
pub(super) fn rounding_of(accuracy: Accuracy) -> Rounding {
    match accuracy {
        Accuracy::Rounded(rounding) => rounding,
        Accuracy::Default | Accuracy::Approx | Accuracy::Full => Rounding::NearestEven,
    }
}

/// `a op b` of one part.
pub(super) fn binary(op: FloatOp, ty: Type, accuracy: Accuracy, m: FloatModifiers, a: u64, b: u64) -> u64 {
    let format = format_of(ty);
    let a = match m.narrow {
        None => a,
        Some(NarrowFloat::F16) => widen(a, soft::F16, format),
        Some(NarrowFloat::BF16) => widen(a, soft::BF16, format),
    };
    if op == FloatOp::CopySign {
        return b & !format.sign_bit() | a & format.sign_bit();
    }
    let (a, b) = (flush_if(m.flush, a, format), flush_if(m.flush, b, format));
    let rounding = rounding_of(accuracy);
    let result = match op {
        FloatOp::Add => add(a, b, format, rounding),
        FloatOp::Sub => match format.is_nan(b) {
            true => add(a, b, format, rounding),
            false => add(a, b ^ format.sign_bit(), format, rounding),
        },
        FloatOp::Mul => multiply(a, b, format, rounding),
        FloatOp::Div => divide(a, b, format, rounding),
        FloatOp::Min => return min_max(false, &[a, b], format, m),
        FloatOp::Max => return min_max(true, &[a, b], format, m),
        FloatOp::CopySign => b,
    };
    finish(result, format, m)
}

fn widen(bits: u64, from: Format, to: Format) -> u64 {
    convert(bits, from, to, Rounding::NearestEven)
}

/// The value of `bits` in another format; NaN becomes NaN, infinity infinity.
pub(super) fn convert(bits: u64, from: Format, to: Format, rounding: Rounding) -> u64 {
    let sign = if bits & from.sign_bit() != 0 { to.sign_bit() } else { 0 };
    if from.is_nan(bits) {
        return to.nan();
    }
    if from.is_infinite(bits) {
        return sign | if to.finite { to.nan() } else { to.infinity() };
    }
    soft::round(soft::exact(bits, from), to, rounding)
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn f64_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn bits32(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// The NaN of an operation on `operands`: for f64 the first NaN operand made quiet, else the default NaN.
fn nan_of(operands: &[u64], format: Format) -> u64 {
    if format != soft::F64 {
        return format.nan();
    }
    let quiet = 1 << (format.fraction_bits - 1);
    match operands.iter().find(|&&v| format.is_nan(v)) {
        Some(nan) => nan | quiet,
        None => format.sign_bit() | format.infinity() | quiet,
    }
}

pub(super) fn add(a: u64, b: u64, format: Format, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        match format {
            soft::F32 => return bits32(f32_of(a) + f32_of(b)),
            soft::F64 => return (f64_of(a) + f64_of(b)).to_bits(),
            _ => {}
        }
    }
    if format.is_nan(a) || format.is_nan(b) {
        return nan_of(&[a, b], format);
    }
    match (format.is_infinite(a), format.is_infinite(b)) {
        (true, true) if a != b => nan_of(&[], format),
        (true, _) => a,
        (_, true) => b,
        _ => {
            let sum = soft::add(soft::exact(a, format), soft::exact(b, format), rounding);
            soft::round(sum, format, rounding)
        }
    }
}

pub(super) fn multiply(a: u64, b: u64, format: Format, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        match format {
            soft::F32 => return bits32(f32_of(a) * f32_of(b)),
            soft::F64 => return (f64_of(a) * f64_of(b)).to_bits(),
            _ => {}
        }
    }
    if format.is_nan(a) || format.is_nan(b) {
        return nan_of(&[a, b], format);
    }
    let sign = (a ^ b) & format.sign_bit();
    if format.is_infinite(a) || format.is_infinite(b) {
        let undefined = format.is_zero(a) || format.is_zero(b);
        return if undefined { nan_of(&[], format) } else { sign | format.infinity() };
    }
    soft::round(soft::multiply(soft::exact(a, format), soft::exact(b, format)), format, rounding)
}

/// `a × b + c` with one rounding.
pub(super) fn fused(a: u64, b: u64, c: u64, format: Format, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        match format {
            soft::F32 => return bits32(f32_of(a).mul_add(f32_of(b), f32_of(c))),
            soft::F64 => return f64_of(a).mul_add(f64_of(b), f64_of(c)).to_bits(),
            _ => {}
        }
    }
    if [a, b, c].iter().any(|&v| format.is_nan(v)) {
        return nan_of(&[a, b, c], format);
    }
    if format.is_infinite(a) || format.is_infinite(b) || format.is_infinite(c) {
        // the product's own rounding does not matter: it is infinite, or it is finite beside an infinite c
        let product = multiply(a, b, format, Rounding::Zero);
        return add(product, c, format, Rounding::Zero);
    }
    let [x, y, z] = [a, b, c].map(|v| soft::exact(v, format));
    soft::round(soft::add(soft::multiply(x, y), z, rounding), format, rounding)
}

pub(super) fn divide(a: u64, b: u64, format: Format, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        match format {
            soft::F32 => return bits32(f32_of(a) / f32_of(b)),
            soft::F64 => return (f64_of(a) / f64_of(b)).to_bits(),
            _ => {}
        }
    }
    if format.is_nan(a) || format.is_nan(b) {
        return nan_of(&[a, b], format);
    }
    let sign = (a ^ b) & format.sign_bit();
    match (format.is_infinite(a), format.is_infinite(b), format.is_zero(b)) {
        (true, true, _) => nan_of(&[], format),
        (true, false, _) => sign | format.infinity(),
        (false, true, _) => sign,
        (false, false, true) if format.is_zero(a) => nan_of(&[], format),
        (false, false, true) => sign | format.infinity(),
        _ => soft::round(soft::divide(soft::exact(a, format), soft::exact(b, format)), format, rounding),
    }
}

pub(super) fn square_root(a: u64, format: Format, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        match format {
            soft::F32 => return bits32(f32_of(a).sqrt()),
            soft::F64 => return f64_of(a).sqrt().to_bits(),
            _ => {}
        }
    }
    if format.is_nan(a) {
        return nan_of(&[a], format);
    }
    if format.is_zero(a) || a == format.infinity() {
        return a;
    }
    if a & format.sign_bit() != 0 {
        return nan_of(&[], format);
    }
    soft::round(soft::square_root(soft::exact(a, format)), format, rounding)
}

/// A number that orders patterns like the values they stand for, −0 before +0.
fn order(bits: u64, format: Format) -> i128 {
    let magnitude = i128::from(bits & (format.sign_bit() - 1));
    if bits & format.sign_bit() != 0 { -1 - magnitude } else { magnitude }
}

/// `min`/`max` of two or three values: numbers win over NaN unless `.NaN`, −0 is less than +0.
pub(super) fn min_max(max: bool, values: &[u64], format: Format, m: FloatModifiers) -> u64 {
    let sign = values.iter().fold(0, |sign, v| sign ^ v & format.sign_bit());
    let mut best: Option<u64> = None;
    for &value in values {
        let value = flush_if(m.flush, value, format);
        let value = if m.abs || m.xor_sign_abs { value & !format.sign_bit() } else { value };
        if format.is_nan(value) {
            if m.nan {
                return format.nan();
            }
            continue;
        }
        best = match best {
            Some(old) if (order(old, format) < order(value, format)) != max => Some(old),
            _ => Some(value),
        };
    }
    match best {
        None => format.nan(),
        Some(value) if m.xor_sign_abs => value | sign,
        Some(value) if m.relu && value & format.sign_bit() != 0 => 0,
        Some(value) => value,
    }
}

/// `a × b + c` of one part.
pub(super) fn multiply_add(ty: Type, rounding: Rounding, m: FloatModifiers, a: u64, b: u64, c: u64) -> u64 {
    let format = format_of(ty);
    let narrow = |v| match m.narrow {
        None => v,
        Some(NarrowFloat::F16) => widen(v, soft::F16, format),
        Some(NarrowFloat::BF16) => widen(v, soft::BF16, format),
    };
    let [a, b, c] = [narrow(a), narrow(b), c].map(|v| flush_if(m.flush, v, format));
    finish(fused(a, b, c, format, rounding), format, m)
}

/// One operand, one part. Approximate functions are computed in f64 and rounded once.
pub(super) fn unary(op: FloatUnaryOp, ty: Type, accuracy: Accuracy, m: FloatModifiers, a: u64) -> u64 {
    let format = format_of(ty);
    let a = flush_if(m.flush, a, format);
    let rounding = rounding_of(accuracy);
    let approximate = |f: fn(f64) -> f64| {
        let value = f64_of(widen(a, format, soft::F64));
        convert(f(value).to_bits(), soft::F64, format, Rounding::NearestEven)
    };
    let result = match op {
        FloatUnaryOp::Neg => return finish_sign(a ^ format.sign_bit(), format, m),
        FloatUnaryOp::Abs => return finish_sign(a & !format.sign_bit(), format, m),
        FloatUnaryOp::Rcp if ty == Type::F64 && accuracy == Accuracy::Approx => coarse(a, |v| 1.0 / v),
        FloatUnaryOp::Rsqrt if ty == Type::F64 && m.flush => coarse(a, |v| 1.0 / v.sqrt()),
        // without .ftz it is emulated to full precision: nvcc's rsqrt() is this instruction alone
        FloatUnaryOp::Rsqrt if ty == Type::F64 => (1.0 / f64_of(a).sqrt()).to_bits(),
        FloatUnaryOp::Rcp => divide(one(format), a, format, rounding),
        FloatUnaryOp::Sqrt => square_root(a, format, rounding),
        FloatUnaryOp::Rsqrt => approximate(|v| 1.0 / v.sqrt()),
        FloatUnaryOp::Sin => approximate(f64::sin),
        FloatUnaryOp::Cos => approximate(f64::cos),
        FloatUnaryOp::Lg2 => approximate(f64::log2),
        FloatUnaryOp::Ex2 => approximate(f64::exp2),
        FloatUnaryOp::Tanh => approximate(f64::tanh),
    };
    finish(result, format, m)
}

/// `neg` and `abs` move the sign of a NaN too.
fn finish_sign(bits: u64, format: Format, m: FloatModifiers) -> u64 {
    flush_if(m.flush, bits, format)
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` give the upper 32 bits of a result of 20 fraction bits;
/// the lower 32 are zero.
fn coarse(a: u64, f: fn(f64) -> f64) -> u64 {
    f(f64_of(a)).to_bits() & 0xffff_ffff_0000_0000
}

/// `testp`.
pub(super) fn has_property(property: FloatProperty, ty: Type, a: u64) -> bool {
    let format = format_of(ty);
    let (nan, infinite) = (format.is_nan(a), format.is_infinite(a));
    match property {
        FloatProperty::Finite => !nan && !infinite,
        FloatProperty::Infinite => infinite,
        FloatProperty::Number => !nan,
        FloatProperty::NotANumber => nan,
        // zeros are normal numbers here (PTX manual, testp)
        FloatProperty::Normal => !nan && !infinite && !format.is_subnormal(a),
        FloatProperty::Subnormal => format.is_subnormal(a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: FloatModifiers = FloatModifiers {
        flush: false,
        saturate: false,
        relu: false,
        nan: false,
        xor_sign_abs: false,
        abs: false,
        narrow: None,
    };

    fn f32_binary(op: FloatOp, rounding: Rounding, m: FloatModifiers, a: f32, b: f32) -> f32 {
        let [a, b] = [a, b].map(|v| u64::from(v.to_bits()));
        f32_of(binary(op, Type::F32, Accuracy::Rounded(rounding), m, a, b))
    }

    #[test]
    fn min_and_max_prefer_numbers_and_order_zeros() {
        let min = |a, b, m| f32_binary(FloatOp::Min, Rounding::NearestEven, m, a, b);
        let max = |a, b, m| f32_binary(FloatOp::Max, Rounding::NearestEven, m, a, b);
        assert_eq!(min(f32::NAN, 1.0, PLAIN), 1.0);
        assert_eq!(max(1.0, f32::NAN, PLAIN), 1.0);
        assert_eq!(max(f32::NAN, f32::NAN, PLAIN).to_bits(), 0x7fff_ffff);
        assert_eq!(min(0.0, -0.0, PLAIN).to_bits(), 0x8000_0000);
        assert_eq!(max(-0.0, 0.0, PLAIN).to_bits(), 0);
        let nan = FloatModifiers { nan: true, ..PLAIN };
        assert_eq!(min(f32::NAN, 1.0, nan).to_bits(), 0x7fff_ffff);
        let xor = FloatModifiers { xor_sign_abs: true, ..PLAIN };
        assert_eq!(max(-3.0, 2.0, xor), -3.0);
        assert_eq!(min(-3.0, -2.0, xor), 2.0);
    }

    #[test]
    fn saturation_clamps_and_makes_nan_zero() {
        let sat = FloatModifiers { saturate: true, ..PLAIN };
        let add = |a, b| f32_binary(FloatOp::Add, Rounding::NearestEven, sat, a, b).to_bits();
        assert_eq!(add(0.75, 0.75), 1.0_f32.to_bits());
        assert_eq!(add(-0.75, 0.25), 0);
        assert_eq!(add(f32::NAN, 0.25), 0);
        assert_eq!(add(0.25, 0.25), 0.5_f32.to_bits());
    }

    #[test]
    fn flushing_takes_operands_and_results() {
        let ftz = FloatModifiers { flush: true, ..PLAIN };
        let tiny = f32::from_bits(1);
        let mul = |a, b, m| f32_binary(FloatOp::Mul, Rounding::NearestEven, m, a, b).to_bits();
        assert_eq!(mul(-tiny, 1.0, ftz), 0x8000_0000);
        assert_eq!(mul(f32::MIN_POSITIVE, 0.5, ftz), 0);
        assert_eq!(mul(f32::MIN_POSITIVE, 0.5, PLAIN), f32::MIN_POSITIVE.to_bits() / 2);
        assert_eq!(mul(tiny, f32::INFINITY, ftz), 0x7fff_ffff, "zero times infinity");
    }

    #[test]
    fn directed_rounding_of_one_third_and_of_sums() {
        let third = |r| f32_binary(FloatOp::Div, r, PLAIN, 1.0, 3.0).to_bits();
        assert_eq!(third(Rounding::Down), 0x3eaa_aaaa);
        assert_eq!(third(Rounding::Up), 0x3eaa_aaab);
        assert_eq!(third(Rounding::Zero), 0x3eaa_aaaa);
        let sum = |r| f32_binary(FloatOp::Add, r, PLAIN, 1.0, 1e-30);
        assert_eq!(sum(Rounding::Up), 1.0_f32.next_up());
        assert_eq!(sum(Rounding::Down), 1.0);
        assert_eq!(f32_binary(FloatOp::Add, Rounding::Zero, PLAIN, f32::MAX, f32::MAX), f32::MAX);
    }

    #[test]
    fn an_invalid_operation_gives_the_canonical_nan() {
        let bits = f32_binary(FloatOp::Sub, Rounding::NearestEven, PLAIN, f32::INFINITY, f32::INFINITY);
        assert_eq!(bits.to_bits(), 0x7fff_ffff);
    }

    #[test]
    fn halves_round_once() {
        // 1 + 2^-11 is a tie between 1 and 1 + 2^-10; the even one is 1
        let half = |v: u64| binary(FloatOp::Add, Type::F16, Accuracy::Default, PLAIN, 0x3c00, v);
        assert_eq!(half(0x1000), 0x3c00);
        assert_eq!(half(0x1001), 0x3c01);
        let pair = each_part(Type::F16x2, [0x3c00_4000, 0x3c00_3c00], |[a, b]| {
            binary(FloatOp::Add, Type::F16x2, Accuracy::Default, PLAIN, a, b)
        });
        assert_eq!(pair, 0x4000_4200);
    }

    #[test]
    fn approximate_functions_at_their_special_points() {
        let f = |op, v: f32| f32_of(unary(op, Type::F32, Accuracy::Approx, PLAIN, u64::from(v.to_bits())));
        assert_eq!(f(FloatUnaryOp::Ex2, f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(f(FloatUnaryOp::Lg2, 0.0), f32::NEG_INFINITY);
        assert_eq!(f(FloatUnaryOp::Rsqrt, -0.0), f32::NEG_INFINITY);
        assert_eq!(f(FloatUnaryOp::Rcp, f32::INFINITY).to_bits(), 0);
        assert_eq!(f(FloatUnaryOp::Sqrt, -1.0).to_bits(), 0x7fff_ffff);
        assert_eq!(f(FloatUnaryOp::Tanh, f32::INFINITY), 1.0);
        assert!(f(FloatUnaryOp::Sin, f32::INFINITY).is_nan());
    }
}
