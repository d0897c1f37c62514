//! Exact binary floating point on bit patterns, for every format and rounding direction that the processor
//! does not offer: f16, bf16, tf32, the 8-bit formats, and f32/f64 towards zero, down and up.
//! What an instruction does with NaN, `.ftz` or `.sat` is in `float`.

use crate::ptx::ir::Rounding;

/// A binary format: sign, exponent, fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) exponent_bits: u32,
    pub(super) fraction_bits: u32,
    /// Like E4M3: no infinity, and only the all-ones pattern is NaN.
    pub(super) finite: bool,
}

pub(super) const F16: Format = Format { exponent_bits: 5, fraction_bits: 10, finite: false };
pub(super) const BF16: Format = Format { exponent_bits: 8, fraction_bits: 7, finite: false };
pub(super) const TF32: Format = Format { exponent_bits: 8, fraction_bits: 10, finite: false };
pub(super) const F32: Format = Format { exponent_bits: 8, fraction_bits: 23, finite: false };
pub(super) const F64: Format = Format { exponent_bits: 11, fraction_bits: 52, finite: false };
pub(super) const E4M3: Format = Format { exponent_bits: 4, fraction_bits: 3, finite: true };
pub(super) const E5M2: Format = Format { exponent_bits: 5, fraction_bits: 2, finite: false };

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    pub(super) const fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits)
    }

    pub(super) const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// The largest finite value.
    pub(super) const fn largest(self) -> u64 {
        if self.finite { self.sign_bit() - 2 } else { self.infinity() - 1 }
    }

    /// The NaN that PTX calls canonical: all exponent and fraction bits set.
    pub(super) const fn nan(self) -> u64 {
        self.sign_bit() - 1
    }

    pub(super) const fn is_nan(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign_bit() - 1);
        if self.finite { magnitude == self.nan() } else { magnitude > self.infinity() }
    }

    pub(super) const fn is_infinite(self, bits: u64) -> bool {
        !self.finite && bits & (self.sign_bit() - 1) == self.infinity()
    }

    pub(super) const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign_bit() - 1);
        magnitude != 0 && magnitude < 1 << self.fraction_bits
    }

    pub(super) const fn is_zero(self, bits: u64) -> bool {
        bits & (self.sign_bit() - 1) == 0
    }
}

/// A finite value `± magnitude × 2^exponent`. Bit 0 of the magnitude may stand for "and a little more".
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) exponent: i32,
    pub(super) magnitude: u128,
}

/// The value of a pattern that is neither NaN nor infinite.
pub(super) fn exact(bits: u64, format: Format) -> Exact {
    let negative = bits & format.sign_bit() != 0;
    let fraction = bits & ((1 << format.fraction_bits) - 1);
    let field = (bits >> format.fraction_bits & ((1 << format.exponent_bits) - 1)) as i32;
    let lowest = 1 - format.bias() - format.fraction_bits as i32;
    match field {
        0 => Exact { negative, exponent: lowest, magnitude: u128::from(fraction) },
        _ => Exact {
            negative,
            exponent: lowest + field - 1,
            magnitude: u128::from(fraction | 1 << format.fraction_bits),
        },
    }
}

/// Does a value between two neighbours go to the one of larger magnitude? `rest` compares it to the middle.
fn away(rounding: Rounding, negative: bool, odd: bool, rest: std::cmp::Ordering) -> bool {
    use std::cmp::Ordering::{Equal, Greater};
    match rounding {
        Rounding::NearestEven => rest == Greater || (rest == Equal && odd),
        Rounding::NearestAway => rest != std::cmp::Ordering::Less,
        Rounding::Zero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    }
}

/// `magnitude / 2^shift` rounded to an integer.
pub(super) fn shift_rounded(magnitude: u128, shift: u32, negative: bool, rounding: Rounding) -> u128 {
    if shift == 0 || magnitude == 0 {
        return magnitude;
    }
    if shift > 127 {
        return u128::from(away(rounding, negative, false, std::cmp::Ordering::Less));
    }
    let kept = magnitude >> shift;
    let lost = magnitude & ((1 << shift) - 1);
    if lost == 0 {
        return kept;
    }
    kept + u128::from(away(rounding, negative, kept & 1 == 1, lost.cmp(&(1 << (shift - 1)))))
}

/// The pattern of `value` rounded to `format`. Overflow gives infinity or the largest value, as the direction says.
pub(super) fn round(value: Exact, format: Format, rounding: Rounding) -> u64 {
    let sign = if value.negative { format.sign_bit() } else { 0 };
    if value.magnitude == 0 {
        return sign;
    }
    let top = 127 - value.magnitude.leading_zeros() as i32;
    let lowest = 1 - format.bias() - format.fraction_bits as i32;
    let unit = (value.exponent + top - format.fraction_bits as i32).max(lowest);
    let shift = unit - value.exponent;
    let rounded = match shift {
        ..=0 => value.magnitude << -shift,
        _ => shift_rounded(value.magnitude, shift as u32, value.negative, rounding),
    } as u64;
    // A fraction that carries into the next power of two is the right pattern by itself.
    let pattern = rounded + (((unit - lowest) as u64) << format.fraction_bits);
    if pattern <= format.largest() {
        return sign | pattern;
    }
    let to_infinity = match rounding {
        Rounding::NearestEven | Rounding::NearestAway => true,
        Rounding::Zero => false,
        Rounding::Down => value.negative,
        Rounding::Up => !value.negative,
    };
    match (to_infinity, format.finite) {
        (true, false) => sign | format.infinity(),
        (true, true) => sign | format.nan(),
        (false, _) => sign | format.largest(),
    }
}

/// Shifts right, keeping "something was lost" in bit 0.
fn shift_sticky(magnitude: u128, shift: u32) -> u128 {
    match shift {
        0 => magnitude,
        128.. => u128::from(magnitude != 0),
        _ => magnitude >> shift | u128::from(magnitude << (128 - shift) != 0),
    }
}

/// `a + b`, exact but for bit 0 of the magnitude; an exact zero of two signs is negative when rounding down.
pub(super) fn add(a: Exact, b: Exact, rounding: Rounding) -> Exact {
    if a.magnitude == 0 && b.magnitude == 0 {
        let negative = if a.negative == b.negative { a.negative } else { rounding == Rounding::Down };
        return Exact { negative, exponent: 0, magnitude: 0 };
    }
    if a.magnitude == 0 {
        return b;
    }
    if b.magnitude == 0 {
        return a;
    }
    // Both with their top bit at 125: sums do not overflow, and a difference that cancels far loses nothing.
    let [a, b] = [a, b].map(|v| {
        let left = v.magnitude.leading_zeros() as i32 - 2;
        match left {
            0.. => Exact { magnitude: v.magnitude << left, exponent: v.exponent - left, ..v },
            _ => {
                Exact { magnitude: shift_sticky(v.magnitude, -left as u32), exponent: v.exponent - left, ..v }
            }
        }
    });
    let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let low_magnitude = shift_sticky(low.magnitude, (high.exponent - low.exponent) as u32);
    let exponent = high.exponent;
    if high.negative == low.negative {
        return Exact { negative: high.negative, exponent, magnitude: high.magnitude + low_magnitude };
    }
    match high.magnitude.cmp(&low_magnitude) {
        std::cmp::Ordering::Equal => {
            Exact { negative: rounding == Rounding::Down, exponent: 0, magnitude: 0 }
        }
        std::cmp::Ordering::Greater => {
            Exact { negative: high.negative, exponent, magnitude: high.magnitude - low_magnitude }
        }
        std::cmp::Ordering::Less => {
            Exact { negative: low.negative, exponent, magnitude: low_magnitude - high.magnitude }
        }
    }
}

/// `a × b`, exact.
pub(super) fn multiply(a: Exact, b: Exact) -> Exact {
    Exact {
        negative: a.negative != b.negative,
        exponent: a.exponent + b.exponent,
        magnitude: a.magnitude * b.magnitude,
    }
}

/// `a / b` for a `b` that is not zero, exact but for bit 0 of the magnitude.
pub(super) fn divide(a: Exact, b: Exact) -> Exact {
    let negative = a.negative != b.negative;
    if a.magnitude == 0 {
        return Exact { negative, exponent: 0, magnitude: 0 };
    }
    // One bit stays free for the sticky one: a divisor of 1, the smallest subnormal, leaves the quotient as wide.
    let left = a.magnitude.leading_zeros().saturating_sub(1);
    let dividend = a.magnitude << left;
    let quotient = dividend / b.magnitude;
    let sticky = u128::from(!dividend.is_multiple_of(b.magnitude));
    Exact { negative, exponent: a.exponent - left as i32 - b.exponent - 1, magnitude: quotient << 1 | sticky }
}

/// The square root of a value that is not negative, exact but for bit 0 of the magnitude.
pub(super) fn square_root(a: Exact) -> Exact {
    if a.magnitude == 0 {
        return a;
    }
    let mut left = a.magnitude.leading_zeros() as i32;
    if (a.exponent - left) % 2 != 0 {
        left -= 1;
    }
    let (square, exponent) = if left >= 0 {
        (a.magnitude << left, a.exponent - left)
    } else {
        (shift_sticky(a.magnitude, 1), a.exponent + 1)
    };
    let root = square.isqrt();
    let sticky = u128::from(root * root != square);
    Exact { negative: a.negative, exponent: exponent / 2 - 1, magnitude: root << 1 | sticky }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Rounding; 4] = [Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up];

    /// A small generator, so that the cases are the same on every machine.
    fn patterns(count: usize) -> impl Iterator<Item = u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        (0..count).map(move |i| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // every third value near the subnormals, every fifth with few fraction bits
            let value = if i % 3 == 0 { state & !(0x7fe << 52) } else { state };
            if i % 5 == 0 { value & !((1 << 40) - 1) } else { value }
        })
    }

    fn finite(bits: u64) -> bool {
        f64::from_bits(bits).is_finite()
    }

    #[test]
    fn to_nearest_agrees_with_the_processor_in_f64() {
        let values: Vec<u64> = patterns(3000).filter(|&v| finite(v)).collect();
        for pair in values.windows(3) {
            let [x, y, z] = [pair[0], pair[1], pair[2]].map(|v| exact(v, F64));
            let [a, b, c] = [pair[0], pair[1], pair[2]].map(f64::from_bits);
            let near = |v| f64::from_bits(round(v, F64, Rounding::NearestEven));
            assert_eq!(near(add(x, y, Rounding::NearestEven)).to_bits(), (a + b).to_bits());
            assert_eq!(near(multiply(x, y)).to_bits(), (a * b).to_bits());
            if b != 0.0 {
                assert_eq!(near(divide(x, y)).to_bits(), (a / b).to_bits());
            }
            let fused = add(multiply(x, y), z, Rounding::NearestEven);
            assert_eq!(near(fused).to_bits(), a.mul_add(b, c).to_bits(), "{a:e} * {b:e} + {c:e}");
            let magnitude = Exact { negative: false, ..x };
            assert_eq!(near(square_root(magnitude)).to_bits(), a.abs().sqrt().to_bits());
        }
    }

    #[test]
    fn f32_to_nearest_agrees_with_the_conversion_of_the_processor() {
        for bits in patterns(3000).filter(|&v| finite(v)) {
            let expected = (f64::from_bits(bits) as f32).to_bits();
            assert_eq!(round(exact(bits, F64), F32, Rounding::NearestEven) as u32, expected);
        }
    }

    #[test]
    fn directed_results_enclose_the_exact_one() {
        for bits in patterns(2000).filter(|&v| finite(v)) {
            let value = f64::from_bits(bits);
            let [near, zero, down, up] =
                ALL.map(|r| f64::from(f32::from_bits(round(exact(bits, F64), F32, r) as u32)));
            assert!(down <= value && value <= up, "{value:e}");
            assert!(near == down || near == up);
            assert_eq!(zero, if value < 0.0 { up } else { down });
            if f64::from(value as f32) == value {
                assert!(down == value && up == value);
            }
        }
    }

    #[test]
    fn an_exact_zero_is_negative_only_when_rounding_down() {
        let one = exact(1.0_f64.to_bits(), F64);
        let minus = Exact { negative: true, ..one };
        for rounding in ALL {
            let bits = round(add(one, minus, rounding), F64, rounding);
            assert_eq!(f64::from_bits(bits).is_sign_negative(), rounding == Rounding::Down);
        }
    }

    #[test]
    fn overflow_follows_the_direction() {
        let big = exact(1e300_f64.to_bits(), F64);
        assert_eq!(round(big, F32, Rounding::NearestEven), F32.infinity());
        assert_eq!(round(big, F32, Rounding::Zero), F32.largest());
        assert_eq!(round(big, F32, Rounding::Down), F32.largest());
        assert_eq!(round(Exact { negative: true, ..big }, F32, Rounding::Up), F32.sign_bit() | F32.largest());
        assert_eq!(E4M3.largest(), 0x7e, "448, the largest E4M3 value");
    }
}
