//! The ledger: everything a context handed out, who used it last on which stream, and what must be given back.
//! It decides order and gives back; it never looks inside memory.

use std::panic::Location;

use smallvec::SmallVec;

use crate::backend::{Answer, Backend, Contents, MarkId, ModuleId, StreamId};
pub(crate) use crate::context::slots::EntryId;
use crate::context::slots::Slots;
use crate::pool::{Pending, PendingWork, Standing};

/// A moment of a stream at which something was used: the number of operations queued so far.
type Use = Pending;

/// A live device allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    pub(crate) location: &'static Location<'static>,
    last_write: Option<Use>,
    /// The range of its elements: known from an upload until the next write.
    contents: Option<Box<Contents>>,
    reads: PendingWork,
}

/// What a queued operation does to an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) entry: EntryId,
    pub(crate) write: bool,
}

#[derive(Debug, Default)]
struct Clock {
    queued: u64,
    stopped: u64,
    /// Up to which moment of another stream this one already waits.
    seen: SmallVec<[(StreamId, u64); 4]>,
}

/// The streams and how far each is, in the order of their ids: asked several times at every operation, and short.
#[derive(Debug, Default)]
struct Clocks(Vec<(StreamId, Clock)>);

impl Clocks {
    #[inline]
    fn find(&self, stream: StreamId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&stream, |(id, _)| *id)
    }

    #[inline]
    fn get(&self, stream: StreamId) -> Option<&Clock> {
        self.find(stream).ok().and_then(|at| self.0.get(at)).map(|(_, clock)| clock)
    }

    #[inline]
    fn get_mut(&mut self, stream: StreamId) -> Option<&mut Clock> {
        self.find(stream).ok().and_then(|at| self.0.get_mut(at)).map(|(_, clock)| clock)
    }

    fn add(&mut self, stream: StreamId) {
        if let Err(at) = self.find(stream) {
            self.0.insert(at, (stream, Clock::default()));
        }
    }

    fn remove(&mut self, stream: StreamId) {
        self.0.retain(|(id, _)| *id != stream);
        // what others know of it is of no use any more, and would add up
        for (_, clock) in &mut self.0 {
            clock.seen.retain(|(other, _)| *other != stream);
        }
    }

    #[inline]
    fn has_stopped(&self, use_: Use) -> bool {
        // A stream that is gone was waited for before it went.
        self.get(use_.stream).is_none_or(|clock| clock.stopped >= use_.moment)
    }

    /// Whether what `stream` queues now comes after `earlier`, of another stream, because it waits for that.
    fn waits_for(&self, stream: StreamId, earlier: Use) -> bool {
        let mut seen = self.get(stream).into_iter().flat_map(|clock| &clock.seen);
        seen.any(|(other, moment)| *other == earlier.stream && *moment >= earlier.moment)
    }
}

/// Page-locked host memory that was handed out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PinnedBlock {
    pub(crate) pointer: crate::backend::HostPointer,
    pub(crate) bytes: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) allocations: Slots<Allocation>,
    pub(crate) pinned: Slots<PinnedBlock>,
    /// Events, with the call that made each.
    pub(crate) marks: Slots<(MarkId, &'static Location<'static>)>,
    pub(crate) modules: Slots<ModuleId>,
    clocks: Clocks,
}

impl Ledger {
    pub(crate) fn add_allocation(
        &mut self,
        address: u64,
        bytes: usize,
        location: &'static Location<'static>,
        before: PendingWork,
    ) -> EntryId {
        // Whoever writes here first has to follow whoever used the memory before. Nobody reads before it is written.
        self.allocations.insert(Allocation {
            address,
            bytes,
            location,
            last_write: None,
            contents: None,
            reads: before,
        })
    }

    pub(crate) fn add_stream(&mut self, stream: StreamId) {
        self.clocks.add(stream);
    }

    pub(crate) fn remove_stream(&mut self, stream: StreamId) {
        self.clocks.remove(stream);
    }

    /// Whether the stream is still there.
    pub(crate) fn has_stream(&self, stream: StreamId) -> bool {
        self.clocks.get(stream).is_some()
    }

    /// Every stream that is still there, newest first.
    pub(crate) fn streams(&self) -> Vec<StreamId> {
        self.clocks.0.iter().rev().map(|(stream, _)| *stream).collect()
    }

    /// Queues one operation on `stream`, after everything that it must follow.
    ///
    /// A reader follows the last writer; a writer follows the last writer and all readers since. Where those were on
    /// another stream, `stream` waits for what that one has queued by now: one mark, and none if it waits already.
    pub(crate) fn submit(
        &mut self,
        backend: &dyn Backend,
        stream: StreamId,
        touches: impl IntoIterator<Item = Touch>,
        queue: impl FnOnce() -> Answer<()>,
    ) -> Answer<()> {
        let home = self.clocks.find(stream).ok();
        let queued = home.and_then(|at| self.clocks.0.get(at)).map_or(0, |(_, clock)| clock.queued);
        let now = Use { stream, moment: queued + 1 };
        let mut waiting: SmallVec<[Touch; 4]> = SmallVec::new();
        // Uses are noted before the operation is queued: if that fails, somebody waits for a moment that means the next one.
        for touch in touches {
            if let Some(allocation) = self.allocations.get_mut(touch.entry)
                && !allocation.note_in_order(now, touch.write, &self.clocks)
            {
                waiting.push(touch);
            }
        }
        if !waiting.is_empty() {
            self.follow_others(backend, now, &waiting)?;
        }
        queue()?;
        if let Some((_, clock)) = home.and_then(|at| self.clocks.0.get_mut(at)) {
            clock.queued = now.moment;
        }
        Ok(())
    }

    /// Makes `now`'s stream wait for the uses on other streams that `touches` must follow, and notes these.
    fn follow_others(&mut self, backend: &dyn Backend, now: Use, touches: &[Touch]) -> Answer<()> {
        let mut after: SmallVec<[Use; 4]> = SmallVec::new();
        for touch in touches {
            let Some(allocation) = self.allocations.get(touch.entry) else { continue };
            let reads = touch.write.then_some(&allocation.reads).into_iter().flatten();
            let earlier = allocation.last_write.iter().chain(reads).copied();
            after.extend(
                earlier.filter(|earlier| earlier.stream != now.stream && !self.clocks.has_stopped(*earlier)),
            );
        }
        for earlier in after {
            // one wait for another stream covers all that it had queued
            if !self.clocks.waits_for(now.stream, earlier) {
                self.wait_for_stream(backend, now.stream, earlier.stream)?;
            }
        }
        // A note forgets earlier uses, so these had to wait until the stream is known to come after them.
        for touch in touches {
            if let Some(allocation) = self.allocations.get_mut(touch.entry) {
                allocation.note(now, touch.write, &self.clocks);
            }
        }
        Ok(())
    }

    /// Makes `stream` wait for what `other` has queued by now.
    fn wait_for_stream(&mut self, backend: &dyn Backend, stream: StreamId, other: StreamId) -> Answer<()> {
        backend.make_current()?;
        let mark = backend.record(other)?;
        let waiting = backend.wait_on(stream, mark);
        let destroyed = backend.destroy_mark(mark);
        waiting?;
        destroyed?;
        let moment = self.moment(other);
        let Some(clock) = self.clocks.get_mut(stream) else { return Ok(()) };
        match clock.seen.iter_mut().find(|(known, _)| *known == other) {
            Some((_, seen)) => *seen = moment,
            None => clock.seen.push((other, moment)),
        }
        Ok(())
    }

    /// How many operations the stream has queued so far.
    pub(crate) fn moment(&self, stream: StreamId) -> u64 {
        self.clocks.get(stream).map_or(0, |clock| clock.queued)
    }

    /// Notes that everything the stream had queued at `moment` has stopped.
    pub(crate) fn note_stopped(&mut self, stream: StreamId, moment: u64) {
        if let Some(clock) = self.clocks.get_mut(stream) {
            clock.stopped = clock.stopped.max(moment);
        }
    }

    /// Notes what an upload that filled all of an allocation brought. The array is still borrowed mutably by whoever
    /// uploads, so nothing else was queued on it since.
    pub(crate) fn set_contents(&mut self, entry: EntryId, address: u64, bytes: usize, contents: Contents) {
        if let Some(allocation) = self.allocations.get_mut(entry)
            && (allocation.address, allocation.bytes) == (address, bytes)
        {
            allocation.contents = Some(Box::new(contents));
        }
    }

    /// The range of an allocation's elements, if it is known.
    pub(crate) fn contents(&self, entry: EntryId) -> Option<Contents> {
        self.allocations.get(entry)?.contents.as_deref().copied()
    }

    /// What uses the allocation and may still run, each stream once.
    pub(crate) fn pending(&self, allocation: &Allocation) -> PendingWork {
        let mut pending = PendingWork::new();
        for &use_ in allocation.last_write.iter().chain(&allocation.reads) {
            if self.clocks.has_stopped(use_) {
                continue;
            }
            match pending.iter_mut().find(|known| known.stream == use_.stream) {
                Some(known) => known.moment = known.moment.max(use_.moment),
                None => pending.push(use_),
            }
        }
        pending
    }

    /// How work stands that a free piece of memory waits for; `home` is the stream that goes on without a wait.
    pub(crate) fn standing(&self, pending: Pending, home: StreamId) -> Standing {
        match self.clocks.get(pending.stream) {
            None => Standing::Unknown,
            Some(clock) if clock.stopped >= pending.moment => Standing::Stopped,
            Some(_) if pending.stream == home => Standing::InOrder,
            Some(_) => Standing::Elsewhere,
        }
    }
}

impl Allocation {
    /// Notes a use if all that it must follow was queued on its own stream, or is followed by that already: a read after
    /// the last write was queued behind that write. `false`: nothing was noted.
    #[inline]
    fn note_in_order(&mut self, now: Use, write: bool, clocks: &Clocks) -> bool {
        // What most operations meet, without a look at the rest: one stream reads what it has read, or writes what nobody
        // reads and it has written.
        match (self.reads.first_mut(), &mut self.last_write) {
            (Some(read), _) if !write && read.stream == now.stream => {
                *read = now;
                return true;
            }
            (None, Some(last)) if write && last.stream == now.stream => {
                *last = now;
                self.contents = None;
                return true;
            }
            _ => {}
        }
        let (mut own_read, mut read_elsewhere) = (None, false);
        for read in &mut self.reads {
            if read.stream == now.stream {
                own_read = Some(read);
            } else {
                read_elsewhere = true;
            }
        }
        let follows_write =
            own_read.is_some() || self.last_write.is_none_or(|last| last.stream == now.stream);
        if !follows_write || (write && read_elsewhere) {
            return false;
        }
        match own_read {
            Some(read) if !write => *read = now,
            _ => self.note(now, write, clocks),
        }
        true
    }

    fn note(&mut self, now: Use, write: bool, clocks: &Clocks) {
        if write {
            self.contents = None;
            self.last_write = Some(now);
            self.reads.clear();
        } else {
            match self.reads.iter_mut().find(|read| read.stream == now.stream) {
                Some(read) => *read = now,
                None => {
                    // what has stopped is of no use any more: read on one stream after another, these would add up
                    self.reads.retain(|read| !clocks.has_stopped(*read));
                    self.reads.push(now);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::host::HostBackend;
    use crate::device::HostOptions;

    #[test]
    fn reads_that_have_stopped_do_not_add_up_and_those_that_run_stay() {
        let backend = HostBackend::new(HostOptions::new());
        let mut ledger = Ledger::default();
        let entry = ledger.add_allocation(4096, 4, Location::caller(), PendingWork::new());
        let read = |ledger: &mut Ledger, times| {
            let stream = backend.create_stream().unwrap();
            ledger.add_stream(stream);
            for _ in 0..times {
                ledger.submit(&backend, stream, [Touch { entry, write: false }], || Ok(())).unwrap();
            }
            stream
        };
        for round in 0..100 {
            let stream = read(&mut ledger, 2);
            assert_eq!(ledger.allocations.get(entry).unwrap().reads.len(), 1, "round {round}");
            ledger.note_stopped(stream, 2);
            if round % 2 == 0 {
                ledger.remove_stream(stream);
            }
        }
        let running = [1, 3, 1].map(|times| Use { stream: read(&mut ledger, times), moment: times });
        let allocation = ledger.allocations.remove(entry).unwrap();
        assert_eq!(ledger.pending(&allocation).as_slice(), running);
    }
}
