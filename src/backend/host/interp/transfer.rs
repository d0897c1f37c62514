//! Loads and stores of whole rows of global memory: one check for 32 lanes. Neighbouring lanes at neighbouring
//! addresses are copied in bulk, one address for many is read once, and so on by shape; anything else goes lane by
//! lane after one check of the extremes. `false` means that the access must go the slow way, which also reports what
//! is wrong with it.

use super::access::Reachable;
use super::global::GlobalMemory;
use super::registers::{FULL, LANES, Row32, Row64, lanes};
use super::rows::{put32, put64, some_lanes};
use super::shapes::{Hint, Kind, Shape, Shapes};

/// Access to global memory at one instruction.
pub(super) struct Global<'a, M> {
    pub(super) memory: &'a mut M,
    pub(super) reachable: &'a Reachable,
    pub(super) shapes: &'a mut Shapes,
    /// What this instruction's last access was like.
    pub(super) hint: &'a mut Hint,
}

/// A checked access of all lanes: the lowest one's place, and where the others lie from there.
struct Shaped<'s> {
    allocation: u32,
    offset: usize,
    shape: &'s Shape,
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
        let mask = some_lanes(mask);
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
        stretch(self.reachable, &mut self.hint.stretch, address, size, write)
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
        if mask == FULL {
            match self.shaped_load32(rows, base, d, offset) {
                Ok(true) => return true,
                Ok(false) => {}
                Err(()) => return false,
            }
        }
        let addresses = moved(base, offset);
        let Some(pattern) = self.pattern(&addresses, mask, 4 * N as u64, false) else { return false };
        match pattern {
            Pattern::Consecutive { allocation, offset } if N == 1 => {
                put32(rows, mask, d[0], &words(&self.memory.read::<128>(allocation, offset)));
            }
            Pattern::Same { allocation, offset } => {
                for (i, &d) in d.iter().enumerate() {
                    let bytes = self.memory.read::<4>(allocation, offset + 4 * i);
                    put32(rows, mask, d, &Row32::splat(u32::from_le_bytes(bytes)));
                }
            }
            other => {
                let (allocation, origin) = other.origin(&addresses);
                self.gather(rows, &addresses, mask, d, allocation, origin);
            }
        }
        true
    }

    /// [`load32`](Self::load32) in all lanes. `false`: their shape is not known.
    #[inline(always)]
    fn shaped_load32<const N: usize>(
        &mut self,
        rows: &mut [Row32],
        base: &Row64,
        d: [u32; N],
        offset: i32,
    ) -> Result<bool, ()> {
        let Some(Shaped { allocation, offset, shape }) =
            shaped(self.shapes, self.hint, self.reachable, base, (offset, 4 * N as u64, false))?
        else {
            return Ok(false);
        };
        let (kind, offsets) = (shape.kind, &shape.offsets);
        if N == 1 && kind == (Kind::Line { step: 4 }) {
            put32(rows, FULL, d[0], &words(&self.memory.read::<128>(allocation, offset)));
            return Ok(true);
        }
        let Some(bytes) = self.memory.window(allocation, offset, shape.span as usize + 4 * N) else {
            for (element, &d) in d.iter().enumerate() {
                let mut row = Row32::splat(0);
                for lane in 0..LANES {
                    let at = offset + offsets[lane / 8][lane % 8] as usize + 4 * element;
                    *row.lane_mut(lane) = u32::from_le_bytes(self.memory.read::<4>(allocation, at));
                }
                put32(rows, FULL, d, &row);
            }
            return Ok(true);
        };
        for (element, &d) in d.iter().enumerate() {
            gather32(&mut rows[d as usize], &bytes[4 * element..], kind, offsets);
        }
        Ok(true)
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

    /// One byte of each lane.
    #[inline(always)]
    pub(super) fn load8(&mut self, rows: &mut [Row32], base: &Row64, mask: u32, d: u32, offset: i32) -> bool {
        let addresses = moved(base, offset);
        let Some(pattern) = self.pattern(&addresses, mask, 1, false) else { return false };
        let mut row = Row32::splat(0);
        match pattern {
            Pattern::Consecutive { allocation, offset } => {
                let bytes = self.memory.read::<LANES>(allocation, offset);
                for (to, byte) in row.0.as_flattened_mut().iter_mut().zip(bytes) {
                    *to = u32::from(byte);
                }
            }
            other => {
                let (allocation, origin) = other.origin(&addresses);
                for lane in lanes(mask) {
                    let offset = addresses.lane(lane).wrapping_sub(origin) as usize;
                    let [byte] = self.memory.read::<1>(allocation, offset);
                    *row.lane_mut(lane) = u32::from(byte);
                }
            }
        }
        put32(rows, mask, d, &row);
        true
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

/// The 32-bit words at `offsets` of `bytes`, which have this kind of shape.
#[inline(always)]
pub(super) fn gather32(row: &mut Row32, bytes: &[u8], kind: Kind, offsets: &[[u32; 8]; 4]) {
    let word = |lane: usize| {
        let at = offsets[lane / 8][lane % 8] as usize;
        bytes.get(at..at + 4).and_then(|word| word.first_chunk()).map_or(0, |word| u32::from_le_bytes(*word))
    };
    // written out, or the compiler puts them together in memory, one by one
    let eight = |l: usize| {
        [word(l), word(l + 1), word(l + 2), word(l + 3), word(l + 4), word(l + 5), word(l + 6), word(l + 7)]
    };
    match kind {
        Kind::Same => *row = Row32::splat(word(0)),
        Kind::Same8 => {
            for k in 0..4 {
                row.0[k] = [word(8 * k); 8];
            }
        }
        Kind::Line8 { step: 4 } => {
            for (to, offsets) in row.0.iter_mut().zip(offsets) {
                let at = offsets[0] as usize;
                let eight = bytes.get(at..at + 32).and_then(|eight| eight.first_chunk::<32>());
                let eight = eight.copied().unwrap_or([0; 32]);
                for (to, word) in to.iter_mut().zip(eight.as_chunks::<4>().0) {
                    *to = u32::from_le_bytes(*word);
                }
            }
        }
        Kind::Repeated => {
            row.0[0] = eight(0);
            row.0[1] = eight(8);
            (row.0[2], row.0[3]) = (row.0[0], row.0[1]);
        }
        Kind::Line { .. } | Kind::Line8 { .. } | Kind::Other => {
            for k in 0..4 {
                row.0[k] = eight(8 * k);
            }
        }
    }
}

/// 32 neighbouring words.
#[inline(always)]
fn words(bytes: &[u8; 128]) -> Row32 {
    let mut row = Row32::splat(0);
    for (i, chunk) in bytes.as_chunks::<4>().0.iter().enumerate() {
        row.0[i / 8][i % 8] = u32::from_le_bytes(*chunk);
    }
    row
}

/// The access of all lanes at `offset` from `base`, if its shape is known. `Err`: it must go the slow way.
#[inline(always)]
fn shaped<'s>(
    shapes: &'s mut Shapes,
    hint: &mut Hint,
    reachable: &Reachable,
    base: &Row64,
    (offset, size, write): (i32, u64, bool),
) -> Result<Option<Shaped<'s>>, ()> {
    let Some(shape) = shapes.find(hint, base) else { return Ok(None) };
    let first = base.lane(0).wrapping_add_signed(i64::from(offset));
    let low = shape.low(first, size).ok_or(())?;
    let bytes = u64::from(shape.span) + size;
    let (allocation, offset) = stretch(reachable, &mut hint.stretch, low, bytes, write).ok_or(())?;
    Ok(Some(Shaped { allocation, offset, shape }))
}

/// Allocation and offset of `size` bytes at `address`; `last` is the stretch to try first.
#[inline(always)]
fn stretch(
    reachable: &Reachable,
    last: &mut u32,
    address: u64,
    size: u64,
    write: bool,
) -> Option<(u32, usize)> {
    let hit = reachable.get(*last);
    if let Some(offset) = hit.offset_of(address, size)
        && (hit.writable || !write)
    {
        return Some((hit.allocation, offset));
    }
    let found = reachable.find(address, size, write).ok()?;
    *last = found;
    let stretch = reachable.get(found);
    Some((stretch.allocation, stretch.offset_of(address, size)?))
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
