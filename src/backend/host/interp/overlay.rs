//! Global memory of a run of blocks that is tried beside others: writes go to private copies of pages, reads are
//! noted, and nothing is seen by anybody until it is committed. Whether it may be is decided in `parallel`.

use super::global::GlobalMemory;

/// Bytes of a page.
const PAGE: usize = 4096;
/// Reads are noted by granules of this many bytes, writes by bytes.
const GRANULE: usize = 4;

/// The granules of a page that were read.
type Reads = [u64; PAGE / GRANULE / 64];
/// The bytes of a page that were written.
type Writes = [u64; PAGE / 64];

/// A page that was written.
struct Page {
    bytes: [u8; PAGE],
    written: Writes,
}

/// One allocation as the run sees it.
struct View<'m> {
    base: &'m [u8],
    /// Can the launch write it at all? If not, nothing needs to be noted.
    writable: bool,
    pages: Vec<Option<Box<Page>>>,
    reads: Vec<Option<Box<Reads>>>,
}

/// The memory of one run.
pub(super) struct Overlay<'m> {
    views: Vec<View<'m>>,
}

/// What a run wrote and read, without its hold on the memory.
pub(super) struct Effects {
    /// By allocation and page.
    writes: Vec<(u32, u32, Box<Page>)>,
    reads: Vec<(u32, u32, Box<Reads>)>,
}

impl<'m> Overlay<'m> {
    /// Over these allocations; `writable` says which of them the launch may write.
    pub(super) fn new(allocations: &[&'m [u8]], writable: &[bool]) -> Self {
        let views = allocations.iter().zip(writable);
        Self {
            views: views
                .map(|(&base, &writable)| View { base, writable, pages: Vec::new(), reads: Vec::new() })
                .collect(),
        }
    }

    pub(super) fn into_effects(self) -> Effects {
        let mut effects = Effects { writes: Vec::new(), reads: Vec::new() };
        for (allocation, view) in self.views.into_iter().enumerate() {
            let number = |page: usize| (allocation as u32, page as u32);
            for (page, written) in view.pages.into_iter().enumerate() {
                effects.writes.extend(written.map(|w| (number(page).0, number(page).1, w)));
            }
            for (page, read) in view.reads.into_iter().enumerate() {
                effects.reads.extend(read.map(|r| (number(page).0, number(page).1, r)));
            }
        }
        effects
    }
}

impl View<'_> {
    fn page_count(&self) -> usize {
        self.base.len().div_ceil(PAGE)
    }

    /// The bits of `written` at the bytes of granule-aligned words are looked at, so that reading what the run
    /// itself wrote is no read of others' memory.
    #[inline(always)]
    fn note_read(&mut self, offset: usize, len: usize) {
        if self.reads.is_empty() {
            self.reads.resize_with(self.page_count(), || None);
        }
        let page = offset / PAGE;
        let Some(slot) = self.reads.get_mut(page) else { return };
        let own = self.pages.get(page).and_then(Option::as_deref).map(|page| &page.written);
        let reads = slot.get_or_insert_with(|| Box::new([0; PAGE / GRANULE / 64]));
        let (first, last) = (offset % PAGE / GRANULE, (offset % PAGE + len - 1) / GRANULE);
        for granule in first..=last {
            let at = granule * GRANULE;
            let mine = own.is_some_and(|written| written[at / 64] >> (at % 64) & 0xf == 0xf);
            reads[granule / 64 % reads.len()] |= u64::from(!mine) << (granule % 64);
        }
    }

    /// A piece inside one page.
    #[inline(always)]
    fn read(&mut self, offset: usize, to: &mut [u8]) {
        if self.writable {
            self.note_read(offset, to.len());
        }
        let from = match self.pages.get(offset / PAGE) {
            Some(Some(page)) => page.bytes.get(offset % PAGE..offset % PAGE + to.len()),
            _ => self.base.get(offset..offset + to.len()),
        };
        if let Some(from) = from {
            to.copy_from_slice(from);
        }
    }

    /// A piece inside one page.
    #[inline(always)]
    fn write(&mut self, offset: usize, data: &[u8]) {
        if self.pages.is_empty() {
            self.pages.resize_with(self.page_count(), || None);
        }
        let base = self.base;
        let (page, inside) = (offset / PAGE, offset % PAGE);
        let Some(slot) = self.pages.get_mut(page) else { return };
        let page = slot.get_or_insert_with(|| {
            let mut bytes = [0; PAGE];
            let old = base.get(page * PAGE..).unwrap_or_default();
            let len = old.len().min(PAGE);
            bytes[..len].copy_from_slice(&old[..len]);
            Box::new(Page { bytes, written: [0; PAGE / 64] })
        });
        let Some(to) = page.bytes.get_mut(inside..inside + data.len()) else { return };
        to.copy_from_slice(data);
        let (mut at, end) = (inside, inside + data.len());
        while at < end {
            let bits = (end - at).min(64 - at % 64);
            let ones = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            page.written[at / 64 % (PAGE / 64)] |= ones << (at % 64);
            at += bits;
        }
    }
}

impl GlobalMemory for Overlay<'_> {
    #[inline(always)]
    fn read<const N: usize>(&mut self, allocation: u32, offset: usize) -> [u8; N] {
        let mut bytes = [0; N];
        if let Some(view) = self.views.get_mut(allocation as usize) {
            let first = N.min(PAGE - offset % PAGE);
            view.read(offset, &mut bytes[..first]);
            if first < N {
                view.read(offset + first, &mut bytes[first..]);
            }
        }
        bytes
    }

    /// What nobody can write is the same for all runs.
    #[inline(always)]
    fn window(&self, allocation: u32, offset: usize, len: usize) -> Option<&[u8]> {
        let view = self.views.get(allocation as usize).filter(|view| !view.writable)?;
        view.base.get(offset..offset.checked_add(len)?)
    }

    #[inline(always)]
    fn write<const N: usize>(&mut self, allocation: u32, offset: usize, data: &[u8; N]) {
        if let Some(view) = self.views.get_mut(allocation as usize) {
            let first = N.min(PAGE - offset % PAGE);
            view.write(offset, &data[..first]);
            if first < N {
                view.write(offset + first, &data[first..]);
            }
        }
    }
}

/// The bytes that the runs of one wave have written so far, by allocation and page.
#[derive(Default)]
pub(super) struct Written {
    pages: std::collections::HashMap<(u32, u32), Box<Writes>>,
}

impl Written {
    /// Did the run read anything that earlier runs wrote?
    pub(super) fn was_read_by(&self, effects: &Effects) -> bool {
        effects.reads.iter().any(|(allocation, page, reads)| {
            self.pages.get(&(*allocation, *page)).is_some_and(|written| {
                (0..PAGE / GRANULE).any(|granule| {
                    let at = granule * GRANULE;
                    reads[granule / 64] >> (granule % 64) & 1 == 1 && written[at / 64] >> (at % 64) & 0xf != 0
                })
            })
        })
    }
}

impl Effects {
    /// Makes the run's writes real, and notes them.
    pub(super) fn commit(self, allocations: &mut [&mut [u8]], written: &mut Written) {
        for (allocation, number, page) in self.writes {
            let Some(bytes) = allocations.get_mut(allocation as usize) else { continue };
            let start = number as usize * PAGE;
            for (word, &bits) in page.written.iter().enumerate() {
                let at = word * 64;
                let Some(to) = bytes.get_mut(start + at..) else { break };
                let len = to.len().min(64);
                if bits == u64::MAX && len == 64 {
                    to[..64].copy_from_slice(&page.bytes[at..at + 64]);
                    continue;
                }
                for (bit, to) in to[..len].iter_mut().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1) {
                    *to = page.bytes[at + bit];
                }
            }
            let known = written.pages.entry((allocation, number)).or_insert_with(|| Box::new([0; PAGE / 64]));
            known.iter_mut().zip(&page.written).for_each(|(known, new)| *known |= new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<'m>(memory: &[&'m [u8]]) -> Overlay<'m> {
        Overlay::new(memory, &vec![true; memory.len()])
    }

    #[test]
    fn writes_are_private_until_they_are_committed() {
        let mut bytes = vec![1_u8; 10_000];
        let mut overlay = run(&[&bytes]);
        overlay.write(0, 4094, &[7; 4]);
        assert_eq!(overlay.read::<8>(0, 4092), [1, 1, 7, 7, 7, 7, 1, 1]);
        let effects = overlay.into_effects();
        assert_eq!(bytes, vec![1; 10_000]);
        let mut written = Written::default();
        effects.commit(&mut [&mut bytes], &mut written);
        assert_eq!(bytes.iter().map(|&b| usize::from(b)).sum::<usize>(), 10_000 + 4 * 6);
        assert_eq!(bytes[4094..4098], [7; 4]);
    }

    #[test]
    fn reading_what_an_earlier_run_wrote_is_found() {
        let bytes = vec![0_u8; 10_000];
        let mut first = run(&[&bytes]);
        first.write(0, 5000, &[1; 4]);
        let [mut near, mut same, mut own] = [run(&[&bytes]), run(&[&bytes]), run(&[&bytes])];
        near.read::<4>(0, 5004);
        same.read::<1>(0, 5003);
        own.write(0, 5000, &[2; 4]);
        own.read::<4>(0, 5000);
        let mut written = Written::default();
        first.into_effects().commit(&mut [&mut bytes.clone()], &mut written);
        assert!(!written.was_read_by(&near.into_effects()));
        assert!(written.was_read_by(&same.into_effects()));
        assert!(!written.was_read_by(&own.into_effects()), "it read its own");
    }
}
