//! Streams: what can be queued, and each stream's queue with the count of what has stopped. The order between
//! streams is decided in `context`.

use std::collections::VecDeque;

use super::launch::QueuedLaunch;
use super::mark::Point;
use super::transfer::QueuedCopy;
use crate::backend::{Fill, HostFunction, MarkId, StreamId};
use crate::fault::Fault;

/// Operations a stream holds before its older half is carried out to make room.
pub(super) const QUEUE_LIMIT: usize = 1024;

/// What a stream has queued, with everything it needs by value.
pub(super) enum Operation {
    Copy(QueuedCopy),
    Fill(Fill),
    Launch(Box<QueuedLaunch>),
    /// A function of the host.
    Call(HostFunction),
    /// Goes on when everything before the point has stopped.
    Wait(Point),
    /// Notes the time for the mark.
    Mark(MarkId),
}

/// One stream.
#[derive(Default)]
pub(super) struct Stream {
    /// Whether it runs only when somebody waits for it.
    slow: bool,
    queue: VecDeque<Operation>,
    /// How many operations have stopped since the stream was created.
    stopped: u64,
    /// The first fault since the last wait, with later ones.
    fault: Option<Box<Fault>>,
}

impl Stream {
    /// A stream with nothing queued.
    pub(super) fn new(slow: bool) -> Self {
        Self { slow, ..Self::default() }
    }

    /// Whether it runs only when somebody waits for it.
    pub(super) fn is_slow(&self) -> bool {
        self.slow
    }

    /// Appends an operation.
    pub(super) fn push(&mut self, operation: Operation) {
        self.queue.push_back(operation);
    }

    /// Takes the operation that runs next. The caller carries it out before anybody can ask what has stopped.
    pub(super) fn pop(&mut self) -> Option<Operation> {
        let operation = self.queue.pop_front()?;
        self.stopped += 1;
        Some(operation)
    }

    /// The operation that runs next.
    pub(super) fn front(&self) -> Option<&Operation> {
        self.queue.front()
    }

    /// Drops everything queued: it never runs.
    pub(super) fn abandon(&mut self) {
        self.stopped = self.position();
        self.queue.clear();
    }

    /// How many operations were queued since the stream was created.
    pub(super) fn position(&self) -> u64 {
        self.stopped + self.queue.len() as u64
    }

    /// How many of them have stopped.
    pub(super) fn stopped(&self) -> u64 {
        self.stopped
    }

    /// The point to carry out first so that another operation has room.
    pub(super) fn overflow(&self, stream: StreamId) -> Option<Point> {
        let full = self.queue.len() >= QUEUE_LIMIT;
        full.then(|| Point { stream, position: self.stopped + QUEUE_LIMIT as u64 / 2 })
    }

    /// Keeps a fault for the next wait; the first one comes first.
    pub(super) fn keep(&mut self, fault: Box<Fault>) {
        Fault::keep(&mut self.fault, fault);
    }

    /// The fault that is kept for the next wait.
    pub(super) fn kept(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }

    /// The first fault since this was last asked.
    pub(super) fn take_fault(&mut self) -> Option<Box<Fault>> {
        self.fault.take()
    }
}
