//! What strict mode remembers of each byte of memory: who wrote it last, and who read it since.

use std::collections::HashMap;
use std::ops::Range;

use super::order::Thread;
use crate::fault::AccessKind;

/// Bytes that are kept together.
const PAGE: usize = 256;

/// An access that was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) thread: Thread,
    pub(super) time: u64,
    pub(super) function: u32,
    pub(super) pc: u32,
    /// Atomic or volatile: two of these do not race.
    pub(super) ordered: bool,
}

/// An access that is being made.
pub(super) struct Touch {
    pub(super) kind: AccessKind,
    pub(super) mark: Mark,
    pub(super) data: [u8; 32],
}

/// Two accesses without an order: the earlier one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) with: Mark,
}

#[derive(Clone, Copy, Default)]
struct Byte {
    writer: Option<Mark>,
    value: Option<u8>,
    /// The last readers of two threads.
    readers: [Option<Mark>; 2],
}

/// The memory of one allocation, or of a block.
#[derive(Default)]
pub(super) struct Shadow {
    pages: HashMap<usize, Box<[Byte; PAGE]>>,
}

impl Shadow {
    fn byte(&self, offset: usize) -> Byte {
        self.pages.get(&(offset / PAGE)).map_or(Byte::default(), |page| page[offset % PAGE])
    }

    /// Was any of these bytes written in this launch?
    pub(super) fn written(&self, offset: usize, size: usize) -> bool {
        (offset..offset + size).any(|at| self.byte(at).writer.is_some())
    }

    /// Gives each range that was written in this launch to `note`, in any order.
    pub(super) fn each_written(&self, mut note: impl FnMut(Range<usize>)) {
        for (page, bytes) in &self.pages {
            let mut at = page * PAGE;
            for run in bytes.chunk_by(|a, b| a.writer.is_some() == b.writer.is_some()) {
                if run[0].writer.is_some() {
                    note(at..at + run.len());
                }
                at += run.len();
            }
        }
    }

    /// Notes an access. `is_before`: is that access ordered before this one?
    pub(super) fn touch(
        &mut self,
        offset: usize,
        size: usize,
        touch: &Touch,
        is_before: impl Fn((Thread, u64)) -> bool,
    ) -> Result<(), Conflict> {
        let races = |earlier: &Mark| {
            let both_ordered = earlier.ordered && touch.mark.ordered;
            !(both_ordered || is_before((earlier.thread, earlier.time)))
        };
        for (index, at) in (offset..offset + size).enumerate() {
            let page = self.pages.entry(at / PAGE).or_insert_with(|| Box::new([Byte::default(); PAGE]));
            let byte = &mut page[at % PAGE];
            let value = (touch.kind == AccessKind::Store).then(|| touch.data[index % 32]);
            // two threads that store the same value do no harm
            let same = value.is_some() && value == byte.value;
            if let Some(with) = byte.writer.filter(|writer| races(writer) && !same) {
                return Err(Conflict { with });
            }
            if touch.kind == AccessKind::Load {
                let slot = byte.readers.iter().position(|r| r.is_none_or(|r| r.thread == touch.mark.thread));
                byte.readers[slot.unwrap_or(1)] = Some(touch.mark);
                continue;
            }
            if let Some(with) = byte.readers.iter().flatten().find(|reader| races(reader)) {
                return Err(Conflict { with: *with });
            }
            *byte = Byte { writer: Some(touch.mark), value, readers: [None; 2] };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(kind: AccessKind, thread: u32, time: u64, value: u8) -> Touch {
        let thread = Thread { block: 0, thread };
        let ordered = kind == AccessKind::Atomic;
        Touch { kind, mark: Mark { thread, time, function: 0, pc: time as u32, ordered }, data: [value; 32] }
    }

    #[test]
    fn writes_race_with_reads_and_writes_of_others() {
        let own = |thread: u32| move |(other, _): (Thread, u64)| other.thread == thread;
        let mut shadow = Shadow::default();
        assert!(shadow.touch(0, 4, &touch(AccessKind::Store, 1, 1, 5), own(1)).is_ok());
        assert!(shadow.touch(0, 4, &touch(AccessKind::Load, 1, 2, 0), own(1)).is_ok());
        let conflict = shadow.touch(2, 4, &touch(AccessKind::Load, 2, 3, 0), own(2)).unwrap_err();
        assert_eq!(conflict.with.pc, 1);
        let conflict = shadow.touch(0, 1, &touch(AccessKind::Store, 2, 4, 5), own(2)).unwrap_err();
        assert_eq!(conflict.with.pc, 2, "the same value, but somebody read it");
        assert!(shadow.touch(8, 4, &touch(AccessKind::Atomic, 1, 5, 0), own(1)).is_ok());
        assert!(shadow.touch(8, 4, &touch(AccessKind::Atomic, 2, 6, 0), own(2)).is_ok());
        assert!(shadow.written(9, 1) && !shadow.written(6, 2));
        let mut ranges = Vec::new();
        shadow.each_written(|range| ranges.push(range));
        assert_eq!(ranges, [0..4, 8..12]);
    }
}
