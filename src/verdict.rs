//! What is known of a launch before it runs, in words: the report of [`Kernel::verdict`](crate::Kernel::verdict). The
//! proof is `ptx::bounds`' affair.

use std::fmt;

use crate::dim::Dim3;
use crate::fault::{AccessKind, SourceLine, Space};

/// Which accesses of a kernel are proved to be in range for one launch, and why the others are not.
///
/// [`Display`](fmt::Display) writes a summary and a line for each access. The same launch has the same verdict on every
/// device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The kernel's name.
    pub kernel: String,
    /// The module's name.
    pub module: String,
    /// Blocks; all 0 if there is nothing to launch.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Every place that touches memory other than parameters, in the order of the PTX: the kernel's own, then those of
    /// functions that it may call.
    pub accesses: Vec<AccessVerdict>,
    /// It has `trap`, assertions or calls, so that a CUDA device runs a version with a record though all be proved.
    pub stops: bool,
    /// Why a CUDA device refuses to launch it checked; `None` if it does not.
    pub refused: Option<String>,
}

/// The verdict on one access.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessVerdict {
    /// Line of the PTX, counted from 1.
    pub line: u32,
    /// The instruction.
    pub text: String,
    /// The line that it was compiled from, where `.loc` says so.
    pub source: Option<SourceLine>,
    /// The function that it stands in, where that is not the kernel itself.
    pub function: Option<String>,
    /// What it does; `None` for what is not understood, which may do anything.
    pub kind: Option<AccessKind>,
    /// The space of its address.
    pub space: Space,
    /// Its size in bytes, all elements of a vector together; 0 where it has none.
    pub bytes: u32,
    /// What was found out.
    pub outcome: Outcome,
}

/// What was found out about an access.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is in range, aligned and allowed, whatever the memory holds: a CUDA device does not check it.
    Proved {
        /// The buffer or variable.
        memory: String,
        /// Its length in bytes.
        length: u64,
        /// The least byte of it that is touched, or less.
        first: u64,
        /// The greatest byte of it that is touched, or more.
        last: u64,
    },
    /// No thread of the launch comes here.
    NotReached,
    /// It is checked as it runs.
    Checked {
        /// What could not be proved, with the numbers.
        why: String,
    },
}

impl Verdict {
    /// How many accesses need no check.
    #[must_use]
    pub fn proved(&self) -> usize {
        self.accesses.iter().filter(|access| !matches!(access.outcome, Outcome::Checked { .. })).count()
    }

    /// Whether no access needs a check.
    #[must_use]
    pub fn all_proved(&self) -> bool {
        self.proved() == self.accesses.len()
    }

    /// The accesses that are checked as they run.
    pub fn checked(&self) -> impl Iterator<Item = &AccessVerdict> {
        self.accesses.iter().filter(|access| matches!(access.outcome, Outcome::Checked { .. }))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, module, grid, block, .. } = self;
        write!(f, "kernel `{kernel}`, grid {grid}, block {block}: ")?;
        if grid.count() == 0 {
            return f.write_str("nothing is launched");
        }
        let (proved, all) = (self.proved(), self.accesses.len());
        let are = |count| if count == 1 { "is" } else { "are" };
        match all - proved {
            0 if all == 0 => f.write_str("no access to memory")?,
            0 => write!(f, "{all} of {all} accesses proved")?,
            open => write!(f, "{proved} of {all} accesses proved; {open} {} checked", are(open))?,
        }
        for access in &self.accesses {
            write!(f, "\n  {module}:{}: {access}", access.line)?;
        }
        if self.stops && self.all_proved() {
            f.write_str(
                "\n  note: it can stop by itself (`trap`, an assertion, a call), which a CUDA device records",
            )?;
        }
        if let Some(refused) = &self.refused {
            write!(f, "\n  note: a CUDA device refuses to launch it checked: {refused}")?;
        }
        Ok(())
    }
}

impl fmt::Display for AccessVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{}-byte {kind} ({} memory)", self.bytes, self.space)?,
            None => write!(f, "`{}`", self.text)?,
        }
        if let Some(function) = &self.function {
            write!(f, " in `{function}`")?;
        }
        if let Some(SourceLine { file, line }) = &self.source {
            write!(f, " from {file}:{line}")?;
        }
        match &self.outcome {
            Outcome::Proved { memory, length, first, last } => {
                write!(f, ": proved, in bytes {first} to {last} of {length} in {memory}")
            }
            Outcome::NotReached => f.write_str(": no thread comes here"),
            Outcome::Checked { why } => write!(f, ": checked, because {why}"),
        }
    }
}
