//! What `--arg`, `--grid` and `--block` say: parsing, with errors that name what is wrong and what would be right.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};
use scoped_gpu::Dim3;

/// The types of scalars and of arrays' elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementType {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

/// One argument as it was asked for.
#[derive(Debug, Clone)]
pub enum Specification {
    /// A number by value; its text is read once the type is known.
    Scalar { ty: ElementType, value: String },
    /// An array.
    Array { ty: ElementType, length: Option<usize>, fill: Fill, read_only: bool },
}

/// What an array holds before the launch.
#[derive(Debug, Clone)]
pub enum Fill {
    /// 0, 1, 2, …
    Ramp,
    /// Reproducible noise.
    Random { seed: u64 },
    /// A number, the same everywhere.
    Number(String),
    /// The contents of a .npy file.
    File(PathBuf),
}

impl FromStr for ElementType {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "u8" => Self::U8,
            "i8" | "s8" => Self::I8,
            "u16" => Self::U16,
            "i16" | "s16" => Self::I16,
            "u32" => Self::U32,
            "i32" | "s32" => Self::I32,
            "u64" => Self::U64,
            "i64" | "s64" => Self::I64,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => bail!("no type is called `{name}`; types are u8 i8 u16 i16 u32 i32 u64 i64 f32 f64"),
        })
    }
}

impl FromStr for Specification {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (read_only, rest) = match text.strip_prefix("read:") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (left, right) = match rest.split_once('=') {
            Some((left, right)) => (left, Some(right)),
            None => (rest, None),
        };
        let Some((ty, length)) = left.split_once('[') else {
            let ty = left.parse()?;
            let value = right.context("a scalar needs a value, such as `u32=1000`")?;
            if read_only {
                bail!("`read:` is for arrays, such as `read:f32[1000]=ramp`");
            }
            return Ok(Self::Scalar { ty, value: value.to_owned() });
        };
        let ty = ty.parse()?;
        let length = length.strip_suffix(']').context("the length has no `]`, as in `f32[1000]`")?;
        let fill = right.unwrap_or("zero").parse()?;
        let length = match (length, &fill) {
            ("", Fill::File(_)) => None,
            ("", _) => bail!("only an array from a file may leave its length out, as in `f32[]=x.npy`"),
            (length, _) => {
                let read = length.parse();
                Some(read.with_context(|| format!("`{length}` is no length in elements"))?)
            }
        };
        Ok(Self::Array { ty, length, fill, read_only })
    }
}

impl FromStr for Fill {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "ramp" {
            return Ok(Self::Ramp);
        }
        if text == "zero" {
            return Ok(Self::Number("0".to_owned()));
        }
        if let Some(seed) = text.strip_prefix("random:") {
            let seed = seed.parse().with_context(|| format!("`{seed}` is no seed; write `random:7`"))?;
            return Ok(Self::Random { seed });
        }
        if text.ends_with(".npy") {
            return Ok(Self::File(text.into()));
        }
        if text.parse::<f64>().is_ok() {
            return Ok(Self::Number(text.to_owned()));
        }
        bail!("`{text}` fills no array; write zero, ramp, random:SEED, a number, or a file that ends in .npy")
    }
}

/// `4`, `4,2` or `4,2,1`; `x` in place of commas will do.
pub fn parse_shape(text: &str) -> Result<Dim3> {
    let axes: Vec<u32> = text
        .split([',', 'x'])
        .map(|axis| axis.trim().parse().with_context(|| format!("`{axis}` in `{text}` is no number")))
        .collect::<Result<_>>()?;
    match axes[..] {
        [x] => Ok(Dim3::new(x, 1, 1)),
        [x, y] => Ok(Dim3::new(x, y, 1)),
        [x, y, z] => Ok(Dim3::new(x, y, z)),
        _ => bail!("`{text}` has {} axes; there are three at most", axes.len()),
    }
}
