//! Streams: a queue each, and a thread that carries it out in order while the caller goes on. The thread is started by
//! the first operation. After a fault anywhere in the process what is queued is dropped.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::backend::host::HostBackend;
use crate::backend::{self, Backend, Copy, Fill, HostPointer, LaunchCall, Place, Side, StreamId};
use crate::backend_calls;
use crate::codes::{self, Answer, Code};
use crate::error::ErrorKind;
use crate::event::Event;
use crate::process::{self, lock};
use crate::raw::HostFunction;

/// Makes faults be reported on standard error, with the kernel's line, which no driver's code can say.
const REPORT: &str = "SCOPED_GPU_SHIM_REPORT";

/// What a stream can be told.
#[derive(Debug)]
pub enum Operation {
    Copy(Copy),
    /// Between the memories of two contexts, through the host; each is reached by a stream of its own.
    PeerCopy {
        to: Arc<Stream>,
        dst: u64,
        from: Arc<Stream>,
        src: u64,
        bytes: usize,
    },
    Fill(Fill),
    Launch(Box<LaunchCall<'static>>),
    Call(HostFunction),
    /// Goes on when the point is reached.
    Wait(Point),
    /// Notes the time for the event's record of this number.
    Record(Arc<Event>, u64),
}

/// A place in a stream's order: behind the first `position` operations that were ever queued on it.
#[derive(Debug, Clone)]
pub struct Point {
    pub stream: Arc<Stream>,
    pub position: u64,
}

impl Point {
    /// Whether everything before it has stopped.
    pub fn is_reached(&self) -> bool {
        lock(&self.stream.queue).stopped >= self.position
    }

    /// Returns when it is reached, or, as a GPU's driver does, when a fault has ended everything and what is in the way
    /// is a function of the host.
    pub fn wait(&self) {
        let stream = &self.stream;
        let mut queue = lock(&stream.queue);
        while queue.stopped < self.position && !(queue.calls && process::alive().is_err()) {
            // nobody tells of a fault of another stream
            let soon = if queue.calls { Duration::from_millis(1) } else { Duration::MAX };
            let waited = stream.changed.wait_timeout(queue, soon);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// One stream.
#[derive(Debug)]
pub struct Stream {
    backend: Arc<HostBackend>,
    id: StreamId,
    pub serial: u32,
    /// Whether it waits for the NULL stream, and that for it.
    pub blocking: bool,
    pub priority: i32,
    queue: Mutex<Queue>,
    changed: Condvar,
    closing: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Operation>,
    queued: u64,
    stopped: u64,
    /// Whether a function of the host runs.
    calls: bool,
    thread: Option<JoinHandle<()>>,
}

impl Stream {
    pub fn new(backend: &Arc<HostBackend>, serial: u32, blocking: bool, priority: i32) -> Answer<Arc<Self>> {
        let id = backend.create_stream().map_err(|error| codes::of_error(&error))?;
        Ok(Arc::new(Self {
            backend: Arc::clone(backend),
            id,
            serial,
            blocking,
            priority,
            queue: Mutex::default(),
            changed: Condvar::new(),
            closing: AtomicBool::new(false),
        }))
    }

    /// Queues an operation; returns the point behind it.
    pub fn push(self: &Arc<Self>, operation: Operation) -> Answer<Point> {
        let mut queue = lock(&self.queue);
        if queue.thread.is_none() {
            let stream = Arc::clone(self);
            let thread = std::thread::Builder::new().name("cuda stream".to_owned());
            queue.thread = Some(thread.spawn(move || stream.run()).map_err(|_| Code::OPERATING_SYSTEM)?);
        }
        queue.waiting.push_back(operation);
        queue.queued += 1;
        let position = queue.queued;
        drop(queue);
        self.changed.notify_all();
        Ok(Point { stream: Arc::clone(self), position })
    }

    /// The point behind everything queued so far.
    pub fn end(self: &Arc<Self>) -> Point {
        Point { stream: Arc::clone(self), position: lock(&self.queue).queued }
    }

    /// Lets the thread end once the queue is empty. Nothing is queued any more.
    pub fn close(&self) {
        let queue = lock(&self.queue);
        self.closing.store(true, Ordering::Release);
        drop(queue);
        self.changed.notify_all();
    }

    /// Waits for the thread's end.
    pub fn join(&self) {
        let thread = lock(&self.queue).thread.take();
        if let Some(thread) = thread {
            // nothing in it panics, and the work that a panic would leave is over either way
            let _ = thread.join();
        }
    }

    /// The thread: one operation after the other.
    fn run(&self) {
        process::carries_out();
        while let Some(operation) = self.next() {
            self.carry_out(operation);
            lock(&self.queue).stopped += 1;
            self.changed.notify_all();
        }
        // it is gone already if the context was reset
        let _ = self.backend.destroy_stream(self.id);
    }

    fn next(&self) -> Option<Operation> {
        let idle = |queue: &mut Queue| queue.waiting.is_empty() && !self.closing.load(Ordering::Acquire);
        let waited = self.changed.wait_while(lock(&self.queue), idle);
        waited.unwrap_or_else(PoisonError::into_inner).waiting.pop_front()
    }

    fn carry_out(&self, operation: Operation) {
        let dead = process::alive().is_err();
        let done = match operation {
            Operation::Wait(point) => {
                point.wait();
                Ok(())
            }
            Operation::Record(event, record) => {
                event.pass(record);
                Ok(())
            }
            _ if dead => Ok(()),
            Operation::Copy(copy) => backend_calls::copy(&self.backend, self.id, &copy),
            Operation::PeerCopy { to, dst, from, src, bytes } => to.copy_from(&from, dst, src, bytes),
            Operation::Fill(fill) => backend_calls::fill(&self.backend, self.id, &fill),
            Operation::Launch(call) => backend_calls::launch(&self.backend, self.id, *call),
            Operation::Call(function) => {
                self.calls(true);
                function.call();
                self.calls(false);
                Ok(())
            }
        };
        if let Err(error) = done {
            if std::env::var_os(REPORT).is_some() {
                eprintln!("{error}");
            }
            process::end(codes::of_error(&error));
        }
    }

    fn calls(&self, calls: bool) {
        lock(&self.queue).calls = calls;
        self.changed.notify_all();
    }

    fn copy_from(&self, from: &Self, dst: u64, src: u64, bytes: usize) -> Result<(), ErrorKind> {
        let mut between = vec![0_u8; bytes];
        let host = std::ptr::NonNull::from(between.as_mut_slice()).cast();
        let one = |dst, src| Copy { dst: flat(dst), src: flat(src), row_bytes: bytes, rows: 1, slices: 1 };
        let host = Place::Host(HostPointer(host));
        backend_calls::copy(&from.backend, from.id, &one(host, Place::Device(src)))?;
        backend_calls::copy(&self.backend, self.id, &one(Place::Device(dst), host))
    }
}

/// A side of a copy of one row.
pub fn flat(place: Place) -> backend::Side {
    Side { place, pitch: 0, slice_pitch: 0 }
}
