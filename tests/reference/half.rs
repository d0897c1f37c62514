//! IEEE binary16 as bits, for kernels whose arrays hold `f16`. Conversions only.

/// The value of a binary16. Exact.
pub fn from_f16(bits: u16) -> f32 {
    let (exponent, fraction) = (bits >> 10 & 0x1f, f32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The binary16 nearest to `value`, ties to even. Overflow gives infinity.
pub fn to_f16(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return 0x7fff;
    }
    // The spacing of binary16 numbers around `magnitude`: 2^(exponent - 10), and 2^-24 below 2^-14.
    let mut exponent = -14;
    while exponent < 16 && magnitude >= 2f64.powi(exponent + 1) {
        exponent += 1;
    }
    if exponent == 16 {
        return sign | 0x7c00;
    }
    let units = (magnitude * 2f64.powi(10 - exponent)).round_ties_even() as u16;
    // `units` carries the implicit bit, so adding it to the exponent field moves a full binade up by itself,
    // to infinity at the end.
    let field = ((exponent + 14) as u16) << 10;
    sign | (field + units)
}
