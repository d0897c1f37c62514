//! The blocks of a pool and how they are cut: a plain data structure that never asks a device.

use std::collections::{BTreeMap, BTreeSet};

use super::{Pending, PendingWork, Piece};

/// Pieces begin and end at multiples of this many bytes: more than any access needs, and the pitch of an H200.
const GRAIN: usize = 512;
/// How many free pieces of a fitting size are looked at before a new block is better.
const CANDIDATES: usize = 32;

/// `bytes` rounded up to what a piece can have.
pub(super) fn rounded(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(GRAIN)
}

#[derive(Debug)]
struct Part {
    bytes: usize,
    /// Address of its block.
    block: u64,
    /// `None`: handed out. Else what its next user must be queued behind.
    free: Option<PendingWork>,
}

/// Blocks, cut without gaps into parts.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Bytes by address.
    blocks: BTreeMap<u64, usize>,
    /// By address.
    parts: BTreeMap<u64, Part>,
    /// Bytes and address of free parts, smallest first.
    free: BTreeSet<(usize, u64)>,
    cached: u64,
}

impl Pieces {
    /// Bytes that are not handed out.
    pub(super) fn cached(&self) -> u64 {
        self.cached
    }

    /// Adds a block from the driver, all of it free.
    pub(super) fn add_block(&mut self, address: u64, bytes: usize) {
        self.blocks.insert(address, bytes);
        self.parts.insert(address, Part { bytes, block: address, free: Some(PendingWork::new()) });
        self.free.insert((bytes, address));
        self.cached += bytes as u64;
    }

    /// Hands out a small free part that holds `bytes`, a multiple of the grain, and whose pending work is all acceptable:
    /// the smallest such one, if it is among the smallest parts.
    pub(super) fn take(&mut self, bytes: usize, acceptable: &dyn Fn(Pending) -> bool) -> Option<Piece> {
        self.take_of(CANDIDATES, bytes, acceptable)
    }

    /// The same, however many parts have to be looked at.
    pub(super) fn take_any(&mut self, bytes: usize, acceptable: &dyn Fn(Pending) -> bool) -> Option<Piece> {
        self.take_of(usize::MAX, bytes, acceptable)
    }

    fn take_of(
        &mut self,
        candidates: usize,
        bytes: usize,
        acceptable: &dyn Fn(Pending) -> bool,
    ) -> Option<Piece> {
        let fits = |&&(_, address): &&(usize, u64)| {
            let pending = self.parts.get(&address).and_then(|part| part.free.as_ref());
            pending.is_some_and(|pending| pending.iter().all(|&p| acceptable(p)))
        };
        let &(size, address) = self.free.range((bytes, 0)..).take(candidates).find(fits)?;
        self.hand_out(size, address, bytes)
    }

    /// Adds a block of `size` bytes from the driver, and hands out its first `bytes`, a multiple of the grain.
    pub(super) fn take_from_block(&mut self, address: u64, size: usize, bytes: usize) -> Option<Piece> {
        self.add_block(address, size);
        self.hand_out(size, address, bytes)
    }

    /// Hands out the first `bytes` of the free part of `size` bytes at this address.
    fn hand_out(&mut self, size: usize, address: u64, bytes: usize) -> Option<Piece> {
        self.free.remove(&(size, address));
        let part = self.parts.get_mut(&address)?;
        let pending = part.free.take()?;
        if size > bytes {
            part.bytes = bytes;
            let rest = Part { bytes: size - bytes, block: part.block, free: Some(pending.clone()) };
            self.free.insert((rest.bytes, address + bytes as u64));
            self.parts.insert(address + bytes as u64, rest);
        }
        self.cached -= bytes as u64;
        Some(Piece { address, pending })
    }

    /// Takes a part back, and joins it with free neighbours of its block.
    pub(super) fn free(&mut self, address: u64, pending: PendingWork) {
        let Some(mut part) = self.parts.remove(&address) else { return };
        self.cached += part.bytes as u64;
        let mut pending = pending;
        let mut begin = address;
        if let Some((&before, neighbour)) = self.parts.range(..address).next_back()
            && neighbour.block == part.block
            && neighbour.free.is_some()
            && let Some(neighbour) = self.parts.remove(&before)
        {
            self.free.remove(&(neighbour.bytes, before));
            merge(&mut pending, neighbour.free);
            begin = before;
            part.bytes += neighbour.bytes;
        }
        let end = begin + part.bytes as u64;
        if self.parts.get(&end).is_some_and(|n| n.block == part.block && n.free.is_some())
            && let Some(neighbour) = self.parts.remove(&end)
        {
            self.free.remove(&(neighbour.bytes, end));
            merge(&mut pending, neighbour.free);
            part.bytes += neighbour.bytes;
        }
        self.free.insert((part.bytes, begin));
        part.free = Some(pending);
        self.parts.insert(begin, part);
    }

    /// Drops pending work that no longer matters.
    pub(super) fn forget(&mut self, over: &dyn Fn(Pending) -> bool) {
        for (_, address) in &self.free {
            if let Some(pending) = self.parts.get_mut(address).and_then(|part| part.free.as_mut()) {
                pending.retain(|p| !over(*p));
            }
        }
    }

    /// Takes out blocks that are wholly free and without pending work, largest first, until `keep` bytes are cached.
    pub(super) fn take_idle(&mut self, keep: u64) -> Vec<(u64, usize)> {
        let idle = |&&(bytes, address): &&(usize, u64)| {
            self.blocks.get(&address) == Some(&bytes)
                && self.parts.get(&address).and_then(|part| part.free.as_ref()).is_some_and(|p| p.is_empty())
        };
        let mut idle: Vec<(usize, u64)> = self.free.iter().filter(idle).copied().collect();
        let mut taken = Vec::new();
        while self.cached > keep
            && let Some((bytes, address)) = idle.pop()
        {
            self.blocks.remove(&address);
            self.parts.remove(&address);
            self.free.remove(&(bytes, address));
            self.cached -= bytes as u64;
            taken.push((address, bytes));
        }
        taken
    }

    /// Takes out every block, whatever is in use.
    pub(super) fn take_all(&mut self) -> Vec<(u64, usize)> {
        let blocks = std::mem::take(self).blocks;
        blocks.into_iter().collect()
    }
}

/// Adds pending work; of one stream only the later moment counts.
fn merge(pending: &mut PendingWork, more: Option<PendingWork>) {
    for new in more.into_iter().flatten() {
        match pending.iter_mut().find(|known| known.stream == new.stream) {
            Some(known) => known.moment = known.moment.max(new.moment),
            None => pending.push(new),
        }
    }
}

#[cfg(test)]
impl Pieces {
    /// Holds what the fields promise each other.
    pub(super) fn check(&self) {
        let mut free = BTreeSet::new();
        let mut cached = 0;
        for (&block, &bytes) in &self.blocks {
            let mut at = block;
            while at < block + bytes as u64 {
                let part = &self.parts[&at];
                assert_eq!(part.block, block);
                if part.free.is_some() {
                    free.insert((part.bytes, at));
                    cached += part.bytes as u64;
                }
                let next = at + part.bytes as u64;
                let both_free = part.free.is_some()
                    && self.parts.get(&next).is_some_and(|n| n.block == block && n.free.is_some());
                assert!(!both_free, "free neighbours at {at:#x} are one part");
                at = next;
            }
            assert_eq!(at, block + bytes as u64, "parts fill their block");
        }
        assert_eq!(free, self.free);
        assert_eq!(cached, self.cached);
    }
}
