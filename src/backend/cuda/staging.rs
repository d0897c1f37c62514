//! Large blocking copies between ordinary host memory and the device, by way of page-locked blocks: several threads with
//! two blocks each, of which one is on the link while the other is copied on the host. The driver's own way through
//! ordinary memory reaches a tenth of the link, this one most of it (measured on an H200).

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::thread;

use super::context::Context;
use super::driver::{self, EventHandle, StreamHandle};
use super::memory;
use super::stream::NON_BLOCKING;
use super::transfer;
use crate::backend::{Answer, Copy, HostPointer, Place, Side};
use crate::error::ErrorKind;

/// Copies from this many bytes on are staged: the blocks, made once, cost as much as the driver's way for four of these.
pub(super) const LEAST_BYTES: usize = 16 << 20;
/// Bytes of a block.
const BLOCK_BYTES: usize = 1 << 20;
/// The most threads; more are not faster.
const LANES: usize = 8;

/// The blocks of a context, made when they are first needed. One copy at a time uses them.
#[derive(Default)]
pub(super) struct Staging(Mutex<Option<Blocks>>);

struct Blocks {
    /// Page-locked memory that all blocks are pieces of: one allocation takes less time than many.
    memory: NonNull<u8>,
    lanes: Vec<Lane>,
}

// SAFETY: the memory is used through the lanes only.
unsafe impl Send for Blocks {}

/// What one thread has.
type Lane = [Stage; 2];

/// A block, and the stream of the copies that use it.
struct Stage {
    block: NonNull<u8>,
    stream: StreamHandle,
}

// SAFETY: the block is used by whoever has the stage, and by the copies on its stream; the driver's functions may be
// called with a stream from any thread on which its context is current.
unsafe impl Send for Stage {}

impl Blocks {
    /// Blocks for `count` lanes.
    fn new(count: usize, context: &Context) -> Answer<Self> {
        let memory = memory::allocate_pinned(2 * count * BLOCK_BYTES, context)?;
        let mut blocks = Self { memory, lanes: Vec::with_capacity(count) };
        let stage = |number: usize| {
            // SAFETY: there are `2 * count` blocks from `memory` on.
            let block = unsafe { memory.add(number * BLOCK_BYTES) };
            let mut stream = ptr::null_mut();
            // SAFETY: `stream` is a place for the answer; the context is current.
            context.answer(unsafe { driver::stream_create(&mut stream, NON_BLOCKING) })?;
            Ok(Stage { block, stream })
        };
        for lane in 0..count {
            let made = stage(2 * lane).and_then(|first| match stage(2 * lane + 1) {
                Ok(second) => Ok([first, second]),
                Err(error) => {
                    first.close();
                    Err(error)
                }
            });
            match made {
                Ok(lane) => blocks.lanes.push(lane),
                Err(error) => {
                    blocks.close(context);
                    return Err(error);
                }
            }
        }
        Ok(blocks)
    }

    /// Gives everything back. What that answers does not matter: the context, which goes next, gives back what it did
    /// not.
    fn close(self, context: &Context) {
        self.lanes.into_iter().flatten().for_each(Stage::close);
        // SAFETY: no copy uses it, as each job waits at its end, and no stage is left.
        let _ = unsafe { memory::free_pinned(self.memory, context) };
    }
}

impl Stage {
    /// Waits until no copy uses the block.
    fn wait(&self, job: &Job<'_>) -> Answer<()> {
        // SAFETY: the stream lives as long as the stage.
        job.context.stopped(unsafe { driver::stream_synchronize(self.stream) })
    }

    fn close(self) {
        // SAFETY: this is the stage's end, so the stream is destroyed once; nothing is queued, as each job waits.
        let _ = unsafe { driver::stream_destroy(self.stream) };
    }
}

impl Staging {
    /// Does the copy after `after`; it has stopped when this returns. `false`: there is nothing to do it with now.
    ///
    /// # Safety
    /// C1, C3; `after` is live. One side is host memory without gaps between its rows.
    pub(super) unsafe fn copy(
        &self,
        copy: &Copy,
        after: EventHandle,
        max_pitch: usize,
        context: &Context,
    ) -> Answer<bool> {
        let mut held = match self.0.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(false),
        };
        let Some(cut) = Cut::new(copy) else { return Ok(false) };
        let blocks = match &mut *held {
            Some(blocks) => blocks,
            none => {
                let lanes = thread::available_parallelism().map_or(1, usize::from).min(LANES);
                match Blocks::new(lanes, context) {
                    Ok(blocks) => none.insert(blocks),
                    // the driver's own way needs none
                    Err(ErrorKind::OutOfPinnedMemory { .. }) => return Ok(false),
                    Err(error) => return Err(error),
                }
            }
        };
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let job = Job { cut, next, failed, after, max_pitch, context };
        let Some((own, others)) = blocks.lanes.split_first_mut() else { return Ok(false) };
        thread::scope(|threads| {
            let mut started = Vec::with_capacity(others.len());
            for lane in others {
                // Where no thread can be had, the others do its part.
                let work = || job.context.make_current().and_then(|()| job.run(lane));
                started.extend(thread::Builder::new().spawn_scoped(threads, work));
            }
            let mut answer = job.run(own);
            for thread in started {
                // Its code does not panic; if it did, its blocks' copies were not waited for.
                let joined = thread.join().unwrap_or_else(|_| std::process::abort());
                answer = both(answer, joined);
            }
            answer.map(|()| true)
        })
    }

    /// Keeps other copies away.
    #[cfg(test)]
    pub(super) fn hold(&self) -> impl Drop + '_ {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the blocks back, or forgets them where their context cannot be used any more.
    pub(super) fn clear(&self, context: &Context) {
        let blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(blocks) = blocks
            && context.takes_back()
        {
            blocks.close(context);
        }
    }
}

/// What two threads answer together. Of a fault one of them hears, the others that the context has ended.
fn both(one: Answer<()>, other: Answer<()>) -> Answer<()> {
    match (one, other) {
        (Err(ErrorKind::Poisoned { .. }), fault @ Err(ErrorKind::Fault(_))) => fault,
        (one, other) => one.and(other),
    }
}

/// One copy, on which several threads work.
struct Job<'a> {
    cut: Cut,
    /// The first piece that nobody has taken.
    next: AtomicUsize,
    failed: AtomicBool,
    after: EventHandle,
    max_pitch: usize,
    context: &'a Context,
}

// SAFETY: the driver's functions may be called with an event from any thread on which its context is current; everything
// else is shared by itself.
unsafe impl Sync for Job<'_> {}

impl Job<'_> {
    /// Moves pieces until none is left. No copy uses the blocks when it returns.
    fn run(&self, lane: &mut Lane) -> Answer<()> {
        let mut answer = self.follow(lane).and_then(|()| match self.cut.to_device {
            true => self.upload(lane),
            false => self.download(lane),
        });
        if answer.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        for stage in lane.iter() {
            answer = answer.and(stage.wait(self));
        }
        answer
    }

    /// Puts the lane behind what the copy follows.
    fn follow(&self, lane: &Lane) -> Answer<()> {
        lane.iter().try_for_each(|stage| {
            // SAFETY: the event is live while the job lasts, the stream as long as its stage.
            self.context.answer(unsafe { driver::stream_wait_event(stage.stream, self.after, 0) })
        })
    }

    fn take(&self) -> Option<Piece> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        self.cut.piece(self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn upload(&self, lane: &Lane) -> Answer<()> {
        for (turn, stage) in lane.iter().cycle().enumerate() {
            let Some(piece) = self.take() else { break };
            // No copy uses a block when a job begins.
            if turn >= lane.len() {
                stage.wait(self)?;
            }
            // SAFETY: the piece is host memory that nobody writes (C3); it fits into the block, which, after the wait,
            // nobody else uses.
            unsafe { ptr::copy_nonoverlapping(piece.host.as_ptr(), stage.block.as_ptr(), piece.bytes()) };
            self.queue(stage, &piece)?;
        }
        Ok(())
    }

    fn download(&self, lane: &Lane) -> Answer<()> {
        let mut filled: [Option<Piece>; 2] = [None, None];
        loop {
            for (stage, filled) in lane.iter().zip(&mut filled) {
                if let Some(piece) = filled.take() {
                    stage.wait(self)?;
                    // SAFETY: the piece is host memory that nobody else uses (C3), and no other thread took it; the block,
                    // whose copy has stopped, holds as many bytes.
                    unsafe {
                        ptr::copy_nonoverlapping(stage.block.as_ptr(), piece.host.as_ptr(), piece.bytes());
                    }
                }
                if let Some(piece) = self.take() {
                    self.queue(stage, &piece)?;
                    *filled = Some(piece);
                }
            }
            if filled.iter().all(Option::is_none) {
                break;
            }
        }
        Ok(())
    }

    /// Queues the copy between a block and the piece's device memory.
    fn queue(&self, stage: &Stage, piece: &Piece) -> Answer<()> {
        let block =
            Side { place: Place::Host(HostPointer(stage.block)), pitch: piece.row_bytes, slice_pitch: 0 };
        let (dst, src) = if self.cut.to_device { (piece.device, block) } else { (block, piece.device) };
        let copy = Copy { dst, src, row_bytes: piece.row_bytes, rows: piece.rows, slices: 1 };
        // SAFETY: the device side is a piece of the copy that was vouched for (C1). The block holds as many bytes, and
        // is neither read, written nor given back before its stream was waited for (C3).
        self.context.answer(unsafe { transfer::queue(&copy, self.max_pitch, stage.stream) })
    }
}

/// A copy, cut into pieces that fit into blocks.
struct Cut {
    to_device: bool,
    host: NonNull<u8>,
    device: Side,
    row_bytes: usize,
    rows: usize,
    /// Rows of a piece, or 1 where a row is cut.
    rows_together: usize,
    /// Pieces of a row, or 1 where rows go together.
    parts: usize,
}

/// Bytes without gaps in host memory, rows in device memory.
struct Piece {
    host: NonNull<u8>,
    device: Side,
    row_bytes: usize,
    rows: usize,
}

impl Piece {
    fn bytes(&self) -> usize {
        self.row_bytes * self.rows
    }
}

impl Cut {
    /// `None` if the host's side has gaps, if there is none, or nothing to copy.
    fn new(copy: &Copy) -> Option<Self> {
        let copy = transfer::dense(*copy);
        let (to_device, host, device, pitch) = match (copy.src.place, copy.dst.place) {
            (Place::Host(HostPointer(host)), Place::Device(_)) => (true, host, copy.dst, copy.src.pitch),
            (Place::Device(_), Place::Host(HostPointer(host))) => (false, host, copy.src, copy.dst.pitch),
            _ => return None,
        };
        let Copy { row_bytes, rows, slices, .. } = copy;
        if slices != 1 || (rows > 1 && pitch != row_bytes) {
            return None;
        }
        let rows_together = BLOCK_BYTES.checked_div(row_bytes)?.max(1).min(rows);
        Some(Self {
            to_device,
            host,
            device,
            row_bytes,
            rows,
            rows_together,
            parts: row_bytes.div_ceil(BLOCK_BYTES),
        })
    }

    /// Piece number `index`.
    fn piece(&self, index: usize) -> Option<Piece> {
        let row = index.checked_div(self.parts)? * self.rows_together;
        let column = index.checked_rem(self.parts)? * BLOCK_BYTES;
        if row >= self.rows {
            return None;
        }
        let device = transfer::advanced(&self.device, 0, row);
        let Place::Device(address) = device.place else { return None };
        Some(Piece {
            // SAFETY: the piece begins inside the copy's host memory, which is one object (C3).
            host: unsafe { self.host.add(row * self.row_bytes + column) },
            device: Side { place: Place::Device(address + column as u64), ..device },
            row_bytes: (self.row_bytes - column).min(BLOCK_BYTES),
            rows: (self.rows - row).min(self.rows_together),
        })
    }
}
