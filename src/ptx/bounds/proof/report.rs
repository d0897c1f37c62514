//! Why an access could not be proved, as a sentence for a person.

use std::fmt;

use super::Region;
use super::atoms::INFINITY;

/// Why an access is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The kernel's flow or declarations are not followed.
    Kernel(&'static str),
    /// The analysis took too long.
    TooMuchWork,
    /// It stands in a device function.
    InFunction,
    /// It is a call: what is called reads or writes by itself.
    Call,
    /// An instruction that is not supported.
    NotUnderstood,
    /// The address is a number.
    Absolute,
    /// The address counts from nothing that is known.
    NoBase {
        /// What made it.
        cause: Option<Cause>,
    },
    /// The address lies in another space than the instruction accesses.
    WrongSpace,
    /// Different rounds of a loop access different regions.
    SeveralRegions,
    /// The offset may leave the region.
    Range {
        /// Its least value in bytes, very negative where none is known.
        lo: i128,
        /// Its greatest, very large where none is known.
        hi: i128,
        /// Bytes of the access.
        size: u32,
        /// The region.
        region: Region,
        /// Its length in bytes.
        bytes: u64,
        /// What made it so wide.
        cause: Option<Cause>,
    },
}

/// A value of which little is known, and the line of PTX that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The result of an instruction that is not followed: a load, a shuffle, a product.
    Value(u32),
    /// Different paths bring different values here.
    Paths(u32),
    /// Changed by the rounds of the loop that begins here.
    Changed(u32),
    /// How often the loop that begins here goes around.
    Rounds(u32),
    /// Nothing is known of what an operand holds here.
    Operand(u32),
}

impl Cause {
    /// Causes that explain most come first.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Operand(_) => 0,
            Self::Value(_) => 1,
            Self::Paths(_) => 2,
            Self::Changed(_) => 3,
            Self::Rounds(_) => 4,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(line) => write!(f, "it depends on the result of line {line}"),
            Self::Paths(line) => write!(f, "it differs between the paths that meet at line {line}"),
            Self::Changed(line) => write!(f, "it changes in the loop that begins at line {line}"),
            Self::Rounds(line) => {
                write!(f, "it grows with the rounds of the loop that begins at line {line}")
            }
            Self::Operand(line) => write!(f, "line {line} uses a value of which nothing is known"),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer(index) => write!(f, "buffer {index}"),
            Self::Variable(_) => f.write_str("a variable"),
            Self::DynamicShared(_) => f.write_str("dynamic shared memory"),
            Self::Local(_) => f.write_str("a local variable"),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let because = |f: &mut fmt::Formatter<'_>, cause: &Option<Cause>| match cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        };
        match self {
            Self::Kernel(reason) => f.write_str(reason),
            Self::TooMuchWork => {
                f.write_str("the kernel is too big to be followed in the time that a launch has")
            }
            Self::InFunction => f.write_str("it stands in a device function, which is not followed"),
            Self::Call => f.write_str("a call is not followed"),
            Self::NotUnderstood => f.write_str("the instruction is not supported"),
            Self::Absolute => f.write_str("the address is a number, not counted from a buffer or variable"),
            Self::NoBase { cause } => {
                f.write_str("it is not known which buffer or variable the address counts from")?;
                because(f, cause)
            }
            Self::WrongSpace => f.write_str("the address is one of another space than is accessed"),
            Self::SeveralRegions => f.write_str("different rounds of a loop access different buffers"),
            Self::Range { lo, hi, size, region, bytes, cause } => {
                write!(f, "the {size} bytes at offset ")?;
                match (*lo == -INFINITY, *hi == INFINITY) {
                    (false, false) if lo == hi => write!(f, "{lo}")?,
                    (false, false) => write!(f, "{lo} to {hi}")?,
                    (false, true) => write!(f, "{lo} and beyond")?,
                    (true, false) => write!(f, "up to {hi}")?,
                    (true, true) => f.write_str("anywhere")?,
                }
                write!(f, " may leave the {bytes} bytes of {region}")?;
                because(f, cause)
            }
        }
    }
}
