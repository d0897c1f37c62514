//! Runs a program on a device and in the model at once, and compares after each operation: statistics, errors, and
//! contents wherever they are read. What the operations do is in `blocks`, `handles`, `transfers`, `work`.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use scoped_gpu::{Buffer, Context, Device, Error, ErrorKind, Event, Kernel, Read, ReadWrite, Stream};

use super::program::{Op, Program};
use super::state::{Contents, Fate, Mistake};

pub type MultiplyAdd = (u32, Read<u32>, ReadWrite<u32>, u32);
pub type Poke = (ReadWrite<u32>, u64, u32);

/// Why a block ended early.
#[derive(Debug)]
pub enum Stop {
    /// The program wanted it: an error of its own.
    Mine(u32),
    /// The program wanted it: a panic of its own.
    Panicked(u32),
    /// An error of the library.
    Gpu(Error),
    /// Device and model differ.
    Wrong(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Gpu(error)
    }
}

/// The answer of a scope, or of anything else that takes a closure.
pub type Outcome = Result<Result<(), Stop>, Box<dyn Any + Send>>;

/// The model of a device, and what is known of its faults.
pub struct Machine<'d> {
    pub device: &'d Device,
    /// Whether nobody else uses the device, so that its statistics and latest cleanup are this program's.
    pub alone: bool,
    pub mistake: Option<Mistake>,
    /// Whether a call of the device may fail because the program wants it.
    pub failing: bool,
    /// Errors that such failures became.
    pub failed: u64,
    /// Launches that made a fault.
    pub faults: u64,
    pub live: u64,
    pub count: u64,
    /// Handles that were forgotten and hold something.
    pub forgotten: u64,
    /// Operations run so far.
    pub operations: u64,
    /// Number of the latest fault, error, panic or call that the program wanted.
    pub number: u32,
    /// The error or panic of the program's own that is under way.
    pub thrown: Option<u32>,
    /// Of each context's stream and each other stream that is open, innermost last.
    pub fates: Vec<Fate>,
    /// Faults that nobody was told of yet, also those that nobody needs to be told of.
    pub untold: BTreeSet<u64>,
    /// Per scope of streams: what queued copies bring, by number of the memory; and the calls of each stream.
    pub landings: Vec<Landings>,
}

#[derive(Debug, Default)]
pub struct Landings {
    pub expected: Vec<(usize, Vec<u32>)>,
    pub calls: Vec<Vec<u32>>,
}

/// An open context.
pub struct World<'ctx> {
    pub ctx: &'ctx Context<'ctx>,
    pub multiply_add: Option<Kernel<'ctx, MultiplyAdd>>,
    pub poke: Option<Kernel<'ctx, Poke>>,
    pub buffers: Vec<Buffer<'ctx, u32>>,
    pub events: Vec<Event<'ctx>>,
    /// Position of the fate of the context's own stream.
    pub fate: usize,
    /// Contents of the arrays of all open allocations, outermost first.
    pub frames: Vec<Contents>,
    /// Contents of `buffers`.
    pub shadows: Vec<Contents>,
}

/// The innermost scope of streams.
pub struct Queue<'scope, 'env, 'ctx> {
    pub streams: Vec<Stream<'scope, 'env, 'ctx>>,
    /// Position of the first one's fate.
    pub fate: usize,
    /// Host memory for queued copies, each used once, with its number.
    pub memory: std::iter::Enumerate<std::slice::IterMut<'env, Vec<u32>>>,
    pub called: &'env std::sync::Mutex<Vec<(usize, u32)>>,
}

/// What a program did that ran to its end.
#[derive(Debug, Default, Clone, Copy)]
pub struct Figures {
    pub operations: u64,
    /// Errors that failing calls of the device became.
    pub failed: u64,
    /// Launches that made a fault.
    pub faults: u64,
}

/// Runs a program on a device that nobody used before; the error says where device and model differ.
pub fn run(program: &Program, mut device: Device, mistake: Option<Mistake>) -> Result<Figures, String> {
    let mut figures = Figures::default();
    let failing = program.failure.is_some();
    for (number, (reset, ops)) in program.scopes.iter().enumerate() {
        let place = |stop: String| format!("scope {number}: {stop}");
        if *reset {
            let answer = device.reset().map_err(|error| place(error.to_string()))?;
            if answer != scoped_gpu::Reset::Recovered {
                return Err(place(format!("{answer:?}")));
            }
        }
        let mut machine = Machine { mistake, failing, ..Machine::new(&device) };
        match machine.scope(ops) {
            Ok(()) | Err(Stop::Mine(_) | Stop::Panicked(_)) => {}
            Err(Stop::Gpu(error)) => return Err(place(format!("{error:?}"))),
            Err(Stop::Wrong(what)) => return Err(place(format!("operation {}: {what}", machine.operations))),
        }
        figures.operations += machine.operations;
        figures.failed += machine.failed;
        figures.faults += machine.faults;
    }
    nothing_left(&device, failing)?;
    Ok(figures)
}

fn nothing_left(device: &Device, failing: bool) -> Result<(), String> {
    let memory = device.memory();
    if memory.live != 0 || memory.count != 0 || memory.allocated != memory.freed {
        return Err(format!("memory is left: {memory:?}"));
    }
    if failing {
        return Ok(());
    }
    device.trim().map_err(|error| error.to_string())?;
    let cached = device.memory().cached;
    if cached != 0 {
        return Err(format!("the pool holds {cached} bytes without a scope"));
    }
    if device.info().id == "host" {
        let left = device.scope(|ctx| ctx.memory_info()).map_err(|error| error.to_string())?;
        if left.free != left.total {
            return Err(format!("the device holds memory: {left:?}"));
        }
    }
    Ok(())
}

impl<'d> Machine<'d> {
    /// The model of a device that nobody else uses, before anything happened.
    pub fn new(device: &'d Device) -> Self {
        Self {
            device,
            alone: true,
            mistake: None,
            failing: false,
            failed: 0,
            faults: 0,
            live: 0,
            count: 0,
            forgotten: 0,
            operations: 0,
            number: 0,
            thrown: None,
            fates: Vec::new(),
            untold: BTreeSet::new(),
            landings: Vec::new(),
        }
    }

    /// Runs a block in a scope of its own and compares how it ends.
    pub fn scope(&mut self, ops: &[Op]) -> Result<(), Stop> {
        let before = (self.live, self.count);
        let fate = self.fates.len();
        self.fates.push(Fate::None);
        let device = self.device;
        let mut opened = false;
        let outcome: Outcome = catch_unwind(AssertUnwindSafe(|| {
            device.scope(|ctx| {
                opened = true;
                let mut world = World {
                    ctx,
                    multiply_add: None,
                    poke: None,
                    buffers: Vec::new(),
                    events: Vec::new(),
                    fate,
                    frames: Vec::new(),
                    shadows: Vec::new(),
                };
                let module = ctx.module(include_str!("../kernels/model.ptx"));
                if let Some(module) = self.judge("a module", module, &[])? {
                    let kernel = module.kernel("multiply_add");
                    world.multiply_add = self.judge("a kernel", kernel, &[])?;
                    let kernel = module.kernel("poke");
                    world.poke = self.judge("a kernel", kernel, &[])?;
                }
                self.block(&mut world, &mut None, &mut [], &mut [], ops)
            })
        }));
        (self.live, self.count) = before;
        let result = self.ended("the scope", outcome, &[fate], true);
        self.fates.truncate(fate);
        self.compare_statistics("after the scope")?;
        let leaks = device.last_leaks();
        if opened && fate == 0 && self.alone && leaks.count() != self.forgotten {
            return Err(Stop::Wrong(format!("{} handles were forgotten, reported {leaks}", self.forgotten)));
        }
        result
    }

    /// Compares how a scope, allocation or scope of streams ended with what the program threw and which faults are due.
    /// `all`: it has waited for all work on the streams of these fates.
    pub fn ended(&mut self, what: &str, outcome: Outcome, fates: &[usize], all: bool) -> Result<(), Stop> {
        let thrown = self.thrown;
        match outcome {
            Ok(Err(wrong @ Stop::Wrong(_))) => Err(wrong),
            Ok(Err(Stop::Mine(mine))) if Some(mine) == thrown => {
                self.taken_by_cleanup(what, fates, all)?;
                Err(Stop::Mine(mine))
            }
            Err(payload) if thrown.is_some() && payload.downcast_ref::<u32>().copied() == thrown => {
                self.taken_by_cleanup(what, fates, all)?;
                Err(Stop::Panicked(thrown.unwrap_or_default()))
            }
            Err(payload) => {
                let text = payload
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| payload.downcast_ref::<&str>().copied());
                Err(Stop::Wrong(format!("{what} panicked: {}", text.unwrap_or("not with a text"))))
            }
            Ok(Err(Stop::Mine(mine) | Stop::Panicked(mine))) => {
                Err(Stop::Wrong(format!("{what} returned error {mine}, thrown was {thrown:?}")))
            }
            Ok(_) if thrown.is_some() => {
                Err(Stop::Wrong(format!("{what} hid the closure's own error or panic, number {thrown:?}")))
            }
            Ok(Ok(())) => self.told(what, all, fates),
            Ok(Err(Stop::Gpu(error))) => {
                self.explain(what, &error, fates)?;
                self.told(what, all, fates)
            }
        }
    }

    /// A cleanup beside an error of the program's own: faults are kept to the side, or, if it did not wait, stay.
    fn taken_by_cleanup(&mut self, what: &str, fates: &[usize], all: bool) -> Result<(), Stop> {
        for &fate in fates {
            if all && self.alone && !self.failing && matches!(self.fates[fate], Fate::Due(_)) {
                let kept = self.device.last_cleanup();
                if !kept.as_ref().is_some_and(|error| flat(error).iter().any(|one| one.fault().is_some())) {
                    return Err(Stop::Wrong(format!("{what} kept no fault to the side: {kept:?}")));
                }
            }
            self.fates[fate].weaken();
        }
        Ok(())
    }

    /// The answer of a call; `None` after an error that was to be expected. `fates` are those it may return.
    pub fn judge<T>(
        &mut self,
        what: &str,
        answer: Result<T, Error>,
        fates: &[usize],
    ) -> Result<Option<T>, Stop> {
        match answer {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.explain(what, &error, fates).map(|()| None),
        }
    }

    /// The same for a call that waits for the stream of this fate: it returns the fault that is due.
    pub fn judge_wait<T>(
        &mut self,
        what: &str,
        answer: Result<T, Error>,
        fate: usize,
    ) -> Result<Option<T>, Stop> {
        let value = self.judge(what, answer, &[fate])?;
        self.told(what, true, &[fate])?;
        Ok(value)
    }

    /// After a wait, no fault is due.
    fn told(&mut self, what: &str, waited: bool, fates: &[usize]) -> Result<(), Stop> {
        for &fate in fates {
            match self.fates[fate] {
                Fate::Due(offset) if waited && !self.failing => {
                    return Err(Stop::Wrong(format!("{what} did not return the fault at offset {offset}")));
                }
                _ if waited && !self.failing => self.fates[fate] = Fate::None,
                _ => {}
            }
        }
        Ok(())
    }

    /// Finds the reason of each error in what the program did.
    fn explain(&mut self, what: &str, error: &Error, fates: &[usize]) -> Result<(), Stop> {
        for one in flat(error) {
            match one.kind() {
                ErrorKind::Driver { code: 999, .. } if self.failing => self.failed += 1,
                ErrorKind::Fault(fault) => {
                    let offset = fault.buffer.as_ref().and_then(|buffer| u64::try_from(buffer.offset).ok());
                    let found = fates.iter().find(|&&fate| self.fates[fate].offset() == offset);
                    if let Some(&fate) = found {
                        self.fates[fate] = Fate::None;
                    } else if !self.failing {
                        return Err(Stop::Wrong(format!("{what} returned a fault that is not its: {one}")));
                    }
                    let untold = offset.is_some_and(|offset| self.untold.remove(&offset));
                    if self.mistake == Some(Mistake::FaultTwice) {
                        self.fates[fates[0]] = Fate::Due(offset.unwrap_or_default());
                    } else if !untold {
                        return Err(Stop::Wrong(format!("{what} returned a fault once more: {one}")));
                    }
                }
                _ => return Err(Stop::Wrong(format!("{what}: {one:?}"))),
            }
        }
        Ok(())
    }

    pub fn compare_statistics(&self, when: &str) -> Result<(), Stop> {
        let memory = self.device.memory();
        if !self.alone {
            return Ok(());
        }
        if (memory.live, memory.count) == (self.live, self.count)
            && memory.allocated - memory.freed == memory.count
        {
            return Ok(());
        }
        let (live, count) = (self.live, self.count);
        Err(Stop::Wrong(format!(
            "{when}: the model has {live} bytes in {count} arrays, the device {memory:?}"
        )))
    }

    pub fn allocated(&mut self, bytes: u64) {
        self.live += bytes;
        self.count += u64::from(bytes > 0);
    }

    pub fn freed(&mut self, bytes: u64) {
        self.live -= bytes;
        self.count -= u64::from(bytes > 0);
    }

    pub fn next_number(&mut self) -> u32 {
        self.number += 1;
        self.number
    }
}

/// An error and those that came with it.
fn flat(error: &Error) -> Vec<&Error> {
    let mut all = vec![error];
    all.extend(error.also().iter().flat_map(flat));
    all
}
