//! Global memory as a running block sees it: allocations by index. Which ranges of them a launch may touch is
//! decided before, in `access`.

/// Reads and writes at places that were checked. A place that is not there reads as zero and swallows writes,
/// which only a mistake of the checks could bring about.
pub(super) trait GlobalMemory {
    /// `N` bytes.
    fn read<const N: usize>(&mut self, allocation: u32, offset: usize) -> [u8; N];
    /// For each of half a warp's lanes the 32-bit word at its address minus `origin`. Slower places need not do better than this.
    #[inline(always)]
    fn read_words(&mut self, allocation: u32, addresses: &[u64; 16], origin: u64) -> [u32; 16] {
        addresses.map(|address| {
            u32::from_le_bytes(self.read::<4>(allocation, address.wrapping_sub(origin) as usize))
        })
    }

    /// Writes `N` bytes.
    fn write<const N: usize>(&mut self, allocation: u32, offset: usize, data: &[u8; N]);
}

/// The memory itself, for blocks that run one after another.
pub(super) struct Direct<'m> {
    pub(super) allocations: Vec<&'m mut [u8]>,
}

impl GlobalMemory for Direct<'_> {
    #[inline(always)]
    fn read<const N: usize>(&mut self, allocation: u32, offset: usize) -> [u8; N] {
        let bytes = self.allocations.get(allocation as usize);
        match bytes.and_then(|b| b.get(offset..)).and_then(|b| b.first_chunk()) {
            Some(chunk) => *chunk,
            None => [0; N],
        }
    }

    /// Finds the allocation once.
    #[inline(always)]
    fn read_words(&mut self, allocation: u32, addresses: &[u64; 16], origin: u64) -> [u32; 16] {
        let bytes = self.allocations.get(allocation as usize).map_or(&[][..], |bytes| &**bytes);
        addresses.map(|address| {
            let word = bytes.get(address.wrapping_sub(origin) as usize..).and_then(|rest| rest.first_chunk());
            word.map_or(0, |word| u32::from_le_bytes(*word))
        })
    }

    #[inline(always)]
    fn write<const N: usize>(&mut self, allocation: u32, offset: usize, data: &[u8; N]) {
        let bytes = self.allocations.get_mut(allocation as usize);
        if let Some(chunk) = bytes.and_then(|b| b.get_mut(offset..)).and_then(|b| b.first_chunk_mut()) {
            *chunk = *data;
        }
    }
}
