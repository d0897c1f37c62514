//! Arguments of a type chosen at run time: an array in device memory behind a trait, its contents before the launch,
//! its summary and its .npy file after it.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context as _, Result, ensure};
use npyz::WriterBuilder as _;
use scoped_gpu::{Buffer, Context, DynamicArgument, Read, ReadWrite, Scalar};

use crate::argument::{ElementType, Fill, Specification};

/// Elements shown at either end of an array.
const SHOWN: usize = 4;

/// An argument of a launch, of any type.
pub trait Prepared<'ctx> {
    /// For the launch; borrows the array until that has been queued.
    fn argument(&mut self) -> DynamicArgument<'_, 'ctx>;

    /// What it holds now, in a line or two; `None` for a number.
    fn summary(&self) -> Result<Option<String>>;

    /// Writes what it holds now to a .npy file.
    fn save(&self, path: &Path) -> Result<()>;
}

/// A number that can be an argument, an element, and a NumPy array's element.
trait Number:
    Scalar
    + FromStr<Err: Display>
    + Display
    + PartialOrd
    + npyz::Deserialize
    + npyz::Serialize
    + npyz::AutoSerialize
{
    /// `index` as this type; wraps where the type is narrow.
    fn ramp(index: usize) -> Self;
    /// Every value of an integer, or a float in [-1, 1), from random bits.
    fn random(bits: u64) -> Self;
    /// For the mean.
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($(($($ty:ty)+): $random:expr;)+) => {$($(
        impl Number for $ty {
            fn ramp(index: usize) -> Self {
                index as Self
            }

            fn random(bits: u64) -> Self {
                let random: fn(u64) -> _ = $random;
                random(bits) as Self
            }

            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )+)+};
}

numbers! {
    (u8 i8 u16 i16 u32 i32 u64 i64): |bits| bits;
    // 24 bits, so that the conversion to either float is exact
    (f32 f64): |bits| (bits >> 40) as f64 / f64::from(1 << 23) - 1.0;
}

/// Puts the argument on the device.
pub fn prepare<'ctx>(ctx: &Context<'ctx>, wanted: &Specification) -> Result<Box<dyn Prepared<'ctx> + 'ctx>> {
    match wanted {
        Specification::Scalar { ty, .. } | Specification::Array { ty, .. } => match ty {
            ElementType::U8 => typed::<u8>(ctx, wanted),
            ElementType::I8 => typed::<i8>(ctx, wanted),
            ElementType::U16 => typed::<u16>(ctx, wanted),
            ElementType::I16 => typed::<i16>(ctx, wanted),
            ElementType::U32 => typed::<u32>(ctx, wanted),
            ElementType::I32 => typed::<i32>(ctx, wanted),
            ElementType::U64 => typed::<u64>(ctx, wanted),
            ElementType::I64 => typed::<i64>(ctx, wanted),
            ElementType::F32 => typed::<f32>(ctx, wanted),
            ElementType::F64 => typed::<f64>(ctx, wanted),
        },
    }
}

fn typed<'ctx, T: Number>(
    ctx: &Context<'ctx>,
    wanted: &Specification,
) -> Result<Box<dyn Prepared<'ctx> + 'ctx>> {
    match wanted {
        Specification::Scalar { value, .. } => Ok(Box::new(ByValue(number::<T>(value)?))),
        Specification::Array { length, fill, read_only, .. } => {
            let contents = contents::<T>(*length, fill)?;
            let mut buffer = ctx.buffer::<T>(contents.len())?;
            buffer.copy_from_host(&contents)?;
            Ok(Box::new(Array { buffer, read_only: *read_only }))
        }
    }
}

fn number<T: Number>(text: &str) -> Result<T> {
    text.parse().map_err(|error| anyhow::anyhow!("`{text}` is no {}: {error}", T::NAME))
}

fn contents<T: Number>(length: Option<usize>, fill: &Fill) -> Result<Vec<T>> {
    let len = length.unwrap_or_default();
    Ok(match fill {
        Fill::Ramp => (0..len).map(T::ramp).collect(),
        Fill::Random { seed } => noise(*seed).take(len).map(T::random).collect(),
        Fill::Number(text) => vec![number(text)?; len],
        Fill::File(path) => {
            let contents = load::<T>(path).with_context(|| format!("cannot read {}", path.display()))?;
            let fits = length.is_none_or(|length| length == contents.len());
            ensure!(fits, "{} has {} elements, {len} are asked for", path.display(), contents.len());
            contents
        }
    })
}

/// Xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
fn noise(seed: u64) -> impl Iterator<Item = u64> {
    // any state but 0; neighbouring seeds are driven apart
    let mut state = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9).max(1);
    std::iter::repeat_with(move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    })
}

/// The file's elements in the order in which they stand.
fn load<T: Number>(path: &Path) -> Result<Vec<T>> {
    let file = npyz::NpyFile::new(BufReader::new(File::open(path)?))?;
    Ok(file.into_vec()?)
}

/// A number passed by value.
struct ByValue<T>(T);

impl<'ctx, T: Number> Prepared<'ctx> for ByValue<T> {
    fn argument(&mut self) -> DynamicArgument<'_, 'ctx> {
        DynamicArgument::new::<T>(self.0)
    }

    fn summary(&self) -> Result<Option<String>> {
        Ok(None)
    }

    fn save(&self, _: &Path) -> Result<()> {
        anyhow::bail!("it is a number, not an array")
    }
}

/// An array in device memory.
struct Array<'ctx, T> {
    buffer: Buffer<'ctx, T>,
    read_only: bool,
}

impl<'ctx, T: Number> Prepared<'ctx> for Array<'ctx, T> {
    fn argument(&mut self) -> DynamicArgument<'_, 'ctx> {
        match self.read_only {
            true => DynamicArgument::new::<Read<T>>(&self.buffer),
            false => DynamicArgument::new::<ReadWrite<T>>(&mut self.buffer),
        }
    }

    fn summary(&self) -> Result<Option<String>> {
        let contents = self.buffer.to_vec()?;
        Ok(Some(format!("{}[{}]{}", T::NAME, contents.len(), summary(&contents))))
    }

    fn save(&self, path: &Path) -> Result<()> {
        let contents = self.buffer.to_vec()?;
        let file = BufWriter::new(File::create(path)?);
        let options = npyz::WriteOptions::new().default_dtype().shape(&[contents.len() as u64]);
        let mut writer = options.writer(file).begin_nd()?;
        writer.extend(contents)?;
        Ok(writer.finish()?)
    }
}

/// The elements at both ends, and figures over all of them. NaN counts towards the mean, not towards the extremes.
fn summary<T: Number>(contents: &[T]) -> String {
    let Some(&first) = contents.first() else { return String::new() };
    let shown = |elements: &[T]| elements.iter().map(T::to_string).collect::<Vec<_>>().join(", ");
    let mut out = match contents.len() {
        len if len <= 2 * SHOWN => format!("\n    {}", shown(contents)),
        len => format!("\n    {}, … {}", shown(&contents[..SHOWN]), shown(&contents[len - SHOWN..])),
    };
    let (mut least, mut most) = (first, first);
    for &element in contents {
        // a NaN in front gives way to the first number
        if element < least || least.partial_cmp(&least).is_none() {
            least = element;
        }
        if element > most || most.partial_cmp(&most).is_none() {
            most = element;
        }
    }
    let mean = contents.iter().map(|element| element.to_f64()).sum::<f64>() / contents.len() as f64;
    _ = write!(out, "\n    min {least}, max {most}, mean {mean}, checksum {:016x}", checksum(contents));
    out
}

/// FNV-1a, 64 bits, over the elements' bytes (Fowler, Noll, Vo; draft-eastlake-fnv).
fn checksum<T: Number>(contents: &[T]) -> u64 {
    let bytes: &[u8] = bytemuck::cast_slice(contents);
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
