//! Device memory straight from the driver, and page-locked host memory. Reusing blocks is the pool's work, above.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use super::context::Context;
use super::driver;
use super::stream::quiet;
use crate::backend::{Answer, MemoryInfo};
use crate::error::ErrorKind;

/// `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: i32 = 2;
/// `CU_MEMHOSTALLOC_PORTABLE`: page-locked for all contexts of the process.
const PORTABLE: u32 = 1;
/// What the pool asks the driver for at least: an allocation costs about as much as one of 16 bytes up to here.
pub(super) const BLOCK_BYTES: usize = 32 << 20;
/// The pitch of the narrowest rows is the multiple that all pitches are of; asked with the widest element.
const NARROWEST_ROW: usize = 4;
const WIDEST_ELEMENT: u32 = 16;

/// Free and total bytes.
pub(super) fn info(context: &Context) -> Answer<MemoryInfo> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: both are places for the answer; the context is current.
    let asked = unsafe { driver::memory_info(&mut free, &mut total) };
    context.answer(asked)?;
    Ok(MemoryInfo { free: free as u64, total: total as u64 })
}

/// `bytes` of device memory.
pub(super) fn allocate(bytes: usize, context: &Context) -> Answer<u64> {
    let mut address = 0;
    // SAFETY: `address` is a place for the answer; the context is current.
    match unsafe { driver::memory_allocate(&mut address, bytes) } {
        Err(failure) if failure.code == OUT_OF_MEMORY => {
            let MemoryInfo { free, total } = info(context)?;
            // what is live is the pool's knowledge
            Err(ErrorKind::OutOfMemory { asked: bytes as u64, free, total, live: 0 })
        }
        other => context.answer(other).map(|()| address),
    }
}

/// Frees what [`allocate`] returned.
///
/// # Safety
/// C1, C2.
pub(super) unsafe fn free(address: u64, context: &Context) -> Answer<()> {
    // SAFETY: the address is live and nothing uses it, as the caller vouches.
    let freed = unsafe { driver::memory_free(address) };
    quiet(context, context.answer(freed))
}

/// Rows of pitched memory begin at multiples of this many bytes.
pub(super) fn pitch_alignment(context: &Context) -> Answer<usize> {
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: both are places for the answer; the context is current.
    let allocated =
        unsafe { driver::memory_allocate_pitch(&mut address, &mut pitch, NARROWEST_ROW, 1, WIDEST_ELEMENT) };
    context.answer(allocated)?;
    // SAFETY: allocated just now, used by nobody.
    unsafe { free(address, context) }?;
    Ok(pitch)
}

/// `bytes` of page-locked host memory, zeroed.
pub(super) fn allocate_pinned(bytes: usize, context: &Context) -> Answer<NonNull<u8>> {
    let mut pointer: *mut c_void = ptr::null_mut();
    // SAFETY: `pointer` is a place for the answer; the context is current.
    let allocated = unsafe { driver::host_allocate(&mut pointer, bytes, PORTABLE) };
    match allocated {
        Err(failure) if failure.code == OUT_OF_MEMORY => {
            return Err(ErrorKind::OutOfPinnedMemory { asked: bytes as u64, held: 0 });
        }
        other => context.answer(other)?,
    }
    let Some(pointer) = NonNull::new(pointer.cast::<u8>()) else {
        return Err(ErrorKind::OutOfPinnedMemory { asked: bytes as u64, held: 0 });
    };
    // SAFETY: the driver gave `bytes` bytes from `pointer` on, and nobody else knows them yet.
    unsafe { pointer.as_ptr().write_bytes(0, bytes) };
    Ok(pointer)
}

/// Frees what [`allocate_pinned`] returned.
///
/// # Safety
/// Nothing uses it any more (C3).
pub(super) unsafe fn free_pinned(pointer: NonNull<u8>, context: &Context) -> Answer<()> {
    // SAFETY: as the caller vouches.
    let freed = unsafe { driver::host_free(pointer.as_ptr().cast()) };
    quiet(context, context.answer(freed))
}
