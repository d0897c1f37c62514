//! The records of checked launches of one stream: where kernels write what they did wrong, and reading it when the
//! stream is waited for. What a record says as a fault stands in `report`.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use super::context::{Context, lock};
use super::driver::{self, StreamHandle};
use super::memory;
use super::module::Launched;
use super::report::Checked;
use super::stream::aside;
use crate::backend::Answer;
use crate::error::ErrorKind;
use crate::fault::Fault;
use crate::ptx::bounds::rewrite::record::{BYTES, EMPTY, read, read_running};

/// Checked launches that a stream can have queued; one more waits.
const SLOTS: usize = 256;
/// Size of the records of a stream in bytes.
const BLOCK_BYTES: usize = SLOTS * BYTES;
const WORDS: usize = BYTES / 8;

/// Slots of the page-locked memory: the records as they are collected, an empty one, the records as they are peeked at.
const HOST_SLOTS: usize = 2 * SLOTS + 1;

/// Records on the device, and page-locked memory to read them through ([`HOST_SLOTS`]).
#[derive(Clone, Copy)]
struct Block {
    device: u64,
    host: NonNull<u64>,
}

/// Blocks that streams gave back, all their records empty: making one takes milliseconds.
#[derive(Default)]
pub(super) struct Spares(Mutex<Vec<Block>>);

impl Spares {
    /// Gives them back to the driver, or forgets them where their context cannot be used any more.
    pub(super) fn clear(&self, context: &Context) {
        let usable = context.takes_back();
        for block in lock(&self.0).drain(..).filter(|_| usable) {
            // What these answer does not matter: the context, which goes next, gives back what they did not.
            // SAFETY: no stream has the block, so no launch that uses its records is queued.
            let _ = unsafe { memory::free(block.device, context) };
            // SAFETY: streams were waited for before they gave the block back.
            let _ = unsafe { memory::free_pinned(block.host.cast(), context) };
        }
    }
}

/// The records of one stream.
#[derive(Default)]
pub(super) struct Records {
    state: Mutex<State>,
    /// Held while records are read back: there is one place for them.
    reading: Mutex<()>,
    /// Held while records are peeked at, which has a place of its own: whoever reads them back may wait for long.
    peeking: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// Made with the first checked launch that is not proved.
    block: Option<Block>,
    free: Vec<usize>,
    launched: Vec<(usize, Checked)>,
    /// Launches that somebody waits for just now.
    awaited: Option<Arc<Vec<(usize, Checked)>>>,
    /// How many slots became free.
    collected: u64,
    /// The faults of launches whose records had to be read before anybody waited.
    kept: Option<Box<Fault>>,
}

// SAFETY: a block's addresses are used under the locks of its `Records` only.
unsafe impl Send for Block {}

impl Block {
    /// A block of empty records.
    fn new(context: &Context) -> Answer<Self> {
        let device = memory::allocate(BLOCK_BYTES, context)?;
        let host = match memory::allocate_pinned(HOST_SLOTS * BYTES, context) {
            Ok(host) => host.cast::<u64>(),
            Err(error) => {
                // SAFETY: allocated just now, used by nobody.
                let _ = unsafe { memory::free(device, context) };
                return Err(error);
            }
        };
        for (word, empty) in EMPTY.into_iter().cycle().take((SLOTS + 1) * WORDS).enumerate() {
            // SAFETY: the word lies in the memory that was allocated just now, which is aligned to more than 8 bytes.
            let place = unsafe { host.add(word) };
            // SAFETY: as above; nobody else knows it yet.
            unsafe { place.write(empty) };
        }
        let block = Self { device, host };
        match block.empty(context) {
            Ok(()) => Ok(block),
            Err(error) => {
                // SAFETY: the copy was waited for, or refused: nobody uses either side (B3).
                let _ = unsafe { memory::free_pinned(host.cast(), context) };
                // SAFETY: as above.
                let _ = unsafe { memory::free(device, context) };
                Err(error)
            }
        }
    }

    /// Empties all records from the page-locked memory, and waits for that alone: whoever peeks at them while earlier
    /// work of their stream runs must not find what was in this memory before.
    fn empty(&self, context: &Context) -> Answer<()> {
        aside(context, |through| {
            // SAFETY: both sides have the size that is said, and stay until the wait below.
            let copied = unsafe { driver::copy_to_device(self.device, self.at(0), BLOCK_BYTES, through) };
            // SAFETY: the stream is there until this returns.
            let waited = unsafe { driver::stream_synchronize(through) };
            context.stopped(waited).and(context.answer(copied))
        })
    }

    fn slot(&self, slot: usize) -> u64 {
        self.device + (slot * BYTES) as u64
    }

    /// Where a slot's record is read; slot `SLOTS` is always empty, those behind it are peeked at.
    fn at(&self, slot: usize) -> *mut c_void {
        self.host.as_ptr().wrapping_add(slot * WORDS).cast()
    }

    /// A record that was copied back.
    fn read(&self, slot: usize) -> [u64; WORDS] {
        let place = self.at(slot).cast::<[u64; WORDS]>();
        // SAFETY: the slot is one of the block's; the copy to it was waited for, and the next one is not queued while
        // `reading` (`peeking` for those behind `SLOTS`) is held, so nobody writes here. Every bit pattern is a value.
        unsafe { place.read() }
    }
}

impl Records {
    /// The device address of an empty record for a launch that is about to be queued.
    ///
    /// Where all are in use, the stream is waited for; a fault met there is kept for whoever waits next. Where none could
    /// be emptied after that, another block takes the place of theirs, which goes with the context.
    pub(super) fn take(
        &self,
        stream: StreamHandle,
        spares: &Spares,
        context: &Context,
    ) -> Answer<(usize, u64)> {
        loop {
            {
                let mut state = lock(&self.state);
                let block = match state.block {
                    Some(block) => block,
                    None => {
                        let spare = lock(&spares.0).pop();
                        let block = spare.map_or_else(|| Block::new(context), Ok)?;
                        state.free = (0..SLOTS).rev().collect();
                        *state.block.insert(block)
                    }
                };
                if let Some(slot) = state.free.pop() {
                    return Ok((slot, block.slot(slot)));
                }
            }
            let collected = self.collect(stream, context, || context.unfinished());
            match collected {
                Err(ErrorKind::Fault(fault)) if context.alive().is_ok() => {
                    Fault::keep(&mut lock(&self.state).kept, fault);
                }
                other => other?,
            }
            let mut state = lock(&self.state);
            if state.free.is_empty() && state.launched.is_empty() && state.awaited.is_none() {
                state.block = None;
            }
        }
    }

    /// Notes a launch that was queued with this record, or gives the record back if it was not.
    pub(super) fn note(&self, slot: usize, queued: Option<Checked>) {
        let mut state = lock(&self.state);
        match queued {
            Some(launch) => state.launched.push((slot, launch)),
            None => state.free.push(slot),
        }
    }

    /// Waits for the stream, and returns the faults of its checked launches since the last wait.
    pub(super) fn collect(
        &self,
        stream: StreamHandle,
        context: &Context,
        unfinished: impl FnOnce() -> Vec<Launched>,
    ) -> Answer<()> {
        let _reading = lock(&self.reading);
        let (block, launched) = {
            let mut state = lock(&self.state);
            let launched = std::mem::take(&mut state.launched);
            state.awaited = (!launched.is_empty()).then(|| Arc::new(launched));
            (state.block, state.awaited.clone())
        };
        let collected = block.zip(launched);
        let block = collected.as_ref().map(|(block, _)| *block);
        let copied = block.map_or(Ok(()), |block| {
            // SAFETY: both sides have this size; the page-locked one is read below, after the wait, and by nobody else
            // meanwhile, as `reading` is held.
            unsafe { driver::copy_to_host(block.at(0), block.device, BLOCK_BYTES, stream) }
        });
        // SAFETY: the stream is live by C4.
        let waited = unsafe { driver::stream_synchronize(stream) };
        context.stopped_after(waited, unfinished)?;
        if let Err(failure) = copied {
            // Their records were not read: whoever waits next reads them.
            drop(collected);
            let mut state = lock(&self.state);
            if let Some(launched) = state.awaited.take().and_then(Arc::into_inner) {
                let since = std::mem::replace(&mut state.launched, launched);
                state.launched.extend(since);
            }
            drop(state);
            return context.answer(Err(failure));
        }
        let mut first = {
            let mut state = lock(&self.state);
            state.awaited = None;
            state.kept.take()
        };
        if let Some((block, launched)) = collected {
            let mut free = Vec::with_capacity(launched.len());
            let mut cleared = false;
            for (slot, launch) in launched.iter() {
                let slot = *slot;
                if let Some(recorded) = read(&block.read(slot)) {
                    Fault::keep(&mut first, Box::new(launch.fault(recorded)));
                    // SAFETY: an empty record lies behind the others; both sides stay.
                    let copied =
                        unsafe { driver::copy_to_device(block.slot(slot), block.at(SLOTS), BYTES, stream) };
                    if context.answer(copied).is_err() {
                        // The fault is the news. A slot that is not empty again is not used again.
                        continue;
                    }
                    cleared = true;
                }
                free.push(slot);
            }
            if cleared {
                // Only now are they empty for others: for whoever peeks at them, and for another stream.
                // SAFETY: the stream is live by C4.
                let waited = unsafe { driver::stream_synchronize(stream) };
                context.stopped(waited)?;
            }
            let mut state = lock(&self.state);
            state.collected += free.len() as u64;
            state.free.extend(free);
        }
        first.map_or(Ok(()), |fault| Err(ErrorKind::Fault(fault)))
    }

    /// Whether a launch has a record that was not read yet.
    pub(super) fn are_awaited(&self) -> bool {
        let state = lock(&self.state);
        state.kept.is_some() || state.awaited.is_some() || !state.launched.is_empty()
    }

    /// The first fault that is recorded so far, read by way of `through`, on which nothing is queued. Waits for no launch.
    pub(super) fn peek(&self, through: StreamHandle, context: &Context) -> Answer<Option<Fault>> {
        let _peeking = lock(&self.peeking);
        loop {
            let (block, collected) = {
                let state = lock(&self.state);
                if let Some(fault) = &state.kept {
                    return Ok(Some(fault.alone()));
                }
                (state.block, state.collected)
            };
            let Some(block) = block else { return Ok(None) };
            // SAFETY: both sides have this size, as the page-locked one has `HOST_SLOTS`; it is read below, after the
            // wait, and by nobody else meanwhile, as `peeking` is held. The block stays this stream's so long (`release`).
            // Kernels may be writing the records, each word at once.
            let copied =
                unsafe { driver::copy_to_host(block.at(SLOTS + 1), block.device, BLOCK_BYTES, through) };
            // SAFETY: the stream is the caller's.
            let waited = unsafe { driver::stream_synchronize(through) };
            context.stopped(waited)?;
            context.answer(copied)?;
            let state = lock(&self.state);
            // a slot that became free meanwhile may have been another launch's
            if state.collected == collected {
                let mut launches =
                    state.awaited.iter().flat_map(|launches| launches.iter()).chain(&state.launched);
                return Ok(launches.find_map(|(slot, launch)| {
                    read_running(&block.read(SLOTS + 1 + slot)).map(|recorded| launch.fault(recorded))
                }));
            }
        }
    }

    /// Gives the records of a stream that was waited for to whoever needs some next. Such that are still in use stay
    /// until the context goes.
    pub(super) fn release(&self, spares: &Spares) {
        let _peeking = lock(&self.peeking);
        let mut state = lock(&self.state);
        if state.launched.is_empty() && state.free.len() == SLOTS {
            lock(&spares.0).extend(state.block.take());
        }
    }
}
