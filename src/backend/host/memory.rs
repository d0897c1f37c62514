//! Device memory of one host device: allocations under made-up addresses, so that a stray pointer is
//! recognised and never dereferenced. What a kernel may touch of it is decided in `interp`.
//!
//! # Fields of a device address
//!
//! | bits  | field                                                                               |
//! |-------|-------------------------------------------------------------------------------------|
//! | 63    | 0                                                                                   |
//! | 40–62 | slot: 0 null page, 1 shared, 2 local, 3 param window; allocations from 16 upwards   |
//! | 0–39  | byte in the slot; an allocation begins at 2³⁹, the middle, so that a stray of up to 512 GiB to either side keeps its slot |
//!
//! Which window a generic address lies in is therefore one shift.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use super::written::Written;

/// Bits of an address below the slot number.
pub(crate) const SLOT_SHIFT: u32 = 40;
/// Where an allocation begins in its slot.
pub(crate) const SLOT_MIDDLE: u64 = 1 << (SLOT_SHIFT - 1);
/// Generic addresses of the block's shared memory begin here.
pub(crate) const SHARED_WINDOW: u64 = 1 << SLOT_SHIFT;
/// Generic addresses of the thread's local memory begin here.
pub(crate) const LOCAL_WINDOW: u64 = 2 << SLOT_SHIFT;
/// Generic addresses of kernel parameters begin here.
pub(crate) const PARAM_WINDOW: u64 = 3 << SLOT_SHIFT;
/// Slot numbers below this are windows.
pub(crate) const FIRST_SLOT: u64 = 16;
/// Largest slot number plus one.
const SLOT_LIMIT: u64 = 1 << (63 - SLOT_SHIFT);
/// Freed slots that wait before the oldest is handed out again.
const QUARANTINE: usize = 1 << 16;
/// No allocation is larger than this, so that it fits the upper half of its slot.
const LARGEST: u64 = SLOT_MIDDLE;

/// Device memory of one host device.
pub(crate) struct Memory {
    slots: Vec<Slot>,
    /// Slots without a live allocation, oldest first.
    freed: VecDeque<u32>,
    limit: u64,
    live_bytes: u64,
    live_count: usize,
}

/// One slot of the address space; its index is the slot number less [`FIRST_SLOT`].
struct Slot {
    live: bool,
    /// Length of the live allocation, or of the one that was freed here last.
    len: u64,
    bytes: Vec<u8>,
    written: Written,
}

/// There is not enough device memory. All figures are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfMemory {
    pub(crate) asked: u64,
    pub(crate) free: u64,
    pub(crate) total: u64,
    pub(crate) live: u64,
}

/// Why an address is not what the caller took it for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryError {
    /// In the null page.
    Null,
    /// In the window of shared, local or parameter memory, which only a kernel can see.
    Window,
    /// Belongs to nothing.
    Stray,
    /// Belongs to an allocation of `len` bytes at `base` that was freed.
    Freed { base: u64, len: u64 },
    /// Lies inside the live allocation at `base` where its beginning was expected.
    Interior { base: u64 },
    /// The range leaves, or lies outside, the live allocation of `len` bytes at `base`.
    OutOfRange { base: u64, len: u64 },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("a null pointer"),
            Self::Window => f.write_str("an address of shared, local or parameter memory"),
            Self::Stray => f.write_str("an address that belongs to nothing"),
            Self::Freed { base, len } => {
                write!(f, "an address of the {len} bytes at {base:#x}, which were freed")
            }
            Self::Interior { base } => write!(f, "an address inside the allocation at {base:#x}"),
            Self::OutOfRange { base, len } => write!(f, "outside the {len} bytes at {base:#x}"),
        }
    }
}

/// How much memory there is. Bytes, except for the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) free: u64,
    pub(crate) total: u64,
    pub(crate) live_bytes: u64,
    pub(crate) live_count: usize,
}

/// The slot number of an address.
#[inline(always)]
pub(crate) const fn slot_of(address: u64) -> u64 {
    address >> SLOT_SHIFT
}

fn base_of(index: usize) -> u64 {
    ((index as u64 + FIRST_SLOT) << SLOT_SHIFT) | SLOT_MIDDLE
}

impl Memory {
    /// Device memory of `limit` bytes, all free.
    pub(crate) fn new(limit: u64) -> Self {
        Self { slots: Vec::new(), freed: VecDeque::new(), limit, live_bytes: 0, live_count: 0 }
    }

    /// `len` bytes, each `fill`. The address is a multiple of every power of two that an alignment can be.
    pub(crate) fn allocate(&mut self, len: usize, fill: u8) -> Result<u64, OutOfMemory> {
        let asked = len as u64;
        let usage = self.usage();
        let refused = OutOfMemory { asked, free: usage.free, total: usage.total, live: usage.live_bytes };
        if asked > usage.free || asked > LARGEST {
            return Err(refused);
        }
        let bytes = filled(len, fill).ok_or(refused)?;
        let slot = Slot { live: true, len: asked, bytes, written: Written::default() };
        let index = self.place(slot).ok_or(refused)?;
        self.live_bytes += asked;
        self.live_count += 1;
        Ok(base_of(index))
    }

    /// Puts a slot where none is live: behind all others, or over the one that was freed first.
    fn place(&mut self, slot: Slot) -> Option<usize> {
        let full = self.slots.len() as u64 + FIRST_SLOT >= SLOT_LIMIT;
        let reused = if full || self.freed.len() > QUARANTINE { self.freed.pop_front() } else { None };
        match reused {
            Some(index) => {
                *self.slots.get_mut(index as usize)? = slot;
                Some(index as usize)
            }
            None if full => None,
            None => {
                self.slots.push(slot);
                Some(self.slots.len() - 1)
            }
        }
    }

    /// Gives the allocation that begins at `address` back.
    pub(crate) fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let (index, slot, offset) = self.live(address)?;
        if offset != 0 {
            return Err(match slot.len > offset {
                true => MemoryError::Interior { base: base_of(index) },
                false => MemoryError::Stray,
            });
        }
        self.release(index);
        Ok(())
    }

    fn release(&mut self, index: usize) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        slot.live = false;
        slot.bytes = Vec::new();
        slot.written = Written::default();
        self.live_bytes = self.live_bytes.saturating_sub(slot.len);
        self.live_count = self.live_count.saturating_sub(1);
        self.freed.push_back(index as u32);
    }

    /// Frees everything; returns how many allocations were live.
    pub(crate) fn reset(&mut self) -> usize {
        let slots = self.slots.iter().enumerate();
        let live: Vec<usize> = slots.filter(|(_, slot)| slot.live).map(|(index, _)| index).collect();
        live.iter().for_each(|&index| self.release(index));
        live.len()
    }

    /// The `len` bytes from `address`, which lie in one live allocation.
    pub(crate) fn bytes(&self, address: u64, len: usize) -> Result<&[u8], MemoryError> {
        let (index, range) = self.range(address, len)?;
        self.slots.get(index).and_then(|slot| slot.bytes.get(range)).ok_or(MemoryError::Stray)
    }

    /// The `len` bytes from `address`, which lie in one live allocation, to be written: they count as written.
    pub(crate) fn bytes_mut(&mut self, address: u64, len: usize) -> Result<&mut [u8], MemoryError> {
        let (index, range) = self.range(address, len)?;
        let slot = self.slots.get_mut(index).ok_or(MemoryError::Stray)?;
        slot.written.add(range.clone());
        slot.bytes.get_mut(range).ok_or(MemoryError::Stray)
    }

    /// Copies `len` bytes between two places, which may overlap. A copy of what nothing wrote is no more written.
    pub(crate) fn copy_within(&mut self, to: u64, from: u64, len: usize) -> Result<(), MemoryError> {
        let (to_slot, to) = self.range(to, len)?;
        let (from_slot, from) = self.range(from, len)?;
        let moved = |part: Range<usize>| part.start - from.start + to.start..part.end - from.start + to.start;
        if to_slot == from_slot {
            let slot = self.slots.get_mut(to_slot).ok_or(MemoryError::Stray)?;
            let written: Vec<_> = slot.written.within(from.clone()).map(moved).collect();
            written.into_iter().for_each(|part| slot.written.add(part));
            slot.bytes.copy_within(from, to.start);
            return Ok(());
        }
        let both = self.slots.get_disjoint_mut([to_slot, from_slot]);
        let [target, source] = both.map_err(|_| MemoryError::Stray)?;
        source.written.within(from.clone()).map(moved).for_each(|part| target.written.add(part));
        if let (Some(to), Some(from)) = (target.bytes.get_mut(to), source.bytes.get(from)) {
            to.copy_from_slice(from);
        }
        Ok(())
    }

    /// Bytes free, in total and live, and the number of live allocations.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            free: self.limit.saturating_sub(self.live_bytes),
            total: self.limit,
            live_bytes: self.live_bytes,
            live_count: self.live_count,
        }
    }

    /// The allocation whose slot `address` lies in: beginning and length, if it is live.
    pub(crate) fn allocation_near(&self, address: u64) -> Option<(u64, u64)> {
        let index = slot_of(address).checked_sub(FIRST_SLOT)? as usize;
        let slot = self.slots.get(index).filter(|slot| slot.live)?;
        Some((base_of(index), slot.len))
    }

    /// Every live allocation: beginning and contents.
    pub(crate) fn live_allocations_mut(&mut self) -> impl Iterator<Item = (u64, &mut [u8])> {
        let live = self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.live);
        live.map(|(index, slot)| (base_of(index), slot.bytes.as_mut_slice()))
    }

    /// Every live allocation: beginning and contents.
    pub(crate) fn live_allocations(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let live = self.slots.iter().enumerate().filter(|(_, slot)| slot.live);
        live.map(|(index, slot)| (base_of(index), slot.bytes.as_slice()))
    }

    /// What was written of every live allocation, in the order of their addresses.
    pub(crate) fn written_mut(&mut self) -> impl Iterator<Item = &mut Written> {
        self.slots.iter_mut().filter(|slot| slot.live).map(|slot| &mut slot.written)
    }

    /// The slot of an address, where it holds a live allocation: its index, itself, and the offset in it.
    fn live(&self, address: u64) -> Result<(usize, &Slot, u64), MemoryError> {
        let slot = slot_of(address);
        if slot < FIRST_SLOT {
            return Err(match slot {
                0 => MemoryError::Null,
                1..=3 => MemoryError::Window,
                _ => MemoryError::Stray,
            });
        }
        let index = (slot - FIRST_SLOT) as usize;
        let entry = self.slots.get(index).ok_or(MemoryError::Stray)?;
        let base = base_of(index);
        if !entry.live {
            return Err(MemoryError::Freed { base, len: entry.len });
        }
        address
            .checked_sub(base)
            .map(|offset| (index, entry, offset))
            .ok_or(MemoryError::OutOfRange { base, len: entry.len })
    }

    /// The slot index of an address, and its `len` bytes, which lie in the live allocation there.
    fn range(&self, address: u64, len: usize) -> Result<(usize, Range<usize>), MemoryError> {
        let (index, slot, offset) = self.live(address)?;
        let whole = slot.len;
        if offset > whole || len as u64 > whole - offset {
            return Err(MemoryError::OutOfRange { base: base_of(index), len: whole });
        }
        Ok((index, offset as usize..offset as usize + len))
    }
}

/// A vector of `len` times `fill`, `None` if the process cannot have it. Zeros come lazily from the system.
fn filled(len: usize, fill: u8) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    if fill == 0 {
        drop(bytes);
        return Some(vec![0; len]);
    }
    bytes.resize(len, fill);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_frees_are_told_apart() {
        let mut memory = Memory::new(1 << 20);
        let a = memory.allocate(100, 0).unwrap();
        assert_eq!(memory.free(a + 4), Err(MemoryError::Interior { base: a }));
        assert_eq!(memory.free(0), Err(MemoryError::Null));
        assert_eq!(memory.free(SHARED_WINDOW + 8), Err(MemoryError::Window));
        assert_eq!(memory.free(a + (1 << SLOT_SHIFT)), Err(MemoryError::Stray));
        assert_eq!(memory.free(a), Ok(()));
        assert_eq!(memory.free(a), Err(MemoryError::Freed { base: a, len: 100 }));
        assert_eq!(memory.usage().live_count, 0);
    }

    #[test]
    fn ranges_end_where_the_allocation_ends() {
        let mut memory = Memory::new(1 << 20);
        let a = memory.allocate(8, 0xcd).unwrap();
        assert_eq!(memory.bytes(a, 8).unwrap(), [0xcd; 8]);
        assert!(memory.bytes(a + 8, 0).unwrap().is_empty());
        for (address, len) in [(a, 9), (a + 8, 1), (a - 1, 1), (a + 7, usize::MAX)] {
            assert_eq!(memory.bytes(address, len), Err(MemoryError::OutOfRange { base: a, len: 8 }));
        }
    }

    #[test]
    fn freed_addresses_are_not_handed_out_again_soon() {
        let mut memory = Memory::new(1 << 20);
        let a = memory.allocate(8, 0).unwrap();
        memory.free(a).unwrap();
        assert_ne!(memory.allocate(8, 0).unwrap(), a);
    }

    #[test]
    fn overlapping_copies_move_like_memmove() {
        let mut memory = Memory::new(1 << 20);
        let a = memory.allocate(6, 0).unwrap();
        let b = memory.allocate(4, 9).unwrap();
        memory.bytes_mut(a, 6).unwrap().copy_from_slice(&[1, 2, 3, 4, 5, 6]);
        memory.copy_within(a + 2, a, 4).unwrap();
        assert_eq!(memory.bytes(a, 6).unwrap(), [1, 2, 1, 2, 3, 4]);
        memory.copy_within(b, a, 2).unwrap();
        memory.copy_within(a + 4, b, 2).unwrap();
        assert_eq!(memory.bytes(b, 4).unwrap(), [1, 2, 9, 9]);
        assert_eq!(memory.bytes(a, 6).unwrap(), [1, 2, 1, 2, 1, 2]);
    }

    #[test]
    fn out_of_memory_says_all_four_numbers_and_is_not_sticky() {
        let mut memory = Memory::new(100);
        let a = memory.allocate(60, 0).unwrap();
        assert_eq!(memory.allocate(41, 0), Err(OutOfMemory { asked: 41, free: 40, total: 100, live: 60 }));
        memory.free(a).unwrap();
        assert!(memory.allocate(100, 0).is_ok());
    }
}
