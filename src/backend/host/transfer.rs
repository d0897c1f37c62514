//! Copies and fills, carried out. The only file of the host device that looks behind a `HostPointer`; which bytes a
//! transfer names was decided, and checked, above the backend.

use std::ptr;

use super::memory::{Memory, MemoryError};
use crate::backend::{Copy, Fill, HostPointer, Place, Side};

/// The longest stretch that a fill repeats at once: it stays in the first-level cache.
const CHUNK: usize = 16 << 10;

/// A copy that was vouched for.
pub(super) struct QueuedCopy(Copy);

impl QueuedCopy {
    /// Takes a copy on.
    ///
    /// # Safety
    /// C3 for the host memory that `copy` names, until the value is gone.
    pub(super) unsafe fn new(copy: Copy) -> Self {
        Self(copy)
    }

    /// Carries the copy out.
    ///
    /// # Errors
    /// A device address that breaks C1. Rows before it have been copied.
    pub(super) fn run(self, memory: &mut Memory) -> Result<(), MemoryError> {
        // SAFETY: whoever made this value vouched for C3 until it is gone, which is after this call.
        unsafe { copy(memory, &self.0) }
    }
}

/// # Safety
/// C3 for the host memory that `copy` names.
unsafe fn copy(memory: &mut Memory, copy: &Copy) -> Result<(), MemoryError> {
    let Copy { dst, src, mut row_bytes, mut rows, mut slices } = *copy;
    let dense = |side: &Side| rows == 1 || side.pitch == row_bytes;
    if dense(&dst) && dense(&src) {
        let slice_bytes = row_bytes.wrapping_mul(rows);
        let dense = |side: &Side| slices == 1 || side.slice_pitch == slice_bytes;
        (row_bytes, rows) = (slice_bytes, 1);
        if dense(&dst) && dense(&src) {
            (row_bytes, slices) = (slice_bytes.wrapping_mul(slices), 1);
        }
    }
    for slice in 0..slices {
        for row in 0..rows {
            let (to, from) = (row_of(&dst, slice, row), row_of(&src, slice, row));
            // SAFETY: the row is one of `copy`'s, whose host memory obeys C3, as this function's caller vouches.
            unsafe { copy_row(memory, to, from, row_bytes) }?;
        }
    }
    Ok(())
}

/// Where a row begins.
enum Row {
    Device(u64),
    Host(*mut u8),
}

fn row_of(side: &Side, slice: usize, row: usize) -> Row {
    let offset = slice.wrapping_mul(side.slice_pitch).wrapping_add(row.wrapping_mul(side.pitch));
    match side.place {
        Place::Device(address) => Row::Device(address.wrapping_add(offset as u64)),
        Place::Host(HostPointer(pointer)) => Row::Host(pointer.as_ptr().wrapping_add(offset)),
    }
}

/// # Safety
/// C3 for `len` bytes at each of the two places that is in host memory.
unsafe fn copy_row(memory: &mut Memory, to: Row, from: Row, len: usize) -> Result<(), MemoryError> {
    let (to, from) = match (to, from) {
        (Row::Device(to), Row::Device(from)) => return memory.copy_within(to, from, len),
        (Row::Device(to), Row::Host(from)) => (memory.bytes_mut(to, len)?.as_mut_ptr(), from.cast_const()),
        (Row::Host(to), Row::Device(from)) => (to, memory.bytes(from, len)?.as_ptr()),
        (Row::Host(to), Row::Host(from)) => (to, from.cast_const()),
    };
    // SAFETY: a side in device memory is a slice of `len` bytes that `memory` just lent, mutably where it is written,
    // and that nothing else uses before this statement ends. A side in host memory is valid for `len` bytes, read or
    // written, and nobody else touches it (C3). Bytes need no alignment. The two do not overlap: device memory is the
    // backend's own, so no program's host memory lies in it, and two host sides do not overlap (`Copy`).
    unsafe { ptr::copy_nonoverlapping(from, to, len) };
    Ok(())
}

/// Carries out a fill.
///
/// # Errors
/// An address that breaks C1. Rows before it have been filled.
pub(super) fn fill(memory: &mut Memory, fill: &Fill) -> Result<(), MemoryError> {
    let Fill { address, pitch, slice_pitch, mut row_bytes, mut rows, mut slices, ref element } = *fill;
    if rows == 1 || pitch == row_bytes {
        (row_bytes, rows) = (row_bytes.wrapping_mul(rows), 1);
        if slices == 1 || slice_pitch == row_bytes {
            (row_bytes, slices) = (row_bytes.wrapping_mul(slices), 1);
        }
    }
    for slice in 0..slices {
        for row in 0..rows {
            let offset = slice.wrapping_mul(slice_pitch).wrapping_add(row.wrapping_mul(pitch));
            let bytes = memory.bytes_mut(address.wrapping_add(offset as u64), row_bytes)?;
            repeat(bytes, element);
        }
    }
    Ok(())
}

/// Fills `bytes` with copies of `element`, bit for bit.
fn repeat(bytes: &mut [u8], element: &[u8]) {
    let Some((&first, rest)) = element.split_first() else { return };
    if rest.iter().all(|&byte| byte == first) {
        bytes.fill(first);
        return;
    }
    // one element, then what is there once more and once more, up to a chunk at a time
    let most = (CHUNK / element.len()).max(1) * element.len();
    let mut begun = bytes.len().min(element.len());
    for (to, from) in bytes.iter_mut().zip(element) {
        *to = *from;
    }
    while begun < bytes.len() {
        let len = begun.min(most).min(bytes.len() - begun);
        bytes.copy_within(..len, begun);
        begun += len;
    }
}
