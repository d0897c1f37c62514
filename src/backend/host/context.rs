//! Everything one context of the host device holds, and the order in which queued operations run. One thread at a
//! time is in here; the lock is in the parent module.
//!
//! By default a wait carries out its own stream, and others only as far as marks ask for it: the order is the same
//! in every run. With hostile choices any stream may run that the marks allow, also when nobody waits.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

use super::hostile::{Choices, GARBAGE};
use super::launch;
use super::mark::{Mark, Point};
use super::memory::{Memory, MemoryError};
use super::module::Module;
use super::probe::Statistics;
use super::stream::{Operation, Stream};
use super::transfer;
use crate::backend::{Answer, MarkId, ModuleId, StreamId};
use crate::error::ErrorKind;
use crate::fault::{Fault, FaultKind};

/// The state of one context.
pub(super) struct Context {
    memory: Memory,
    /// Ordered, so that a seed always meets the same choices.
    streams: BTreeMap<StreamId, Stream>,
    marks: HashMap<MarkId, Mark>,
    modules: HashMap<ModuleId, Arc<dyn Module>>,
    /// The summary of the fault that ended the context.
    poison: Option<String>,
    /// Somebody else has reset the device, so that nothing of before is there any more.
    lost: bool,
    /// Ids given out so far, of all sorts together.
    ids: u64,
    choices: Option<Choices>,
}

/// What stands between a stream and a position in its order.
enum Next {
    /// Nothing, it was reached.
    Reached,
    /// An operation that can run.
    Ready,
    /// A wait for this point, which was not reached.
    Behind(Point),
}

impl Context {
    /// A context with `limit` bytes of memory; hostile if there are choices.
    pub(super) fn new(limit: u64, choices: Option<Choices>) -> Self {
        Self {
            memory: Memory::new(limit),
            streams: BTreeMap::new(),
            marks: HashMap::new(),
            modules: HashMap::new(),
            poison: None,
            lost: false,
            ids: 0,
            choices,
        }
    }

    /// An error once an uncontained fault, or somebody else's reset, has ended the context.
    pub(super) fn alive(&self) -> Answer<()> {
        match &self.poison {
            _ if self.lost => Err(ErrorKind::ContextLost),
            Some(origin) => Err(ErrorKind::Poisoned { origin: origin.clone() }),
            None => Ok(()),
        }
    }

    /// Whether somebody else's reset has taken everything: then there is nothing to give back.
    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Device memory.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// `bytes` of device memory.
    pub(super) fn allocate(&mut self, bytes: usize) -> Answer<u64> {
        self.alive()?;
        // zeros come from the system for nothing
        let contents = if self.choices.is_some() { GARBAGE } else { 0 };
        self.memory.allocate(bytes, contents).map_err(ErrorKind::from)
    }

    /// Frees what `allocate` returned.
    pub(super) fn free(&mut self, address: u64) -> Answer<()> {
        self.memory.free(address).map_err(|error| foreign(format!("free of {address:#x}: {error}")))
    }

    fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// A new stream.
    pub(super) fn create_stream(&mut self) -> Answer<StreamId> {
        self.alive()?;
        let id = StreamId { number: self.next_id(), handle: 0 };
        let slow = self.choices.as_mut().is_some_and(|choices| choices.below(4) == 0);
        self.streams.insert(id, Stream::new(slow));
        Ok(id)
    }

    /// Destroys a stream. What is queued on it runs first; a fault that nobody waited for is the answer.
    pub(super) fn destroy_stream(&mut self, id: StreamId) -> Answer<()> {
        let end = self.end(id)?;
        self.advance(end);
        let fault = self.streams.remove(&id).and_then(|mut stream| stream.take_fault());
        fault.map_or(Ok(()), |fault| Err(ErrorKind::Fault(fault)))
    }

    /// Carries out what the stream has queued.
    pub(super) fn run_stream(&mut self, id: StreamId) -> Answer<()> {
        let end = self.end(id)?;
        self.advance(end);
        Ok(())
    }

    /// The stream's first fault since this was last asked; after that what ended the context.
    pub(super) fn take_fault(&mut self, id: StreamId) -> Answer<()> {
        let fault = self.stream(id)?.take_fault();
        fault.map_or_else(|| self.alive(), |fault| Err(ErrorKind::Fault(fault)))
    }

    /// The first fault that a stream keeps for whoever waits for it.
    pub(super) fn kept_fault(&self) -> Option<&Fault> {
        self.streams.values().find_map(Stream::kept)
    }

    /// Queues an operation.
    pub(super) fn push(&mut self, id: StreamId, operation: Operation) -> Answer<()> {
        self.alive()?;
        if let Some(point) = self.stream(id)?.overflow(id) {
            self.advance(point);
            self.alive()?;
        }
        self.stream(id)?.push(operation);
        self.run_early();
        Ok(())
    }

    /// Marks what the stream has queued so far.
    pub(super) fn record(&mut self, stream: StreamId) -> Answer<MarkId> {
        self.alive()?;
        let mut point = self.end(stream)?;
        let id = MarkId(self.next_id());
        let passed = self.is_reached(point).then(Instant::now);
        if passed.is_none() {
            // the mark's own operation is part of it, so that whoever waited finds the time noted
            point.position += 1;
        }
        self.marks.insert(id, Mark { point, passed });
        if passed.is_none() {
            let queued = self.push(stream, Operation::Mark(id));
            queued.inspect_err(|_| _ = self.marks.remove(&id))?;
        }
        Ok(id)
    }

    /// The mark with this id.
    pub(super) fn mark(&self, id: MarkId) -> Answer<&Mark> {
        self.marks.get(&id).ok_or_else(|| unknown("event", id.0, self.lost))
    }

    /// Gives a mark back.
    pub(super) fn destroy_mark(&mut self, id: MarkId) -> Answer<()> {
        self.mark(id)?;
        self.marks.remove(&id);
        Ok(())
    }

    /// Adds a module whose variables live in this context's memory.
    pub(super) fn load(
        &mut self,
        load: impl FnOnce(&mut Memory) -> Answer<Arc<dyn Module>>,
    ) -> Answer<ModuleId> {
        self.alive()?;
        let module = load(&mut self.memory)?;
        let id = ModuleId(self.next_id());
        self.modules.insert(id, module);
        Ok(id)
    }

    /// The module with this id.
    pub(super) fn module(&self, id: ModuleId) -> Answer<&Arc<dyn Module>> {
        self.modules.get(&id).ok_or_else(|| unknown("module", id.0, self.lost))
    }

    /// Frees a module's variables. Launches of it that are still queued run first.
    pub(super) fn unload(&mut self, id: ModuleId) -> Answer<()> {
        if Arc::strong_count(self.module(id)?) > 1 {
            self.finish();
        }
        if let Some(module) = self.modules.remove(&id) {
            module.release(&mut self.memory);
        }
        Ok(())
    }

    /// Carries out everything that any stream has queued.
    fn finish(&mut self) {
        let streams: Vec<StreamId> = self.streams.keys().copied().collect();
        for stream in streams {
            self.advance(Point { stream, position: self.streams.get(&stream).map_or(0, Stream::position) });
        }
    }

    /// Throws everything away. Ids go on counting.
    pub(super) fn reset(&mut self) {
        self.streams.clear();
        self.marks.clear();
        self.modules.clear();
        self.poison = None;
        self.lost = false;
        if self.choices.is_some() {
            // as on a GPU, where the first allocation after a reset gets the address of the first one before it
            self.memory = Memory::new(self.memory.usage().total);
        } else {
            self.memory.reset();
        }
    }

    /// What happens to a context that somebody else resets; `noticed`: its handles are told.
    pub(super) fn reset_from_outside(&mut self, noticed: bool) {
        self.reset();
        self.lost = noticed;
    }

    /// What the context holds, without what the parent module counts.
    pub(super) fn statistics(&self) -> Statistics {
        let usage = self.memory.usage();
        Statistics {
            allocations: usage.live_count,
            bytes: usage.live_bytes,
            pinned: 0,
            streams: self.streams.len(),
            marks: self.marks.len(),
            modules: self.modules.len(),
            stopped: self.streams.values().map(Stream::stopped).sum(),
            calls: 0,
        }
    }

    fn stream(&mut self, id: StreamId) -> Answer<&mut Stream> {
        let lost = self.lost;
        self.streams.get_mut(&id).ok_or_else(|| unknown("stream", id.number, lost))
    }

    /// Behind everything that the stream has queued.
    fn end(&mut self, id: StreamId) -> Answer<Point> {
        Ok(Point { stream: id, position: self.stream(id)?.position() })
    }

    /// Whether everything before the point has stopped. A stream that was destroyed has.
    pub(super) fn is_reached(&self, point: Point) -> bool {
        self.streams.get(&point.stream).is_none_or(|stream| stream.stopped() >= point.position)
    }

    fn next(&self, goal: Point) -> Next {
        let Some(stream) = self.streams.get(&goal.stream) else { return Next::Reached };
        if stream.stopped() >= goal.position {
            return Next::Reached;
        }
        match stream.front() {
            None => Next::Reached,
            Some(&Operation::Wait(point)) if !self.is_reached(point) => Next::Behind(point),
            Some(_) => Next::Ready,
        }
    }

    /// Carries out operations until the point is reached.
    pub(super) fn advance(&mut self, goal: Point) {
        while !self.is_reached(goal) {
            let chosen = match self.choices {
                Some(_) => self.choose(self.needed(goal)),
                None => self.needed(goal),
            };
            // there is one: the operation that was queued first of all waits for nothing
            let Some(chosen) = chosen else { return };
            self.step(chosen);
        }
    }

    /// Carries out one operation on the way to the point, if it is not reached.
    pub(super) fn nudge(&mut self, goal: Point) {
        if let Some(chosen) = self.needed(goal) {
            self.step(chosen);
        }
    }

    /// The stream to go on with so that the point is reached.
    fn needed(&self, mut goal: Point) -> Option<StreamId> {
        // each point was made before the one it stands behind, so this ends
        loop {
            match self.next(goal) {
                Next::Reached => return None,
                Next::Ready => return Some(goal.stream),
                Next::Behind(point) => goal = point,
            }
        }
    }

    /// Any stream that can go on; a slow one, or one that stands before a function of the host, only if it is `needed`.
    ///
    /// A device runs such a function on a thread of its own. Here it runs on a thread that waits, and may itself wait
    /// for what that thread does next: so never on one that does not wait for it.
    fn choose(&mut self, needed: Option<StreamId>) -> Option<StreamId> {
        let ready = |id: StreamId, stream: &Stream| {
            let runs = matches!(self.next(Point { stream: id, position: u64::MAX }), Next::Ready);
            let waits = stream.is_slow() || matches!(stream.front(), Some(Operation::Call(_)));
            runs && (needed == Some(id) || !waits)
        };
        let streams = self.streams.iter();
        let ready: Vec<StreamId> =
            streams.filter(|&(&id, stream)| ready(id, stream)).map(|(&id, _)| id).collect();
        let chosen = self.choices.as_mut()?.below(ready.len());
        ready.get(chosen).copied()
    }

    /// A device does not wait until it is waited for: now and then, something runs at once.
    fn run_early(&mut self) {
        let Some(choices) = &mut self.choices else { return };
        let steps = if choices.below(8) == 0 { 1 + choices.below(8) } else { 0 };
        for _ in 0..steps {
            let Some(chosen) = self.choose(None) else { return };
            self.step(chosen);
        }
    }

    /// Carries out the stream's next operation.
    fn step(&mut self, id: StreamId) {
        let Some(operation) = self.streams.get_mut(&id).and_then(Stream::pop) else { return };
        let Err(fault) = self.execute(operation) else { return };
        if !fault.contained {
            self.poison.get_or_insert_with(|| fault.summary());
            self.streams.values_mut().for_each(Stream::abandon);
        }
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.keep(fault);
        }
    }

    fn execute(&mut self, operation: Operation) -> Result<(), Box<Fault>> {
        match operation {
            Operation::Copy(copy) => copy.run(&mut self.memory).map_err(|error| broken("copy", error)),
            Operation::Fill(fill) => {
                transfer::fill(&mut self.memory, &fill).map_err(|error| broken("fill", error))
            }
            Operation::Launch(launch) => launch::run(&launch, &mut self.memory),
            Operation::Call(function) => {
                function();
                Ok(())
            }
            Operation::Wait(_) => Ok(()),
            Operation::Mark(id) => {
                if let Some(mark) = self.marks.get_mut(&id) {
                    mark.passed = Some(Instant::now());
                }
                Ok(())
            }
        }
    }
}

/// A transfer that broke C1: nothing was harmed, as this memory knows its addresses, but the crate is wrong.
fn broken(operation: &str, error: MemoryError) -> Box<Fault> {
    let message = format!("a {operation} was queued with {error}");
    Box::new(Fault::new(FaultKind::Internal { message }, "scoped-gpu", operation))
}

fn foreign(message: String) -> ErrorKind {
    ErrorKind::Foreign { message }
}

/// Why there is nothing of this number.
fn unknown(what: &str, number: u64, lost: bool) -> ErrorKind {
    if lost { ErrorKind::ContextLost } else { foreign(format!("{what} {number} is none of this context's")) }
}
