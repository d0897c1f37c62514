//! Loads and stores of whole rows: one check for 32 lanes. Neighbouring lanes at neighbouring addresses are copied
//! in bulk; one address for all is read once; anything else goes lane by lane after one check of the extremes.
//! `false` means that the access must go the slow way, which also reports what is wrong with it.

use super::access::Reachable;
use super::global::GlobalMemory;
use super::registers::{FULL, LANES, Row32, Row64};
use super::rows::{put32, put64};

/// Access to global memory at one instruction.
pub(super) struct Global<'a, M> {
    pub(super) memory: &'a mut M,
    pub(super) reachable: &'a Reachable,
    /// The stretch this instruction hit last.
    pub(super) hint: &'a mut u32,
}

/// Where the lanes of an access lie.
enum Pattern {
    /// Lane `i` at `first + i × size`.
    Consecutive { allocation: u32, offset: usize },
    /// All lanes at one place.
    Same { allocation: u32, offset: usize },
    /// Somewhere in one stretch: subtract `origin` from an address to get the offset in the allocation.
    Scattered { allocation: u32, origin: u64 },
}

impl Pattern {
    /// The allocation, and what to subtract from a lane's address to get its offset there.
    #[inline(always)]
    fn origin(self, addresses: &Row64) -> (u32, u64) {
        match self {
            Self::Consecutive { allocation, offset } | Self::Same { allocation, offset } => {
                (allocation, addresses.lane(0).wrapping_sub(offset as u64))
            }
            Self::Scattered { allocation, origin } => (allocation, origin),
        }
    }
}

impl<M: GlobalMemory> Global<'_, M> {
    /// Finds where all of the lanes in `mask` lie, each with `size` bytes.
    #[inline(always)]
    fn pattern(&mut self, addresses: &Row64, mask: u32, size: u64, write: bool) -> Option<Pattern> {
        let first = addresses.lane(mask.trailing_zeros() as usize % LANES);
        let (mut consecutive, mut same) = (true, true);
        for k in 0..8 {
            for i in 0..4 {
                let lane = (k * 4 + i) as u64;
                let distance = addresses.0[k][i].wrapping_sub(first);
                consecutive &= distance == lane * size;
                same &= distance == 0;
            }
        }
        if mask == FULL && consecutive && first.is_multiple_of(size) {
            let (stretch, offset) = self.stretch(first, size * LANES as u64, write)?;
            return Some(Pattern::Consecutive { allocation: stretch, offset });
        }
        if mask == FULL && same && first.is_multiple_of(size) {
            let (allocation, offset) = self.stretch(first, size, write)?;
            return Some(Pattern::Same { allocation, offset });
        }
        let (mut low, mut high, mut all) = (first, first, 0);
        for k in 0..8 {
            for i in 0..4 {
                let lane = k * 4 + i;
                let address = if mask >> lane & 1 == 1 { addresses.0[k][i] } else { first };
                low = low.min(address);
                high = high.max(address);
                all |= address;
            }
        }
        if all % size != 0 {
            return None;
        }
        let (allocation, offset) = self.stretch(low, (high - low).checked_add(size)?, write)?;
        Some(Pattern::Scattered { allocation, origin: low.wrapping_sub(offset as u64) })
    }

    /// Allocation and offset of `size` bytes at `address`.
    #[inline(always)]
    fn stretch(&mut self, address: u64, size: u64, write: bool) -> Option<(u32, usize)> {
        let last = self.reachable.get(*self.hint);
        if let Some(offset) = last.offset_of(address, size)
            && (last.writable || !write)
        {
            return Some((last.allocation, offset));
        }
        let found = self.reachable.find(address, size, write).ok()?;
        *self.hint = found;
        let stretch = self.reachable.get(found);
        Some((stretch.allocation, stretch.offset_of(address, size)?))
    }

    /// `N` consecutive 32-bit elements of each lane.
    #[inline(always)]
    pub(super) fn load32<const N: usize>(
        &mut self,
        rows: &mut [Row32],
        base: &Row64,
        mask: u32,
        d: [u32; N],
        offset: i32,
    ) -> bool {
        let addresses = moved(base, offset);
        let Some(pattern) = self.pattern(&addresses, mask, 4 * N as u64, false) else { return false };
        match pattern {
            Pattern::Consecutive { allocation, offset } if N == 1 => {
                let bytes = self.memory.read::<128>(allocation, offset);
                let mut row = Row32::splat(0);
                for (i, chunk) in bytes.as_chunks::<4>().0.iter().enumerate() {
                    row.0[i / 8][i % 8] = u32::from_le_bytes(*chunk);
                }
                put32(rows, mask, d[0], &row);
            }
            Pattern::Same { allocation, offset } => {
                for (i, &d) in d.iter().enumerate() {
                    let bytes = self.memory.read::<4>(allocation, offset + 4 * i);
                    put32(rows, mask, d, &Row32::splat(u32::from_le_bytes(bytes)));
                }
            }
            Pattern::Scattered { allocation, origin } if N == 1 && mask == FULL => {
                let row = self.gather_halves(&addresses, allocation, origin);
                put32(rows, mask, d[0], &row);
            }
            other => {
                let (allocation, origin) = other.origin(&addresses);
                self.gather(rows, &addresses, mask, d, allocation, origin);
            }
        }
        true
    }

    /// One 32-bit element of each lane, half a warp at a time: in blocks 16 threads wide a half is one row of the
    /// block, and the halves often read the same, or each reads one place or 16 neighbours.
    #[inline(always)]
    fn gather_halves(&mut self, addresses: &Row64, allocation: u32, origin: u64) -> Row32 {
        let mut halves = [[0_u64; 16]; 2];
        let (mut repeated, mut same, mut consecutive) = (true, true, true);
        for k in 0..4 {
            for i in 0..4 {
                let lane = k * 4 + i;
                let (low, high) = (addresses.0[k][i], addresses.0[k + 4][i]);
                let from_low = low.wrapping_sub(addresses.0[0][0]);
                let from_high = high.wrapping_sub(addresses.0[4][0]);
                repeated &= low == high;
                same &= from_low | from_high == 0;
                consecutive &= from_low == 4 * lane as u64 && from_high == 4 * lane as u64;
                (halves[0][lane], halves[1][lane]) = (low, high);
            }
        }
        let offset = |half: &[u64; 16]| half[0].wrapping_sub(origin) as usize;
        let words: [[u32; 16]; 2] = if same {
            halves.map(|half| [u32::from_le_bytes(self.memory.read::<4>(allocation, offset(&half))); 16])
        } else if consecutive {
            halves.map(|half| {
                let bytes = self.memory.read::<64>(allocation, offset(&half));
                let mut words = [0; 16];
                for (word, chunk) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *word = u32::from_le_bytes(*chunk);
                }
                words
            })
        } else if repeated {
            [self.memory.read_words(allocation, &halves[0], origin); 2]
        } else {
            halves.map(|half| self.memory.read_words(allocation, &half, origin))
        };
        let mut row = Row32::splat(0);
        for (lane, word) in words.as_flattened().iter().enumerate() {
            row.0[lane / 8][lane % 8] = *word;
        }
        row
    }

    #[inline(always)]
    fn gather<const N: usize>(
        &mut self,
        rows: &mut [Row32],
        addresses: &Row64,
        mask: u32,
        d: [u32; N],
        allocation: u32,
        origin: u64,
    ) {
        let mut out = [Row32::splat(0); N];
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let offset = addresses.lane(lane).wrapping_sub(origin) as usize;
            // one read of a vector's whole size where there is such a size
            match N {
                4 => {
                    let bytes = self.memory.read::<16>(allocation, offset);
                    for (row, chunk) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
                        *row.lane_mut(lane) = u32::from_le_bytes(*chunk);
                    }
                }
                _ => {
                    for (i, row) in out.iter_mut().enumerate() {
                        let bytes = self.memory.read::<4>(allocation, offset + 4 * i);
                        *row.lane_mut(lane) = u32::from_le_bytes(bytes);
                    }
                }
            }
        }
        for (row, d) in out.iter().zip(d) {
            put32(rows, mask, d, row);
        }
    }

    /// One 64-bit element of each lane; `a` and `d` are rows of the same file.
    #[inline(always)]
    pub(super) fn load64(&mut self, rows: &mut [Row64], mask: u32, a: u32, d: u32, offset: i32) -> bool {
        let addresses = moved(&rows[a as usize], offset);
        let Some(pattern) = self.pattern(&addresses, mask, 8, false) else { return false };
        let mut row = Row64::splat(0);
        match pattern {
            Pattern::Consecutive { allocation, offset } => {
                let bytes = self.memory.read::<256>(allocation, offset);
                for (i, chunk) in bytes.as_chunks::<8>().0.iter().enumerate() {
                    row.0[i / 4][i % 4] = u64::from_le_bytes(*chunk);
                }
            }
            Pattern::Same { allocation, offset } => {
                row = Row64::splat(u64::from_le_bytes(self.memory.read::<8>(allocation, offset)));
            }
            Pattern::Scattered { allocation, origin } => {
                let mut rest = mask;
                while rest != 0 {
                    let lane = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    let offset = addresses.lane(lane).wrapping_sub(origin) as usize;
                    *row.lane_mut(lane) = u64::from_le_bytes(self.memory.read::<8>(allocation, offset));
                }
            }
        }
        put64(rows, mask, d, &row);
        true
    }

    /// `N` consecutive 32-bit elements of each lane.
    #[inline(always)]
    pub(super) fn store32<const N: usize>(
        &mut self,
        rows: &[Row32],
        base: &Row64,
        mask: u32,
        s: [u32; N],
        offset: i32,
    ) -> bool {
        let addresses = moved(base, offset);
        let Some(pattern) = self.pattern(&addresses, mask, 4 * N as u64, true) else { return false };
        let (allocation, origin) = match pattern {
            Pattern::Consecutive { allocation, offset } if N == 1 => {
                let row = &rows[s[0] as usize];
                let mut bytes = [0; 128];
                for (i, chunk) in bytes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    *chunk = row.0[i / 8][i % 8].to_le_bytes();
                }
                self.memory.write::<128>(allocation, offset, &bytes);
                return true;
            }
            other => other.origin(&addresses),
        };
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let offset = addresses.lane(lane).wrapping_sub(origin) as usize;
            for (i, &s) in s.iter().enumerate() {
                let value = rows[s as usize].lane(lane);
                self.memory.write::<4>(allocation, offset + 4 * i, &value.to_le_bytes());
            }
        }
        true
    }

    /// One 64-bit element of each lane.
    #[inline(always)]
    pub(super) fn store64(&mut self, rows: &[Row64], mask: u32, a: u32, s: u32, offset: i32) -> bool {
        let addresses = moved(&rows[a as usize], offset);
        let Some(pattern) = self.pattern(&addresses, mask, 8, true) else { return false };
        let row = &rows[s as usize];
        let (allocation, origin) = match pattern {
            Pattern::Consecutive { allocation, offset } => {
                let mut bytes = [0; 256];
                for (i, chunk) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                    *chunk = row.0[i / 4][i % 4].to_le_bytes();
                }
                self.memory.write::<256>(allocation, offset, &bytes);
                return true;
            }
            other => other.origin(&addresses),
        };
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let offset = addresses.lane(lane).wrapping_sub(origin) as usize;
            self.memory.write::<8>(allocation, offset, &row.lane(lane).to_le_bytes());
        }
        true
    }
}

#[inline(always)]
fn moved(base: &Row64, offset: i32) -> Row64 {
    let mut addresses = *base;
    for chunk in &mut addresses.0 {
        for address in chunk {
            *address = address.wrapping_add_signed(i64::from(offset));
        }
    }
    addresses
}

/// Shared memory behind 32-bit addresses.
pub(super) struct Shared<'a> {
    pub(super) bytes: &'a mut [u8],
}

impl Shared<'_> {
    /// The offsets of the lanes, if all lanes of `mask` lie inside with `size` bytes. Others read at an active one.
    #[inline(always)]
    fn offsets(&self, base: &Row32, mask: u32, size: u32, offset: i32) -> Option<Row32> {
        let first = base.lane(mask.trailing_zeros() as usize % LANES).wrapping_add_signed(offset);
        let (mut high, mut all) = (0, 0);
        let mut offsets = *base;
        for k in 0..4 {
            for i in 0..8 {
                let here = base.0[k][i].wrapping_add_signed(offset);
                let here = if mask >> (k * 8 + i) & 1 == 1 { here } else { first };
                offsets.0[k][i] = here;
                high = high.max(here);
                all |= here;
            }
        }
        let fits = u64::from(high) + u64::from(size) <= self.bytes.len() as u64;
        (fits && all % size == 0).then_some(offsets)
    }

    /// `N` consecutive 32-bit elements of each lane.
    #[inline(always)]
    pub(super) fn load32<const N: usize>(
        &mut self,
        rows: &mut [Row32],
        mask: u32,
        a: u32,
        d: [u32; N],
        offset: i32,
    ) -> bool {
        let Some(offsets) = self.offsets(&rows[a as usize], mask, 4 * N as u32, offset) else {
            return false;
        };
        let first = offsets.lane(0);
        let (mut consecutive, mut same) = (true, true);
        for k in 0..4 {
            for i in 0..8 {
                let distance = offsets.0[k][i].wrapping_sub(first);
                consecutive &= distance == (k * 8 + i) as u32 * 4;
                same &= distance == 0;
            }
        }
        let word = |offset: u32| -> u32 {
            let bytes = self.bytes.get(offset as usize..).and_then(|b| b.first_chunk());
            bytes.map_or(0, |b| u32::from_le_bytes(*b))
        };
        if N == 1 && consecutive {
            let Some(bytes) = self.bytes.get(first as usize..).and_then(|b| b.first_chunk::<128>()) else {
                return false;
            };
            let mut row = Row32::splat(0);
            for (i, chunk) in bytes.as_chunks::<4>().0.iter().enumerate() {
                row.0[i / 8][i % 8] = u32::from_le_bytes(*chunk);
            }
            put32(rows, mask, d[0], &row);
            return true;
        }
        for (element, &d) in d.iter().enumerate() {
            let at = 4 * element as u32;
            if same {
                put32(rows, mask, d, &Row32::splat(word(first + at)));
                continue;
            }
            let mut row = Row32::splat(0);
            for k in 0..4 {
                for i in 0..8 {
                    row.0[k][i] = word(offsets.0[k][i] + at);
                }
            }
            put32(rows, mask, d, &row);
        }
        true
    }

    /// One 32-bit element of each lane.
    #[inline(always)]
    pub(super) fn store32(&mut self, rows: &[Row32], mask: u32, a: u32, s: u32, offset: i32) -> bool {
        let Some(offsets) = self.offsets(&rows[a as usize], mask, 4, offset) else { return false };
        let values = &rows[s as usize];
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let place = self.bytes.get_mut(offsets.lane(lane) as usize..).and_then(|b| b.first_chunk_mut());
            if let Some(place) = place {
                *place = values.lane(lane).to_le_bytes();
            }
        }
        true
    }
}
