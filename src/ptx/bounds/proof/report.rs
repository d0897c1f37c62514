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

impl Cause {
    /// A clause; `line` says which line is meant.
    fn in_words(&self, line: &dyn Fn(u32) -> String) -> String {
        match self {
            Self::Value(at) => format!("it depends on the result of {}", line(*at)),
            Self::Paths(at) => format!("it differs between the paths that meet at {}", line(*at)),
            Self::Changed(at) => format!("it changes in the loop that begins at {}", line(*at)),
            Self::Rounds(at) => {
                format!("it grows with the rounds of the loop that begins at {}", line(*at))
            }
            Self::Operand(at) => format!("nothing is known of a value that is used by {}", line(*at)),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&|line| format!("line {line}")))
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

impl Why {
    /// A sentence without its end, in which `region` says what a region is called and `line` which line is meant.
    pub fn in_words(&self, region_name: &dyn Fn(Region) -> String, line: &dyn Fn(u32) -> String) -> String {
        let because = |cause: &Option<Cause>| {
            cause.map_or_else(String::new, |cause| format!("; {}", cause.in_words(line)))
        };
        let plain = match self {
            Self::Kernel(reason) => reason,
            Self::TooMuchWork => "the kernel is too big to be followed in the time that a launch has",
            Self::InFunction => "it stands in a device function, which is not followed",
            Self::Call => "a call is not followed",
            Self::NotUnderstood => "the instruction is not supported",
            Self::Absolute => "the address is a number, not counted from a buffer or variable",
            Self::WrongSpace => "the address is one of another space than is accessed",
            Self::SeveralRegions => "different rounds of a loop access different buffers",
            Self::NoBase { cause } => {
                let because = because(cause);
                return format!("it is not known which buffer or variable the address counts from{because}");
            }
            Self::Range { lo, hi, size, region, bytes, cause } => {
                let offset = match (*lo == -INFINITY, *hi == INFINITY) {
                    (false, false) if lo == hi => lo.to_string(),
                    (false, false) => format!("{lo} to {hi}"),
                    (false, true) => format!("{lo} and beyond"),
                    (true, false) => format!("up to {hi}"),
                    (true, true) => "anywhere".to_owned(),
                };
                let (region, because) = (region_name(*region), because(cause));
                return format!(
                    "the {size} bytes at offset {offset} may leave the {bytes} bytes of {region}{because}"
                );
            }
        };
        plain.to_owned()
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&|region| region.to_string(), &|line| format!("line {line}")))
    }
}
