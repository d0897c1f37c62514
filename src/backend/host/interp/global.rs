//! Global memory as a running block sees it: allocations by index. Which ranges of them a launch may touch is
//! decided before, in `access`.

/// Reads and writes at places that were checked. A place that is not there reads as zero and swallows writes,
/// which only a mistake of the checks could bring about.
pub(super) trait GlobalMemory {
    /// `N` bytes.
    fn read<const N: usize>(&mut self, allocation: u32, offset: usize) -> [u8; N];
    /// These bytes, where reading them needs nobody to be told. A short cut: `read` gives the same.
    fn window(&self, allocation: u32, offset: usize, len: usize) -> Option<&[u8]>;
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

    #[inline(always)]
    fn window(&self, allocation: u32, offset: usize, len: usize) -> Option<&[u8]> {
        self.allocations.get(allocation as usize)?.get(offset..offset.checked_add(len)?)
    }

    #[inline(always)]
    fn write<const N: usize>(&mut self, allocation: u32, offset: usize, data: &[u8; N]) {
        let bytes = self.allocations.get_mut(allocation as usize);
        if let Some(chunk) = bytes.and_then(|b| b.get_mut(offset..)).and_then(|b| b.first_chunk_mut()) {
            *chunk = *data;
        }
    }
}
