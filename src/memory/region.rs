//! Where a piece of an allocation lies, untyped: what copies, fills and launches work on.

use crate::context::core::Core;
use crate::context::ledger::{EntryId, Touch};
use crate::extent::Extent;

/// An allocation of a context, or a piece of one that begins at `address`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'ctx> {
    pub(crate) core: &'ctx Core,
    /// `None` for arrays without elements, which take no memory.
    pub(crate) entry: Option<EntryId>,
    pub(crate) address: u64,
}

impl Block<'_> {
    /// The block from `bytes` on. The caller keeps it inside the allocation.
    pub(crate) fn advance(self, bytes: usize) -> Self {
        Self { address: self.address + bytes as u64, ..self }
    }

    #[inline]
    pub(crate) fn touch(&self, write: bool) -> Option<Touch> {
        self.entry.map(|entry| Touch { entry, write })
    }
}

/// Rows of bytes in device memory. Its memory lies in one allocation.
///
/// `pub` for the sealed traits that mention it; nobody outside the crate can name it.
#[derive(Debug, Clone, Copy)]
pub struct Region<'ctx> {
    pub(crate) block: Block<'ctx>,
    pub(crate) row_bytes: usize,
    pub(crate) rows: usize,
    /// Bytes from row to row.
    pub(crate) pitch: usize,
}

impl<'ctx> Region<'ctx> {
    /// `bytes` without gaps.
    #[inline]
    pub(crate) fn contiguous(block: Block<'ctx>, bytes: usize) -> Self {
        Self { block, row_bytes: bytes, rows: 1, pitch: bytes }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.row_bytes == 0 || self.rows == 0
    }

    /// Bytes of data, padding not counted.
    pub(crate) fn bytes(&self) -> usize {
        self.row_bytes * self.rows
    }

    /// From the first byte to the end of the last row, padding between included.
    #[inline]
    pub(crate) fn span(&self) -> usize {
        if self.is_empty() { 0 } else { (self.rows - 1) * self.pitch + self.row_bytes }
    }

    /// Its shape in elements of `size` bytes.
    pub(crate) fn extent(&self, size: usize) -> Extent {
        Extent::new(self.row_bytes.checked_div(size).unwrap_or(0), self.rows)
    }
}
