//! Marks are the driver's events. Given back ones are used again: making one costs as much as recording it.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context::Context;
use super::driver::{self, EventHandle, StreamHandle};
use crate::backend::{Answer, MarkId};
use crate::error::ErrorKind;

/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: i32 = 600;
/// How many events are kept for later.
const KEPT: usize = 64;

/// The events of a context.
#[derive(Default)]
pub(super) struct Marks(Mutex<Events>);

#[derive(Default)]
struct Events {
    live: HashMap<MarkId, Event>,
    spare: Vec<Event>,
}

#[derive(Clone, Copy)]
struct Event(EventHandle);

// SAFETY: the driver's functions may be called with an event from any thread on which its context is current.
unsafe impl Send for Event {}

impl Marks {
    fn events(&self) -> MutexGuard<'_, Events> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The event of a mark.
    pub(super) fn get(&self, id: MarkId) -> Answer<EventHandle> {
        let events = self.events();
        events.live.get(&id).map(|event| event.0).ok_or_else(|| ErrorKind::Foreign {
            message: format!("event {} is none of this context's", id.0),
        })
    }

    /// Marks what the stream has queued so far, under this id.
    pub(super) fn record(&self, id: MarkId, stream: StreamHandle, context: &Context) -> Answer<()> {
        let spare = self.events().spare.pop();
        let event = match spare {
            Some(event) => event,
            None => {
                let mut handle = ptr::null_mut();
                // SAFETY: `handle` is a place for the answer; the context is current.
                let created = unsafe { driver::event_create(&mut handle, 0) };
                context.answer(created)?;
                Event(handle)
            }
        };
        // SAFETY: the event was made or taken from the spare ones just now, the stream is live (C4).
        let recorded = context.answer(unsafe { driver::event_record(event.0, stream) });
        if recorded.is_ok() {
            self.events().live.insert(id, event);
        } else {
            // It may be the event that the stream does not take, so it is not used again.
            // SAFETY: nobody else knows it, so it is destroyed once; it marks nothing.
            let _ = unsafe { driver::event_destroy(event.0) };
        }
        recorded
    }

    /// Makes what is queued on `stream` from now on run after the mark.
    pub(super) fn wait_on(&self, stream: StreamHandle, id: MarkId, context: &Context) -> Answer<()> {
        let event = self.get(id)?;
        // SAFETY: event and stream are live by C4.
        context.answer(unsafe { driver::stream_wait_event(stream, event, 0) })
    }

    /// Blocks until everything before the mark has stopped.
    pub(super) fn wait(&self, id: MarkId, context: &Context) -> Answer<()> {
        let event = self.get(id)?;
        // SAFETY: the event is live by C4.
        context.stopped(unsafe { driver::event_synchronize(event) })
    }

    /// Whether everything before the mark has stopped.
    pub(super) fn is_done(&self, id: MarkId, context: &Context) -> Answer<bool> {
        let event = self.get(id)?;
        // SAFETY: the event is live by C4.
        match unsafe { driver::event_query(event) } {
            Err(failure) if failure.code == NOT_READY => Ok(false),
            other => context.answer(other).map(|()| true),
        }
    }

    /// Milliseconds between two marks that are done.
    pub(super) fn elapsed(&self, from: MarkId, to: MarkId, context: &Context) -> Answer<f32> {
        let (from, to) = (self.get(from)?, self.get(to)?);
        let mut milliseconds = 0.0;
        // SAFETY: both events are live by C4, `milliseconds` is a place for the answer.
        context.answer(unsafe { driver::event_elapsed(&mut milliseconds, from, to) })?;
        Ok(milliseconds)
    }

    /// Gives a mark back. Streams that were told to wait for it still do: the driver took the moment down when told.
    pub(super) fn destroy(&self, id: MarkId, context: &Context) -> Answer<()> {
        let event = {
            let mut events = self.events();
            let Some(event) = events.live.remove(&id) else { return Ok(()) };
            if events.spare.len() < KEPT {
                events.spare.push(event);
                return Ok(());
            }
            event
        };
        // SAFETY: taken out just now and not kept, so it is destroyed once.
        let destroyed = unsafe { driver::event_destroy(event.0) };
        super::stream::quiet(context, context.answer(destroyed))
    }

    /// Gives the spare ones back and forgets all, where their context is about to go or cannot be used any more.
    pub(super) fn clear(&self, context: &Context) {
        let Events { spare, .. } = std::mem::take(&mut *self.events());
        let usable = context.takes_back();
        for event in spare.into_iter().filter(|_| usable) {
            // What this answers does not matter: a context of the device's own goes next, with all that it holds.
            // SAFETY: taken out just now, so it is destroyed once; no mark is it.
            let _ = unsafe { driver::event_destroy(event.0) };
        }
    }
}
