//! Which memory a context holds: device allocations, module variables, pinned blocks. Addresses that a call names are
//! looked up here, before anything is queued.

use std::collections::{BTreeMap, HashMap};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::HostPointer;
use crate::codes::{Answer, Code};

/// The memory of one context.
#[derive(Debug)]
pub struct Allocations {
    /// Length of each live allocation and variable by its address.
    device: BTreeMap<u64, u64>,
    /// Length of each pinned block by its address.
    pinned: HashMap<usize, (HostPointer, usize)>,
    /// Bytes taken from the device.
    taken: u64,
    limit: u64,
    /// What all contexts of the device have taken.
    used: Arc<AtomicU64>,
}

impl Allocations {
    pub fn new(limit: u64, used: Arc<AtomicU64>) -> Self {
        Self { device: BTreeMap::new(), pinned: HashMap::new(), taken: 0, limit, used }
    }

    /// Bytes free on the device.
    pub fn free_bytes(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Acquire))
    }

    /// Takes bytes of the device's.
    pub fn take(&mut self, bytes: u64) -> Answer {
        let fits = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        let taken = self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, fits);
        taken.map_err(|_| Code::OUT_OF_MEMORY)?;
        self.taken += bytes;
        Ok(())
    }

    /// Gives bytes back to the device.
    pub fn give_back(&mut self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::AcqRel);
        self.taken -= bytes;
    }

    /// Notes what lies at an address.
    pub fn add(&mut self, address: u64, bytes: u64) {
        self.device.insert(address, bytes);
    }

    /// Takes the allocation that begins at `address` out; returns its length.
    pub fn remove(&mut self, address: u64) -> Answer<u64> {
        self.device.remove(&address).ok_or(Code::INVALID_VALUE)
    }

    /// The allocation that `address` lies in: beginning and length.
    pub fn around(&self, address: u64) -> Option<(u64, u64)> {
        let (&base, &bytes) = self.device.range(..=address).next_back()?;
        (address - base < bytes).then_some((base, bytes))
    }

    /// Refuses a range that does not lie in one allocation.
    pub fn check(&self, address: u64, bytes: u64) -> Answer {
        match self.around(address) {
            Some((base, len)) if bytes <= len - (address - base) => Ok(()),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// Bytes of pinned blocks.
    pub fn pinned_bytes(&self) -> u64 {
        self.pinned.values().map(|(_, bytes)| *bytes as u64).sum()
    }

    /// Notes a pinned block.
    pub fn add_pinned(&mut self, pointer: NonNull<u8>, bytes: usize) {
        self.pinned.insert(pointer.addr().get(), (HostPointer(pointer), bytes));
    }

    /// Takes a pinned block out.
    pub fn remove_pinned(&mut self, address: usize) -> Option<(NonNull<u8>, usize)> {
        self.pinned.remove(&address).map(|(HostPointer(pointer), bytes)| (pointer, bytes))
    }

    /// Forgets everything: the context is gone.
    pub fn clear(&mut self) {
        self.device.clear();
        self.pinned.clear();
        self.give_back(self.taken);
    }
}
