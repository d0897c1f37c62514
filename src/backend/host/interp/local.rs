//! Local memory of one warp: bytes of each lane, in which the frames of its calls lie. It grows as calls nest.

use super::registers::{LANES, lanes};

/// Bytes of local memory of one thread at most, CUDA's limit.
pub(super) const LOCAL_LIMIT: u32 = 512 << 10;

/// The local memory of the 32 lanes, one stretch of `stride` bytes after another.
#[derive(Default)]
pub(super) struct LocalMemory {
    bytes: Vec<u8>,
    stride: usize,
}

impl LocalMemory {
    /// Bytes that each lane has.
    pub(super) fn size(&self) -> u64 {
        self.stride as u64
    }

    /// Makes room for the frame `from..to` and clears it in the lanes of `mask`. `false`: beyond the limit.
    pub(super) fn enter(&mut self, from: u32, to: u32, mask: u32) -> bool {
        if to > LOCAL_LIMIT {
            return false;
        }
        if from == to {
            return true;
        }
        let needed = to as usize;
        if needed > self.stride {
            let stride = needed.next_power_of_two().max(256);
            let mut bytes = vec![0; stride * LANES];
            for lane in 0..LANES {
                let old = &self.bytes[lane * self.stride..][..self.stride];
                bytes[lane * stride..][..self.stride].copy_from_slice(old);
            }
            (self.bytes, self.stride) = (bytes, stride);
        }
        for lane in lanes(mask) {
            self.bytes[lane * self.stride..][from as usize..needed].fill(0);
        }
        true
    }

    /// `len` bytes of one lane, if they are there.
    #[inline]
    pub(super) fn bytes(&self, lane: usize, offset: u64, len: usize) -> Option<&[u8]> {
        let mine = self.bytes.get(lane * self.stride..(lane + 1) * self.stride)?;
        mine.get(usize::try_from(offset).ok()?..)?.get(..len)
    }

    /// `len` bytes of one lane, if they are there.
    #[inline]
    pub(super) fn bytes_mut(&mut self, lane: usize, offset: u64, len: usize) -> Option<&mut [u8]> {
        let mine = self.bytes.get_mut(lane * self.stride..(lane + 1) * self.stride)?;
        mine.get_mut(usize::try_from(offset).ok()?..)?.get_mut(..len)
    }

    /// Copies bytes within one lane; nothing if either range is not there.
    pub(super) fn copy(&mut self, lane: usize, from: u64, to: u64, len: usize) {
        let size = self.stride as u64;
        let end = |start: u64| start.checked_add(len as u64).is_some_and(|end| end <= size);
        if !(end(from) && end(to)) {
            return;
        }
        if let Some(mine) = self.bytes.get_mut(lane * self.stride..(lane + 1) * self.stride) {
            mine.copy_within(from as usize..from as usize + len, to as usize);
        }
    }
}
