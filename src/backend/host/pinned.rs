//! Page-locked host memory. The host device has no pages to lock, so this is ordinary memory, zeroed and aligned like
//! a driver's; what matters is that it has an owner, which knows each block's size.

use std::alloc::{Layout, LayoutError, alloc_zeroed, dealloc};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ptr::NonNull;

use crate::backend::{Answer, HostPointer};
use crate::error::ErrorKind;

/// A cache line, and the largest vector register.
const ALIGN: usize = 64;

/// The pinned blocks of one context. Dropping it frees them all.
#[derive(Debug, Default)]
pub(super) struct Pinned {
    /// Every live block by its address. Invariant: the pointer came from `alloc_zeroed` with this layout, and was not
    /// deallocated.
    blocks: HashMap<NonZeroUsize, (HostPointer, Layout)>,
    bytes: u64,
}

impl Pinned {
    /// `bytes > 0`, zeroed.
    pub(super) fn allocate(&mut self, bytes: usize) -> Answer<NonNull<u8>> {
        let Ok(layout) = layout(bytes) else {
            return Err(ErrorKind::SizeOverflow { what: format!("{bytes} bytes of pinned memory") });
        };
        // SAFETY: `layout` makes none of size 0.
        let pointer = unsafe { alloc_zeroed(layout) };
        let Some(pointer) = NonNull::new(pointer) else {
            return Err(ErrorKind::OutOfPinnedMemory { asked: bytes as u64, held: self.bytes });
        };
        self.blocks.insert(pointer.addr(), (HostPointer(pointer), layout));
        self.bytes += bytes as u64;
        Ok(pointer)
    }

    /// Gives a block back. A pointer that is none, or another size than the block's, is refused.
    ///
    /// # Safety
    /// Nothing uses the block any more (C3).
    pub(super) unsafe fn free(&mut self, pointer: NonNull<u8>, bytes: usize) -> Answer<()> {
        let there = match self.blocks.get(&pointer.addr()) {
            Some(&(HostPointer(block), its)) if layout(bytes) == Ok(its) => {
                self.blocks.remove(&pointer.addr());
                self.bytes = self.bytes.saturating_sub(bytes as u64);
                // SAFETY: the block was in `blocks` until now, so it is live and has this layout (its invariant);
                // nothing uses it any more, as this function's caller vouches.
                unsafe { dealloc(block.as_ptr(), its) };
                return Ok(());
            }
            Some((_, its)) => format!("a block of {} bytes begins", its.size()),
            None => "no live block begins".to_owned(),
        };
        let message = format!("free of {bytes} bytes of pinned memory at {pointer:p}, where {there}");
        Err(ErrorKind::Foreign { message })
    }

    /// How many blocks are live.
    pub(super) fn count(&self) -> usize {
        self.blocks.len()
    }
}

/// Of a block of `bytes`; one of nothing has a byte, so that it has an address of its own.
fn layout(bytes: usize) -> Result<Layout, LayoutError> {
    Layout::from_size_align(bytes.max(1), ALIGN)
}

impl Drop for Pinned {
    fn drop(&mut self) {
        for (_, (HostPointer(block), layout)) in self.blocks.drain() {
            // SAFETY: the block is live and has this layout (the invariant of `blocks`); who drops the context's
            // pinned memory ends the context, after which nothing of it may be used (`Backend::reset`).
            unsafe { dealloc(block.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_zeroed_aligned_and_freed_once() {
        let mut pinned = Pinned::default();
        for bytes in [1, 63, 64, 4096, 100_001] {
            let block = pinned.allocate(bytes).unwrap();
            assert_eq!(block.addr().get() % ALIGN, 0);
            // SAFETY: the block has `bytes` bytes, zeroed, and is used here alone.
            let contents = unsafe { std::slice::from_raw_parts_mut(block.as_ptr(), bytes) };
            assert!(contents.iter().all(|&byte| byte == 0), "{bytes}");
            contents.fill(0xff);
            // SAFETY: refused, so the block stays.
            let wrong_size = unsafe { pinned.free(block, bytes + 1) };
            assert!(matches!(wrong_size, Err(ErrorKind::Foreign { .. })));
            // SAFETY: `contents` is not used any more.
            unsafe { pinned.free(block, bytes) }.unwrap();
            // SAFETY: refused, as the block is gone.
            let twice = unsafe { pinned.free(block, bytes) };
            assert!(matches!(twice, Err(ErrorKind::Foreign { .. })));
        }
        assert_eq!((pinned.count(), pinned.bytes), (0, 0));
    }

    #[test]
    fn sizes_beyond_the_address_space_are_refused() {
        let refused = Pinned::default().allocate(usize::MAX);
        assert!(matches!(refused, Err(ErrorKind::SizeOverflow { .. })));
    }
}
