//! Which accesses get a check, and what a person or a device needs to know of each afterwards.

use std::collections::BTreeMap;

use crate::ptx::ir::{MemoryAccessKind, Space};
use crate::ptx::source::Span;

/// What is still to be checked of an access that was not proved whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Whether it lies in its buffer (and may write there).
    pub range: bool,
    /// Whether its address is a multiple of its size.
    pub alignment: bool,
}

impl Open {
    /// Nothing is known.
    pub const WHOLLY: Self = Self { range: true, alignment: true };
}

/// The accesses of a kernel that need a check. Those of device functions that it calls are always checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteSet {
    /// Every access.
    All,
    /// The accesses of these instructions, by index into the kernel's code; the others were proved.
    These(BTreeMap<u32, Open>),
}

impl SiteSet {
    pub(super) fn get(&self, pc: u32) -> Option<Open> {
        match self {
            Self::All => Some(Open::WHOLLY),
            Self::These(open) => open.get(&pc).copied().filter(|open| open.range || open.alignment),
        }
    }
}

/// What a site does wrong when it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// An access out of range, misaligned, or a write to what may only be read.
    Access(MemoryAccessKind),
    /// `trap`
    Trap,
    /// A failed assertion.
    Assert,
    /// A jump back, when the launch's budget was spent.
    Steps,
}

/// What the address in a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedAddress {
    /// The address itself, generic or of global memory.
    Absolute,
    /// Bytes from the beginning of the block's shared memory, or from the first `.local` variable or parameter.
    Offset,
    /// There is none.
    None,
}

/// A place in the kernel that can be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedSite {
    /// Index into [`Module::functions`](crate::ptx::ir::Module::functions): the kernel or a function it calls.
    pub function: u32,
    /// Index into that function's code.
    pub pc: u32,
    /// Line in the original PTX, from 1.
    pub line: u32,
    /// The instruction in the original PTX.
    pub span: Span,
    /// What happens there.
    pub kind: SiteKind,
    /// The space of the address.
    pub space: Space,
    /// The parameter whose buffer the access is compared with; `None`: with shared, local or constant memory, or with
    /// everything that the launch may touch.
    pub buffer: Option<usize>,
    /// Bytes of the access, all elements of a vector together; 0 if it is none.
    pub bytes: u32,
    /// What a record's address means.
    pub address: RecordedAddress,
}
