//! Types and values of the tables: text to bits, and the comparison of what came out.

use crate::format::Tolerance;
use crate::half;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Pred,
    /// `b`, `s` or `u`, of 8, 16, 32 or 64 bits.
    Bits(u32),
    F16,
    Bf16,
    F32,
    F64,
    F16x2,
    Bf16x2,
}

/// A value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Bits(u64),
    /// Any NaN of the type.
    Nan(u64),
    /// Not fixed.
    Any,
}

impl Value {
    /// The bits that go in.
    pub fn bits(self) -> Result<u64, String> {
        match self {
            Self::Bits(bits) | Self::Nan(bits) => Ok(bits),
            Self::Any => Err("`?` stands for results only".to_owned()),
        }
    }
}

impl Type {
    pub fn from_name(name: &str) -> Result<Self, String> {
        Ok(match name {
            "pred" => Self::Pred,
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "f16x2" => Self::F16x2,
            "bf16x2" => Self::Bf16x2,
            _ => match name.trim_start_matches(['b', 's', 'u']) {
                "8" => Self::Bits(8),
                "16" => Self::Bits(16),
                "32" => Self::Bits(32),
                "64" => Self::Bits(64),
                _ => return Err(format!("there is no type `{name}`")),
            },
        })
    }

    /// Bits of a value.
    pub fn width(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::Bits(bits) => bits,
            Self::F16 | Self::Bf16 => 16,
            Self::F32 | Self::F16x2 | Self::Bf16x2 => 32,
            Self::F64 => 64,
        }
    }

    /// Bits of the register that holds it.
    pub fn register(self) -> u32 {
        self.width().max(16)
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }

    /// The number that bits of a float type stand for.
    pub fn number(self, bits: u64) -> Option<f64> {
        match self {
            Self::F16 => Some(f64::from(half::from_f16(bits as u16))),
            Self::Bf16 => Some(f64::from(f32::from_bits((bits as u32) << 16))),
            Self::F32 => Some(f64::from(f32::from_bits(bits as u32))),
            Self::F64 => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Explicit bits of the fraction, and exponent of the smallest normal number.
    fn precision(self) -> (i32, i32) {
        match self {
            Self::F16 => (10, -14),
            Self::Bf16 => (7, -126),
            Self::F64 => (52, -1022),
            _ => (23, -126),
        }
    }
}

/// Reads one value.
pub fn parse_value(ty: Type, text: &str) -> Result<Value, String> {
    let wrong = || format!("`{text}` is no value of {ty:?}");
    if text == "?" {
        return Ok(Value::Any);
    }
    let part = match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    };
    if let (Some(part), Some((low, high))) = (part, text.split_once(',')) {
        let [low, high] = [low, high].map(|half| parse_value(part, half).and_then(Value::bits));
        return Ok(Value::Bits(low? | high? << 16));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(digits, 16).map_err(|_| wrong())?;
        return if bits & !ty.mask() == 0 { Ok(Value::Bits(bits)) } else { Err(wrong()) };
    }
    let bits = match ty {
        Type::Pred => text.parse::<u64>().ok().filter(|bit| *bit < 2).ok_or_else(wrong)?,
        Type::Bits(_) => {
            let number: i128 = text.parse().map_err(|_| wrong())?;
            let fits = number < 1 << ty.width() && number >= -(1 << (ty.width() - 1));
            if !fits {
                return Err(wrong());
            }
            number as u64 & ty.mask()
        }
        Type::F32 => u64::from(text.parse::<f32>().map_err(|_| wrong())?.to_bits()),
        Type::F64 => text.parse::<f64>().map_err(|_| wrong())?.to_bits(),
        Type::F16 => u64::from(half::to_f16(text.parse().map_err(|_| wrong())?)),
        Type::Bf16 => {
            let bits = text.parse::<f32>().map_err(|_| wrong())?.to_bits();
            if bits & 0xffff != 0 {
                return Err(wrong());
            }
            u64::from(bits >> 16)
        }
        Type::F16x2 | Type::Bf16x2 => return Err(wrong()),
    };
    Ok(if text == "nan" { Value::Nan(bits) } else { Value::Bits(bits) })
}

/// Reads a list: values, `v*n`, `a..b`, `a..b/step`.
pub fn parse_list(ty: Type, text: &str) -> Result<Vec<Value>, String> {
    let mut values = Vec::new();
    for word in text.split_whitespace() {
        if let Some((first, rest)) = word.split_once("..") {
            let (last, step) = rest.split_once('/').unwrap_or((rest, "1"));
            let number = |text: &str| text.parse::<i64>().map_err(|_| format!("`{word}` is no range"));
            let (first, last, step) = (number(first)?, number(last)?, number(step)?);
            if step == 0 {
                return Err(format!("`{word}` never ends"));
            }
            let mut next = first;
            while (step > 0 && next <= last) || (step < 0 && next >= last) {
                values.push(parse_value(ty, &next.to_string())?);
                next += step;
            }
        } else if let Some((value, count)) = word.split_once('*') {
            let count: usize = count.parse().map_err(|_| format!("`{word}` is no repetition"))?;
            values.extend(std::iter::repeat_n(parse_value(ty, value)?, count));
        } else {
            values.push(parse_value(ty, word)?);
        }
    }
    Ok(values)
}

/// Does `got` agree with what the table says?
pub fn agrees(ty: Type, expected: Value, got: u64, tolerance: Tolerance) -> bool {
    let got = got & ty.mask();
    let bits = match expected {
        Value::Any => return true,
        Value::Nan(_) => return ty.number(got).is_some_and(f64::is_nan),
        Value::Bits(bits) => bits,
    };
    if got == bits {
        return true;
    }
    let (Some(wanted), Some(number)) = (ty.number(bits), ty.number(got)) else { return false };
    let off = (wanted - number).abs();
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::Absolute(most) => off <= most,
        Tolerance::Relative(most) => off <= most * wanted.abs(),
        Tolerance::Ulps(most) => {
            let (fraction, smallest) = ty.precision();
            let exponent = if wanted == 0.0 { smallest } else { wanted.abs().log2().floor() as i32 };
            off <= most * f64::from(exponent.max(smallest) - fraction).exp2()
        }
    }
}

/// A value as a person reads it: bits, and the number if it is a float.
pub fn show(ty: Type, bits: u64) -> String {
    let bits = bits & ty.mask();
    match ty.number(bits) {
        Some(number) => format!("{bits:#x} ({number:e})"),
        None => format!("{bits:#x}"),
    }
}

/// The same for what a table expects.
pub fn show_expected(ty: Type, value: Value) -> String {
    match value {
        Value::Bits(bits) => show(ty, bits),
        Value::Nan(_) => "a NaN".to_owned(),
        Value::Any => "anything".to_owned(),
    }
}
