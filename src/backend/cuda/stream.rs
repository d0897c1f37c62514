//! Streams: the driver's handle behind each id, and which launches nobody has waited for yet.

use std::collections::HashMap;
use std::ffi::c_void;
use std::panic::Location;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::context::Context;
use super::driver::{self, StreamHandle};
use crate::backend::{Answer, HostFunction, StreamId};
use crate::error::ErrorKind;

/// `CU_STREAM_NON_BLOCKING`: the stream does not synchronise with the NULL stream.
const NON_BLOCKING: u32 = 1;
/// How many unfinished launches of a stream are remembered by name.
const REMEMBERED: usize = 256;

/// A launch that nobody has waited for.
#[derive(Debug, Clone)]
pub(super) struct Unfinished {
    pub(super) kernel: Arc<str>,
    pub(super) module: Arc<str>,
    pub(super) location: &'static Location<'static>,
}

/// One stream.
pub(super) struct Stream {
    handle: StreamHandle,
    unfinished: Mutex<Vec<Unfinished>>,
}

// SAFETY: the driver's functions may be called with a stream from any thread on which its context is current.
unsafe impl Send for Stream {}
// SAFETY: as above, also from several threads at once.
unsafe impl Sync for Stream {}

/// The streams of a context.
#[derive(Default)]
pub(super) struct Streams(RwLock<HashMap<StreamId, Arc<Stream>>>);

impl Stream {
    pub(super) fn handle(&self) -> StreamHandle {
        self.handle
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Unfinished>> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a launch until the stream is waited for. Of very many, the oldest are remembered.
    pub(super) fn remember(&self, launch: Unfinished) {
        let mut list = self.list();
        if list.len() < REMEMBERED {
            list.push(launch);
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
        context.answer(queued, &[])
    }
}

impl Streams {
    /// A new stream under this id.
    pub(super) fn create(&self, id: StreamId, context: &Context) -> Answer<()> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is a place for the answer; the context is current, as for every call (`make_current`).
        let created = unsafe { driver::stream_create(&mut handle, NON_BLOCKING) };
        context.answer(created, &self.unfinished())?;
        let stream = Arc::new(Stream { handle, unfinished: Mutex::default() });
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id, stream);
        Ok(())
    }

    /// The stream with this id.
    pub(super) fn get(&self, id: StreamId) -> Answer<Arc<Stream>> {
        let streams = self.0.read().unwrap_or_else(PoisonError::into_inner);
        streams.get(&id).cloned().ok_or_else(|| ErrorKind::Foreign {
            message: format!("stream {} is none of this context's", id.0),
        })
    }

    /// Destroys a stream.
    pub(super) fn destroy(&self, id: StreamId, context: &Context) -> Answer<()> {
        let removed = self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        let Some(stream) = removed else { return Ok(()) };
        // SAFETY: taken out of the map just now, so it is destroyed once; by C4 nobody uses the id any more.
        let destroyed = unsafe { driver::stream_destroy(stream.handle) };
        quiet(context, context.answer(destroyed, &self.unfinished()))
    }

    /// Waits until what the stream has queued has stopped.
    pub(super) fn wait(&self, id: StreamId, context: &Context) -> Answer<()> {
        let stream = self.get(id)?;
        // SAFETY: the handle is live by C4.
        let waited = unsafe { driver::stream_synchronize(stream.handle) };
        if waited.is_ok() {
            stream.list().clear();
            return Ok(());
        }
        context.stopped(waited, &self.candidates(&stream))
    }

    /// The launches that may have made a fault which a wait for `stream` met: its own, or if it has none, anybody's.
    fn candidates(&self, stream: &Stream) -> Vec<Unfinished> {
        let own = stream.list().clone();
        if own.is_empty() { self.unfinished() } else { own }
    }

    /// All launches that nobody has waited for.
    pub(super) fn unfinished(&self) -> Vec<Unfinished> {
        let streams = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut ids: Vec<_> = streams.keys().copied().collect();
        ids.sort_unstable();
        ids.iter().filter_map(|id| streams.get(id)).flat_map(|stream| stream.list().clone()).collect()
    }

    /// Forgets everything; the context that held it is gone.
    pub(super) fn clear(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Giving back in a context that has ended is done by ending it: no news.
pub(super) fn quiet(context: &Context, answer: Answer<()>) -> Answer<()> {
    match answer {
        Err(ErrorKind::Poisoned { .. } | ErrorKind::ContextLost) if context.has_ended() => Ok(()),
        other => other,
    }
}
