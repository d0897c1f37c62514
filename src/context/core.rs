//! One open context behind its handles: the backend, the ledger and the context's own stream. Handles point here.

use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;

use crate::backend::{Answer, Backend, Limits, StreamId};
use crate::context::ledger::{EntryId, Ledger, Touch};
use crate::device::{LeakKind, LeakReport, Shared};
use crate::error::{AtCaller, Error, ErrorKind};
use crate::pool::Piece;

/// Locks, also when a thread panicked while it held the lock: every critical section here leaves a valid state.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) shared: Arc<Shared>,
    /// The device's limits, at hand for each launch.
    pub(crate) limits: Limits,
    /// The stream of the context's own calls. Never the driver's default stream.
    pub(crate) stream: StreamId,
    ledger: Mutex<Ledger>,
    /// What failed in a `Drop`, which could not say so.
    silent: Mutex<Vec<Error>>,
}

impl Core {
    pub(crate) fn open(shared: &Arc<Shared>) -> Answer<Self> {
        shared.backend.make_current()?;
        let stream = shared.backend.create_stream()?;
        let mut ledger = Ledger::default();
        ledger.add_stream(stream);
        Ok(Self {
            shared: Arc::clone(shared),
            limits: shared.backend.info().limits,
            stream,
            ledger: Mutex::new(ledger),
            silent: Mutex::new(Vec::new()),
        })
    }

    /// The backend, current on this thread.
    #[track_caller]
    pub(crate) fn backend(&self) -> Result<&dyn Backend, Error> {
        self.shared.backend.make_current().at_caller()?;
        Ok(&*self.shared.backend)
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    /// `bytes > 0` of device memory, in the ledger from now on.
    #[track_caller]
    pub(crate) fn allocate(&self, bytes: usize) -> Result<(EntryId, u64), Error> {
        self.backend()?;
        let piece = match self.take(bytes) {
            Err(ErrorKind::OutOfMemory { .. }) => {
                // Once more with everything that can be free free: what is only waiting for work, and what is cached.
                self.quiesce();
                self.trim(Some(0)).and_then(|_| self.take(bytes))
            }
            other => other,
        };
        let piece = match piece {
            Ok(piece) => piece,
            Err(ErrorKind::OutOfMemory { asked, free, total, .. }) => {
                let live = self.shared.live_bytes();
                return Err(Error::new(ErrorKind::OutOfMemory { asked, free, total, live }));
            }
            Err(kind) => return Err(Error::new(kind)),
        };
        self.shared.note_allocated(bytes);
        let entry = self.ledger().add_allocation(piece.address, bytes, Location::caller(), piece.pending);
        Ok((entry, piece.address))
    }

    fn take(&self, bytes: usize) -> Answer<Piece> {
        let standing = |pending| self.ledger().standing(pending, self.stream);
        self.shared.pool.allocate(&*self.shared.backend, bytes, &standing)
    }

    /// Gives cached memory back to the device until no more than `keep` bytes are cached.
    pub(crate) fn trim(&self, keep: Option<u64>) -> Answer<u64> {
        let standing = |pending| self.ledger().standing(pending, self.stream);
        self.shared.pool.trim(&*self.shared.backend, keep, &standing)
    }

    /// Waits for everything that this context has queued by now; faults stay with their streams.
    fn quiesce(&self) {
        let streams = self.ledger().streams();
        for stream in streams {
            // What cannot be waited for stays pending, and its memory stays where it is.
            if let Err(kind) = self.wait_quietly(stream) {
                self.record_fault(kind);
            }
        }
    }

    /// Frees an allocation. An entry that is gone was freed before.
    ///
    /// Where the pool can hand the memory out again behind the work that still uses it, nothing is waited for; else that
    /// work is. Faults of streams stay with their streams; what is answered is only what freeing itself met, at the line
    /// that allocated: the end of a value has none of its own.
    pub(crate) fn release(&self, entry: EntryId) -> Result<(), Error> {
        let (allocation, mut pending) = {
            let mut ledger = self.ledger();
            let Some(allocation) = ledger.allocations.remove(entry) else { return Ok(()) };
            let pending = ledger.pending(&allocation);
            (allocation, pending)
        };
        let backend = &*self.shared.backend;
        let current = backend.make_current();
        let mut waited = Ok(());
        if backend.block_bytes().is_none() {
            for use_ in std::mem::take(&mut pending) {
                waited = waited.and(self.wait_quietly(use_.stream));
            }
        }
        let streams: SmallVec<[StreamId; 2]> = pending.iter().map(|pending| pending.stream).collect();
        // SAFETY: the entry was in the ledger, so its address is live (C1) and, removed just now, is freed only here.
        // What used it was waited for above, and by B3 a wait has stopped it also when it returned an error; or it is
        // named by `pending` (C2).
        let freed = unsafe { self.shared.pool.free(backend, allocation.address, allocation.bytes, pending) };
        // A stream that another thread ended since `pending` was made told the pool so before it knew of this piece.
        for stream in streams {
            if !self.ledger().has_stream(stream) {
                self.shared.pool.stream_ended(stream);
            }
        }
        self.shared.note_freed(allocation.bytes);
        current.and(waited).and(freed).map_err(|kind| Error::at(kind, allocation.location))
    }

    /// Waits for what the stream has queued by now and leaves its faults to whoever waits for the stream itself. A stream
    /// that is gone was waited for before it went.
    pub(crate) fn wait_quietly(&self, stream: StreamId) -> Answer<()> {
        let backend = &*self.shared.backend;
        let (moment, recorded) = {
            // The mark is made under the lock, so that no other thread ends the stream meanwhile (C4).
            let ledger = self.ledger();
            if !ledger.has_stream(stream) {
                return Ok(());
            }
            (ledger.moment(stream), backend.record(stream))
        };
        let mark = match recorded {
            Ok(mark) => mark,
            // A poisoned context records nothing any more; then a full wait is what shows that work has stopped.
            Err(kind) => {
                self.record_fault(kind);
                return self.wait_or_poisoned(stream, moment);
            }
        };
        let waited = backend.wait_mark(mark);
        self.ledger().note_stopped(stream, moment);
        let destroyed = backend.destroy_mark(mark);
        match waited.and(destroyed) {
            Err(ErrorKind::Poisoned { .. }) => Ok(()),
            other => other,
        }
    }

    fn wait_or_poisoned(&self, stream: StreamId, moment: u64) -> Answer<()> {
        let waited = self.shared.backend.wait_stream(stream);
        self.ledger().note_stopped(stream, moment);
        match waited {
            Err(fault @ ErrorKind::Fault(_)) => {
                self.record_fault(fault);
                Ok(())
            }
            Err(ErrorKind::Poisoned { .. }) => Ok(()),
            // Ended by another thread, which waited for it first. One that does so during the wait waits for this one.
            Err(ErrorKind::Foreign { .. }) if !self.ledger().has_stream(stream) => Ok(()),
            other => other,
        }
    }

    /// Waits for a stream; its first fault comes back, blamed on its launch.
    #[track_caller]
    pub(crate) fn wait(&self, stream: StreamId) -> Result<(), Error> {
        self.wait_at(stream, Location::caller())
    }

    /// The same for a caller's caller at `here`.
    pub(crate) fn wait_at(&self, stream: StreamId, here: &'static Location<'static>) -> Result<(), Error> {
        let moment = self.ledger().moment(stream);
        // Waits also when the context cannot be made current: callers give host memory back after this (C3), and only
        // `wait_stream` promises that nothing uses it any more, whatever it returns (B3).
        let current = self.shared.backend.make_current();
        let waited = self.shared.backend.wait_stream(stream);
        self.ledger().note_stopped(stream, moment);
        waited.and(current).map_err(|kind| Error::at(kind, here))
    }

    /// Waits for everything that this context has queued. A fault of its own stream comes back; those of other streams,
    /// which other threads may end meanwhile, stay with them.
    #[track_caller]
    pub(crate) fn wait_all(&self) -> Result<(), Error> {
        let here = Location::caller();
        let streams = self.ledger().streams();
        let mut errors = Errors::default();
        let current = self.shared.backend.make_current();
        for stream in streams.into_iter().filter(|&stream| stream != self.stream) {
            errors.add(self.wait_quietly(stream), here);
        }
        errors.extend(self.wait_at(self.stream, here));
        errors.into_result()?;
        current.map_err(|kind| Error::at(kind, here))
    }

    /// Ends a stream that was waited for.
    pub(crate) fn end_stream(&self, stream: StreamId) -> Answer<()> {
        // From here on no other thread finds it, and those that found it made their marks under the ledger's lock (C4).
        self.ledger().remove_stream(stream);
        let destroyed = self.shared.backend.destroy_stream(stream);
        self.shared.pool.stream_ended(stream);
        destroyed
    }

    /// Refuses what another context made. The compiler does that except among the contexts of one
    /// [`Device::scope_all`](crate::Device::scope_all), which share their lifetime.
    #[inline]
    pub(crate) fn own(&self, what: &str, theirs: &Self) -> Answer<()> {
        if std::ptr::eq(self, theirs) { Ok(()) } else { Err(self.foreign(what, theirs)) }
    }

    #[cold]
    fn foreign(&self, what: &str, theirs: &Self) -> ErrorKind {
        let (here, there) = (&self.shared.backend.info().id, &theirs.shared.backend.info().id);
        ErrorKind::Foreign {
            message: format!(
                "{what} of one context ({there}) was given to another ({here}) of the same `scope_all`"
            ),
        }
    }

    /// Queues one operation under the ledger's lock, after all that it must follow.
    #[track_caller]
    pub(crate) fn submit(
        &self,
        stream: StreamId,
        touches: impl IntoIterator<Item = Touch>,
        queue: impl FnOnce(&dyn Backend) -> Answer<()>,
    ) -> Result<(), Error> {
        self.backend()?;
        self.submit_from_anywhere(Location::caller(), stream, touches, queue)
    }

    /// The same for an operation that needs no current context, and a caller's line that is given.
    #[inline]
    pub(crate) fn submit_from_anywhere(
        &self,
        here: &'static Location<'static>,
        stream: StreamId,
        touches: impl IntoIterator<Item = Touch>,
        queue: impl FnOnce(&dyn Backend) -> Answer<()>,
    ) -> Result<(), Error> {
        let backend = &*self.shared.backend;
        let queued = self.ledger().submit(backend, stream, touches, || queue(backend));
        queued.map_err(|kind| Error::at(kind, here))
    }

    /// Keeps an error that a `Drop` met for the scope's end.
    pub(crate) fn record(&self, error: Error) {
        lock(&self.silent).push(error);
    }

    /// Keeps a fault that was met where nobody is told, since nobody is told of it again; other errors are let go.
    fn record_fault(&self, kind: ErrorKind) {
        if matches!(kind, ErrorKind::Fault(_)) {
            self.record(Error::at(kind, Location::caller()));
        }
    }

    /// Closes the context: everything is tried, whatever the step before returned.
    pub(crate) fn close(&self, here: &'static Location<'static>) -> Result<(), Error> {
        let mut errors = Errors::default();
        self.silent_into(&mut errors);
        errors.add(self.shared.backend.make_current(), here);
        // Taken out before the loop: the loop's calls lock the ledger themselves.
        let streams = self.ledger().streams();
        for &stream in &streams {
            errors.extend(self.wait_at(stream, here));
        }
        let allocations = self.ledger().allocations.newest_first();
        // Arrays went with their closures, so whatever is left belongs to handles that were forgotten.
        let mut leaks = LeakReport::default();
        for entry in allocations {
            if let Some(left) = self.ledger().allocations.get(entry) {
                leaks.add(LeakKind::Buffer, left.location, left.bytes);
            }
            errors.extend(self.release(entry));
        }
        let pinned = self.ledger().pinned.take_all();
        for block in pinned {
            // SAFETY: the ledger held the block, so it came from `allocate_pinned` with this size and was not given
            // back; all streams were waited for above, so by B3 no operation uses it (C3).
            let freed = unsafe { self.shared.backend.free_pinned(block.pointer.0, block.bytes) };
            errors.add(freed, here);
        }
        let marks = self.ledger().marks.take_all();
        for (mark, location) in marks {
            leaks.add(LeakKind::Event, location, 0);
            errors.add(self.shared.backend.destroy_mark(mark), here);
        }
        if !leaks.is_empty() {
            self.shared.record_leaks(&leaks, here);
        }
        for stream in streams {
            errors.add(self.end_stream(stream), here);
        }
        let modules = self.ledger().modules.take_all();
        for module in modules {
            errors.add(self.shared.backend.unload(module), here);
        }
        self.silent_into(&mut errors);
        errors.into_result()
    }

    /// Moves what was recorded by now to the other errors of the scope's end.
    fn silent_into(&self, errors: &mut Errors) {
        let silent = std::mem::take(&mut *lock(&self.silent));
        silent.into_iter().for_each(|error| errors.push(error));
    }
}

/// The errors of a cleanup: a fault comes first, since it is the cause; then in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Errors(Vec<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        // That the context has ended is no news beside the fault that did it, and no second piece of news.
        let ended = matches!(error.kind(), ErrorKind::Poisoned { .. } | ErrorKind::ContextLost);
        let stale = ended && !self.0.is_empty();
        if !stale {
            self.0.push(error);
        }
    }

    pub(crate) fn extend(&mut self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.push(error);
        }
    }

    pub(crate) fn add(&mut self, answer: Answer<()>, location: &'static Location<'static>) {
        if let Err(kind) = answer {
            self.push(Error::at(kind, location));
        }
    }

    pub(crate) fn into_result(self) -> Result<(), Error> {
        let cause = self.0.iter().position(|error| error.fault().is_some()).unwrap_or(0);
        let mut first = None;
        let mut others = Vec::with_capacity(self.0.len());
        for (at, error) in self.0.into_iter().enumerate() {
            if at == cause {
                first = Some(error);
            } else {
                others.push(error);
            }
        }
        let Some(mut first) = first else { return Ok(()) };
        for later in others {
            if !matches!(later.kind(), ErrorKind::Poisoned { .. } | ErrorKind::ContextLost) {
                first.push(later);
            }
        }
        Err(first)
    }
}
