//! Streams: the driver's handle behind each id, and which launches nobody has waited for yet.

use std::panic::Location;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::context::Context;
use super::driver::{self, FunctionHandle, StreamHandle};
use super::module::Modules;
use super::records::{Records, Spares};
use crate::backend::{Answer, FunctionId, StreamId};
use crate::error::ErrorKind;
use crate::fault::Fault;

/// `CU_STREAM_NON_BLOCKING`: the stream does not synchronise with the NULL stream.
pub(super) const NON_BLOCKING: u32 = 1;
/// How many unfinished launches of a stream are remembered by name.
const REMEMBERED: usize = 256;

/// A launch that nobody has waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unfinished {
    pub(super) function: FunctionId,
    pub(super) location: &'static Location<'static>,
    /// Its accesses are compared or proved, and `trap` is noted: the GPU does not stop for it.
    pub(super) checked: bool,
}

/// One stream.
pub(super) struct Stream {
    handle: StreamHandle,
    records: Records,
}

// SAFETY: the driver's functions may be called with a stream from any thread on which its context is current.
unsafe impl Send for Stream {}
// SAFETY: as above, also from several threads at once.
unsafe impl Sync for Stream {}

/// The kernel that a stream launched last, which most often is the next one, too.
#[derive(Clone, Copy)]
struct Latest {
    function: FunctionId,
    handle: FunctionHandle,
    /// It was opted in for at least so many bytes of dynamic shared memory.
    dynamic_shared: u32,
}

// SAFETY: as for `Stream`. A handle of a kernel that was unloaded since stands under an id that nobody asks for any more
// (C4), so it is not used.
unsafe impl Send for Latest {}

/// A stream and what it was given.
struct Entry {
    id: StreamId,
    stream: Arc<Stream>,
    /// Launches that nobody has waited for. Of very many, the oldest.
    unfinished: Vec<Unfinished>,
    /// How many were forgotten again since they were waited for.
    finished: u64,
    latest: Option<Latest>,
}

/// The streams of a context, in the order of their ids. No call of the driver is made while they are locked.
#[derive(Default)]
pub(super) struct Streams(Mutex<Vec<Entry>>);

/// What a launch needs: its stream's and its kernel's handle.
pub(super) type Handles = (StreamHandle, FunctionHandle);

/// The driver's handle of a stream. It is live as long as the call that asks: nobody destroys a stream that is given to a
/// call, and none has ids of a context that ended (C4).
#[inline]
pub(super) fn handle(id: StreamId) -> StreamHandle {
    ptr::with_exposed_provenance_mut(id.handle)
}

impl Stream {
    pub(super) fn handle(&self) -> StreamHandle {
        self.handle
    }

    pub(super) fn records(&self) -> &Records {
        &self.records
    }
}

impl Entry {
    #[inline]
    fn remember(&mut self, launch: Unfinished) {
        if self.unfinished.len() < REMEMBERED {
            self.unfinished.push(launch);
        }
    }

    #[inline]
    fn begin(&mut self, launch: Unfinished, function: FunctionHandle) -> Handles {
        self.remember(launch);
        (self.stream.handle, function)
    }
}

#[inline]
fn find(entries: &mut [Entry], id: StreamId) -> Answer<&mut Entry> {
    let found = entries.binary_search_by_key(&id, |entry| entry.id).ok();
    found.and_then(|at| entries.get_mut(at)).ok_or_else(|| foreign(id))
}

impl Streams {
    #[inline]
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handles for a launch that is about to be queued with `dynamic_shared` bytes of shared memory. It is remembered
    /// until its stream is waited for.
    #[inline]
    pub(super) fn begin(
        &self,
        id: StreamId,
        launch: Unfinished,
        dynamic_shared: u32,
        modules: &Modules,
        context: &Context,
    ) -> Answer<Handles> {
        if let Some(handles) = self.begin_latest(id, launch, dynamic_shared)? {
            return Ok(handles);
        }
        let kernel = modules.get(launch.function)?;
        context.make_current()?;
        kernel.function().opt_in(dynamic_shared, context)?;
        let handle = kernel.function().handle();
        let mut entries = self.lock();
        let entry = find(&mut entries, id)?;
        entry.latest = Some(Latest { function: launch.function, handle, dynamic_shared });
        Ok(entry.begin(launch, handle))
    }

    /// The same for the kernel that the stream launched last; `None` for another.
    #[inline]
    fn begin_latest(&self, id: StreamId, launch: Unfinished, dynamic_shared: u32) -> Answer<Option<Handles>> {
        let mut entries = self.lock();
        let entry = find(&mut entries, id)?;
        let fits =
            |known: &Latest| known.function == launch.function && dynamic_shared <= known.dynamic_shared;
        Ok(entry.latest.filter(fits).map(|latest| entry.begin(launch, latest.handle)))
    }

    /// Remembers a launch until its stream is waited for.
    pub(super) fn remember(&self, id: StreamId, launch: Unfinished) {
        if let Ok(entry) = find(&mut self.lock(), id) {
            entry.remember(launch);
        }
    }

    /// Forgets a launch that was begun and could not be queued.
    #[cold]
    pub(super) fn forget(&self, id: StreamId, launch: Unfinished) {
        if let Ok(entry) = find(&mut self.lock(), id)
            && let Some(at) = entry.unfinished.iter().rposition(|known| *known == launch)
        {
            entry.unfinished.remove(at);
        }
    }
}

impl Streams {
    /// A new stream under this number.
    pub(super) fn create(&self, number: u64, context: &Context) -> Answer<StreamId> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is a place for the answer; the context is current, as for every call (`make_current`).
        let created = unsafe { driver::stream_create(&mut handle, NON_BLOCKING) };
        context.answer(created)?;
        let id = StreamId { number, handle: handle.expose_provenance() };
        let stream = Arc::new(Stream { handle, records: Records::default() });
        let mut entries = self.lock();
        // Two threads may come here in another order than the one in which they got their ids.
        let at = entries.partition_point(|other| other.id < id);
        entries.insert(at, Entry { id, stream, unfinished: Vec::new(), finished: 0, latest: None });
        Ok(id)
    }

    /// The stream with this id, which stays as long as somebody has it.
    pub(super) fn get(&self, id: StreamId) -> Answer<Arc<Stream>> {
        find(&mut self.lock(), id).map(|entry| Arc::clone(&entry.stream))
    }

    /// Destroys a stream.
    pub(super) fn destroy(&self, id: StreamId, spares: &Spares, context: &Context) -> Answer<()> {
        let removed = {
            let mut entries = self.lock();
            let at = entries.binary_search_by_key(&id, |entry| entry.id).ok();
            at.map(|at| entries.remove(at).stream)
        };
        let Some(mut found) = removed else { return Ok(()) };
        // Another thread may have found it before and wait for it. Nobody finds it any more, and what was queued on it
        // was waited for, so that wait is about to end.
        let stream = loop {
            match Arc::try_unwrap(found) {
                Ok(stream) => break stream,
                Err(shared) => found = shared,
            }
            thread::yield_now();
        };
        stream.records.release(spares);
        // SAFETY: taken out of the map just now, so it is destroyed once; this is the only reference to it, so nobody
        // uses its handle.
        let destroyed = unsafe { driver::stream_destroy(stream.handle) };
        quiet(context, context.answer(destroyed))
    }

    /// Waits until what the stream has queued has stopped.
    pub(super) fn wait(&self, id: StreamId, modules: &Modules, context: &Context) -> Answer<()> {
        let (stream, begun) = {
            let mut entries = self.lock();
            let entry = find(&mut entries, id)?;
            (Arc::clone(&entry.stream), entry.finished + entry.unfinished.len() as u64)
        };
        let unfinished = || modules.named(&self.candidates(id));
        let collected = stream.records.collect(stream.handle, context, unfinished);
        if context.alive().is_ok()
            && let Ok(entry) = find(&mut self.lock(), id)
        {
            // what other threads have begun since may run, and what they have waited for is forgotten already
            let over = begun.saturating_sub(entry.finished).min(entry.unfinished.len() as u64);
            entry.unfinished.drain(..over as usize);
            entry.finished += over;
        }
        collected
    }

    /// The first fault that launches have recorded so far, read by way of a stream of its own: waits for none of them.
    pub(super) fn recorded(&self, context: &Context) -> Answer<Option<Fault>> {
        let streams: Vec<_> = self.lock().iter().map(|entry| Arc::clone(&entry.stream)).collect();
        let running: Vec<_> = streams.into_iter().filter(|stream| stream.records.are_awaited()).collect();
        if running.is_empty() {
            return Ok(None);
        }
        aside(context, |through| {
            let peeked = |stream: &Arc<Stream>| stream.records.peek(through, context).transpose();
            running.iter().find_map(peeked).transpose()
        })
    }

    /// The launches that may have made a fault which a wait for the stream met: its own come first, but any stream's
    /// fault is the whole context's.
    fn candidates(&self, id: StreamId) -> Vec<Unfinished> {
        let entries = self.lock();
        let (own, others): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.id == id);
        candidates(own.into_iter().chain(others))
    }

    /// The launches that may have made a fault which any other call met.
    pub(super) fn unfinished(&self) -> Vec<Unfinished> {
        candidates(self.lock().iter())
    }

    /// Forgets everything; the context that held it is gone.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }
}

/// Does something by way of a stream of its own, which waits for no other. `work` waits for what it queues on it.
pub(super) fn aside<T>(context: &Context, work: impl FnOnce(StreamHandle) -> Answer<T>) -> Answer<T> {
    let mut through = ptr::null_mut();
    // SAFETY: `through` is a place for the answer; the context is current.
    let created = unsafe { driver::stream_create(&mut through, NON_BLOCKING) };
    context.answer(created)?;
    let done = work(through);
    // SAFETY: created above, and destroyed once; nothing is queued on it that was not waited for.
    let destroyed = unsafe { driver::stream_destroy(through) };
    done.and_then(|done| quiet(context, context.answer(destroyed)).map(|()| done))
}

/// The launches of these streams that nobody has waited for; only unchecked ones, if there are such and all are remembered.
fn candidates<'a>(entries: impl Iterator<Item = &'a Entry> + Clone) -> Vec<Unfinished> {
    let mut all: Vec<_> = entries.clone().flat_map(|entry| &entry.unfinished).copied().collect();
    let remembered = entries.into_iter().all(|entry| entry.unfinished.len() < REMEMBERED);
    if remembered && all.iter().any(|launch| !launch.checked) {
        all.retain(|launch| !launch.checked);
    }
    all
}

fn foreign(id: StreamId) -> ErrorKind {
    ErrorKind::Foreign { message: format!("stream {} is none of this context's", id.number) }
}

/// Giving back in a context that has ended is done by ending it: no news.
pub(super) fn quiet(context: &Context, answer: Answer<()>) -> Answer<()> {
    match answer {
        Err(ErrorKind::Poisoned { .. } | ErrorKind::ContextLost) if context.has_ended() => Ok(()),
        other => other,
    }
}
