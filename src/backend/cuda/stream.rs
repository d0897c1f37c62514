//! Streams: the driver's handle behind each id, and which launches nobody has waited for yet.

use std::ffi::c_void;
use std::panic::Location;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::context::Context;
use super::driver::{self, StreamHandle};
use super::module::{Function, Modules, Named};
use super::records::{Records, Spares};
use super::table::Table;
use crate::backend::{Answer, FunctionId, HostFunction, StreamId};
use crate::error::ErrorKind;
use crate::fault::Fault;

/// `CU_STREAM_NON_BLOCKING`: the stream does not synchronise with the NULL stream.
pub(super) const NON_BLOCKING: u32 = 1;
/// How many unfinished launches of a stream are remembered by name.
const REMEMBERED: usize = 256;

/// A launch that nobody has waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unfinished {
    pub(super) function: FunctionId,
    pub(super) location: &'static Location<'static>,
}

/// What a stream was given.
#[derive(Default)]
struct Launches {
    /// What nobody has waited for.
    unfinished: Vec<Unfinished>,
    /// The latest kernel, which most often is the next one, too. A kernel that was unloaded since is found here under an
    /// id that nobody asks for any more.
    latest: Option<(FunctionId, Arc<Named>)>,
}

/// One stream.
pub(super) struct Stream {
    handle: StreamHandle,
    launches: Mutex<Launches>,
    records: Records,
}

// SAFETY: the driver's functions may be called with a stream from any thread on which its context is current.
unsafe impl Send for Stream {}
// SAFETY: as above, also from several threads at once.
unsafe impl Sync for Stream {}

/// The streams of a context.
#[derive(Default)]
pub(super) struct Streams(Table<Stream>);

impl Stream {
    pub(super) fn handle(&self) -> StreamHandle {
        self.handle
    }

    pub(super) fn records(&self) -> &Records {
        &self.records
    }

    fn launches(&self) -> std::sync::MutexGuard<'_, Launches> {
        self.launches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a launch until the stream is waited for.
    pub(super) fn remember(&self, launch: Unfinished) {
        self.launches().remember(launch);
    }

    /// Queues a launch by what `queue` makes of its kernel, and remembers it until the stream is waited for. `queue` must
    /// not ask for unfinished launches: their list is locked.
    pub(super) fn launch(
        &self,
        launch: Unfinished,
        modules: &Modules,
        queue: impl FnOnce(&Function) -> Answer<()>,
    ) -> Answer<()> {
        let mut launches = self.launches();
        match &launches.latest {
            Some((id, kernel)) if *id == launch.function => queue(kernel.function())?,
            _ => {
                let kernel = modules.get(launch.function)?;
                queue(kernel.function())?;
                launches.latest = Some((launch.function, kernel));
            }
        }
        launches.remember(launch);
        Ok(())
    }
}

impl Launches {
    /// Of very many, the oldest are remembered.
    fn remember(&mut self, launch: Unfinished) {
        if self.unfinished.len() < REMEMBERED {
            self.unfinished.push(launch);
        }
    }
}

/// Runs the function that `data` points to.
extern "C" fn run(data: *mut c_void) {
    // SAFETY: `data` is what `Stream::call` made of a box, and the driver calls this once for it.
    let function = unsafe { Box::from_raw(data.cast::<HostFunction>()) };
    function();
}

impl Stream {
    /// Queues a function of the host. After a fault the driver does not run it, and what it holds is not dropped.
    pub(super) fn call(&self, function: HostFunction, context: &Context) -> Answer<()> {
        let data = Box::into_raw(Box::new(function));
        // SAFETY: the stream is live (C4); `run` takes what `data` is, once. The function does not unwind (its contract).
        let queued = unsafe { driver::launch_host_function(self.handle, run, data.cast()) };
        if queued.is_err() {
            // SAFETY: the driver did not take it, so this is the only owner.
            drop(unsafe { Box::from_raw(data) });
        }
        context.answer(queued)
    }
}

impl Streams {
    /// A new stream under this id.
    pub(super) fn create(&self, id: StreamId, modules: &Modules, context: &Context) -> Answer<()> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is a place for the answer; the context is current, as for every call (`make_current`).
        let created = unsafe { driver::stream_create(&mut handle, NON_BLOCKING) };
        context.answer_after(created, || modules.named(&self.unfinished()))?;
        self.0.insert(id.0, Stream { handle, launches: Mutex::default(), records: Records::default() });
        Ok(())
    }

    /// The stream with this id.
    pub(super) fn get(&self, id: StreamId) -> Answer<Arc<Stream>> {
        self.0.get(id.0).ok_or_else(|| foreign(id))
    }

    /// Destroys a stream.
    pub(super) fn destroy(
        &self,
        id: StreamId,
        modules: &Modules,
        spares: &Spares,
        context: &Context,
    ) -> Answer<()> {
        let Some(mut found) = self.0.remove(id.0) else { return Ok(()) };
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
        quiet(context, context.answer_after(destroyed, || modules.named(&self.unfinished())))
    }

    /// What `use_it` makes of the stream with this id; it must not wait for the device.
    pub(super) fn with<R>(&self, id: StreamId, use_it: impl FnOnce(&Stream) -> Answer<R>) -> Answer<R> {
        self.0.with(id.0, use_it).unwrap_or_else(|| Err(foreign(id)))
    }

    /// Waits until what the stream has queued has stopped.
    pub(super) fn wait(&self, id: StreamId, modules: &Modules, context: &Context) -> Answer<()> {
        let stream = self.get(id)?;
        let unfinished = || modules.named(&self.candidates(&stream));
        let collected = stream.records.collect(stream.handle, context, unfinished);
        if context.alive().is_ok() {
            stream.launches().unfinished.clear();
        }
        collected
    }

    /// The first fault that launches have recorded so far, read by way of a stream of its own: waits for none of them.
    pub(super) fn recorded(&self, modules: &Modules, context: &Context) -> Answer<Option<Fault>> {
        let running: Vec<_> =
            self.0.all().into_iter().filter(|stream| stream.records.are_awaited()).collect();
        if running.is_empty() {
            return Ok(None);
        }
        let mut through = ptr::null_mut();
        let unfinished = || modules.named(&self.unfinished());
        // SAFETY: `through` is a place for the answer; the context is current.
        let created = unsafe { driver::stream_create(&mut through, NON_BLOCKING) };
        context.answer_after(created, unfinished)?;
        let peeked = |stream: &Arc<Stream>| stream.records.peek(through, context, unfinished).transpose();
        let found = running.iter().find_map(peeked).transpose();
        // SAFETY: created above, and destroyed once; nothing is queued on it that was not waited for.
        let destroyed = unsafe { driver::stream_destroy(through) };
        quiet(context, context.answer(destroyed))?;
        found
    }

    /// The launches that may have made a fault which a wait for `stream` met: its own, or if it has none, anybody's.
    fn candidates(&self, stream: &Stream) -> Vec<Unfinished> {
        let own = stream.launches().unfinished.clone();
        if own.is_empty() { self.unfinished() } else { own }
    }

    /// All launches that nobody has waited for.
    pub(super) fn unfinished(&self) -> Vec<Unfinished> {
        self.0.all().iter().flat_map(|stream| stream.launches().unfinished.clone()).collect()
    }

    /// Forgets everything; the context that held it is gone.
    pub(super) fn clear(&self) {
        self.0.clear();
    }
}

fn foreign(id: StreamId) -> ErrorKind {
    ErrorKind::Foreign { message: format!("stream {} is none of this context's", id.0) }
}

/// Giving back in a context that has ended is done by ending it: no news.
pub(super) fn quiet(context: &Context, answer: Answer<()>) -> Answer<()> {
    match answer {
        Err(ErrorKind::Poisoned { .. } | ErrorKind::ContextLost) if context.has_ended() => Ok(()),
        other => other,
    }
}
