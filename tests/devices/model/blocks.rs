//! Blocks, and the operations that have one: allocations, page-locked memory, scopes of streams.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

use scoped_gpu::{Linear, Pitched, Rect, filled, linear, uninit, zeros};

use super::arrays::{Any, pattern, visible, writing};
use super::machine::{Landings, Machine, Outcome, Queue, Stop, World};
use super::program::{First, Op, Verb};
use super::state::{Contents, Fate, Part};

impl Machine<'_> {
    /// Runs the operations of a block one after the other.
    pub fn block<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        queue: &mut Option<Queue<'_, '_, 'ctx>>,
        outer: &mut [Any<'_, 'ctx>],
        own: &mut [Linear<'_, 'ctx, u32>],
        ops: &[Op],
    ) -> Result<(), Stop> {
        for op in ops {
            self.operations += 1;
            let done = match &op.verb {
                Verb::Alloc { lengths, first, caught } => {
                    let done = self.alloc(world, queue, outer, own, lengths, *first, &op.body);
                    self.perhaps_caught(*caught, done)
                }
                Verb::AllocPitched { width, height, caught } => {
                    let shape = (usize::from(*width), usize::from(*height));
                    let done = self.alloc_pitched(world, queue, outer, own, shape, &op.body);
                    self.perhaps_caught(*caught, done)
                }
                Verb::Pinned { length, caught } => {
                    let done = self.pinned(world, queue, outer, own, usize::from(*length), &op.body);
                    self.perhaps_caught(*caught, done)
                }
                Verb::Streams { count, caught } => {
                    let done = self.streams(world, outer, own, *count, &op.body);
                    self.perhaps_caught(*caught, done)
                }
                Verb::Scope { caught } => {
                    let done = self.scope(&op.body);
                    self.perhaps_caught(*caught, done)
                }
                verb @ (Verb::Fill { .. }
                | Verb::Copy { .. }
                | Verb::FromHost { .. }
                | Verb::ToHost { .. }
                | Verb::ReadAll) => self.transfer(world, queue, outer, own, verb),
                verb @ (Verb::MultiplyAdd { .. } | Verb::Poke { .. }) => {
                    self.launch(world, queue, outer, own, verb)
                }
                verb @ (Verb::Call { .. }
                | Verb::Synchronize { .. }
                | Verb::Record { .. }
                | Verb::WaitFor { .. }
                | Verb::WaitEvent { .. }
                | Verb::DropEvent { .. }
                | Verb::ForgetEvent { .. }) => self.order(world, queue, verb),
                verb => self.handle(world, outer, own, verb),
            };
            done.and_then(|()| self.compare_statistics("afterwards")).map_err(|stop| match stop {
                // The innermost operation is named.
                Stop::Wrong(what) if !what.ends_with('}') => Stop::Wrong(format!("{what}; {:?}", op.verb)),
                other => other,
            })?;
        }
        Ok(())
    }

    /// Goes on after an error or panic of the program's own, if it is caught here.
    fn perhaps_caught(&mut self, caught: bool, done: Result<(), Stop>) -> Result<(), Stop> {
        match done {
            Err(Stop::Mine(_) | Stop::Panicked(_)) if caught => {
                self.thrown = None;
                Ok(())
            }
            Err(Stop::Panicked(number)) => resume_unwind(Box::new(number)),
            other => other,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the arguments of `block`, and what is allocated")]
    fn alloc<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        queue: &mut Option<Queue<'_, '_, 'ctx>>,
        outer: &mut [Any<'_, 'ctx>],
        own: &mut [Linear<'_, 'ctx, u32>],
        lengths: &[u16],
        first: First,
        body: &[Op],
    ) -> Result<(), Stop> {
        let (ctx, frames, fate) = (world.ctx, world.frames.len(), world.fate);
        let lengths = || lengths.iter().map(|&length| usize::from(length));
        let mut visible: Vec<Any<'_, 'ctx>> = outer.iter_mut().map(Any::again).collect();
        visible.extend(own.iter_mut().map(|array| Any::Linear(array.view_mut())));
        let mut enter = |machine: &mut Self, arrays: &mut [Linear<'_, 'ctx, u32>]| {
            for (number, array) in (0..).zip(arrays.iter()) {
                let mut contents = Contents::linear(array.len(), 0);
                match first {
                    First::Filled(value) => contents.elements.fill(value),
                    First::Host(value) => contents.elements = pattern(value + number, array.len()),
                    First::Uninit => contents.known = false,
                    First::Zeros => {}
                }
                machine.allocated(contents.bytes);
                world.frames.push(contents);
            }
            machine.compare_statistics("at the start")?;
            machine.block(world, queue, &mut visible, arrays, body)
        };
        let outcome: Outcome = catch_unwind(AssertUnwindSafe(|| match first {
            First::Zeros => {
                ctx.alloc_each(lengths().map(zeros::<u32>), |mut arrays| enter(self, &mut arrays))
            }
            First::Uninit => {
                ctx.alloc_each(lengths().map(uninit::<u32>), |mut arrays| enter(self, &mut arrays))
            }
            First::Filled(value) => {
                ctx.alloc_each(lengths().map(|n| filled(n, value)), |mut arrays| enter(self, &mut arrays))
            }
            First::Host(value) => {
                let host: Vec<Vec<u32>> =
                    (value..).zip(lengths()).map(|(value, n)| pattern(value, n)).collect();
                ctx.alloc_each(host.iter().map(|host| linear(host)), |mut arrays| enter(self, &mut arrays))
            }
        }));
        for contents in world.frames.split_off(frames) {
            self.freed(contents.bytes);
        }
        self.ended("the allocation", outcome, &[fate], false)
    }

    fn alloc_pitched<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        queue: &mut Option<Queue<'_, '_, 'ctx>>,
        outer: &mut [Any<'_, 'ctx>],
        own: &mut [Linear<'_, 'ctx, u32>],
        (width, height): (usize, usize),
        body: &[Op],
    ) -> Result<(), Stop> {
        let (ctx, frames, fate) = (world.ctx, world.frames.len(), world.fate);
        let mut visible: Vec<Any<'_, 'ctx>> = outer.iter_mut().map(Any::again).collect();
        visible.extend(own.iter_mut().map(|array| Any::Linear(array.view_mut())));
        let outcome: Outcome = catch_unwind(AssertUnwindSafe(|| {
            ctx.alloc_pitched(width, height, |mut array: Pitched<'_, 'ctx, u32>| {
                // How much of the last row's padding belongs to it is the device's choice.
                let bytes = self.device.memory().live.saturating_sub(self.live);
                let (least, most) = (4 * (width * height) as u64, (array.pitch() * height) as u64);
                if self.alone && !(least..=most).contains(&bytes) {
                    return Err(Stop::Wrong(format!("{bytes} bytes for {array:?}")));
                }
                self.allocated(bytes);
                world.frames.push(Contents::pitched(width, height, bytes));
                let mut visible: Vec<Any<'_, 'ctx>> = visible.iter_mut().map(Any::again).collect();
                visible.push(Any::Pitched(array.view_mut()));
                self.block(world, queue, &mut visible, &mut [], body)
            })
        }));
        for contents in world.frames.split_off(frames) {
            self.freed(contents.bytes);
        }
        self.ended("the allocation", outcome, &[fate], false)
    }

    /// Page-locked memory, from which something is uploaded.
    fn pinned<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        queue: &mut Option<Queue<'_, '_, 'ctx>>,
        outer: &mut [Any<'_, 'ctx>],
        own: &mut [Linear<'_, 'ctx, u32>],
        length: usize,
        body: &[Op],
    ) -> Result<(), Stop> {
        let (ctx, fate) = (world.ctx, world.fate);
        let outcome: Outcome = catch_unwind(AssertUnwindSafe(|| {
            ctx.pinned::<u32, _, _>(length, |mut host| {
                if host.iter().any(|&element| element != 0) {
                    return Err(Stop::Wrong("pinned memory is not zero".to_owned()));
                }
                host.copy_from_slice(&pattern(self.next_number(), length));
                let fits =
                    |contents: &Contents| contents.height == 1 && contents.width == length && length > 0;
                let found = (0..world.arrays()).find(|&index| fits(world.contents(index)));
                if let Some(index) = found {
                    let mut visible = visible!(world, outer, own);
                    let part = Part { x: 0, y: 0, width: length, height: 1 };
                    let answer = writing!(&mut visible[index], part, |view| view.copy_from_host(&host));
                    let done = self.judge_wait("the upload", answer, fate)?;
                    self.written(world, index, part, &host, done.is_some());
                }
                self.block(world, queue, outer, own, body)
            })
        }));
        // Closing it waits for nothing.
        self.ended("the pinned memory", outcome, &[], false)
    }

    fn streams<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        outer: &mut [Any<'_, 'ctx>],
        own: &mut [Linear<'_, 'ctx, u32>],
        count: u8,
        body: &[Op],
    ) -> Result<(), Stop> {
        let ctx = world.ctx;
        let first = self.fates.len();
        let mut memory = vec![Vec::new(); transfers(body)];
        let called = Mutex::new(Vec::new());
        self.landings.push(Landings::default());
        let outcome: Outcome = catch_unwind(AssertUnwindSafe(|| {
            let memory = memory.iter_mut().enumerate();
            ctx.streams(|scope| {
                let mut streams = Vec::new();
                for _ in 0..count {
                    let stream = scope.stream();
                    streams.extend(self.judge("a stream", stream, &[])?);
                }
                self.fates.extend(streams.iter().map(|_| Fate::None));
                if let Some(landings) = self.landings.last_mut() {
                    landings.calls.resize(streams.len(), Vec::new());
                }
                let queue = Queue { streams, fate: first, memory, called: &called };
                self.block(world, &mut Some(queue), outer, own, body)
            })
        }));
        let fates: Vec<usize> = (first..self.fates.len()).collect();
        let ended = self.ended("the scope of streams", outcome, &fates, true);
        self.fates.truncate(first);
        let landings = self.landings.pop().unwrap_or_default();
        if matches!(ended, Err(Stop::Wrong(_))) {
            return ended;
        }
        for (number, expected) in &landings.expected {
            if memory[*number] != *expected {
                return Err(Stop::Wrong(format!("queued copy {number} brought something else")));
            }
        }
        let called = called.into_inner().unwrap_or_default();
        for (position, expected) in landings.calls.iter().enumerate() {
            let of_this = called.iter().filter(|(stream, _)| *stream == position);
            if !of_this.map(|(_, number)| number).eq(expected) {
                return Err(Stop::Wrong(format!("stream {position} called {called:?}, not {expected:?}")));
            }
        }
        ended
    }
}

/// Host memory that the queued copies of these operations may need.
fn transfers(ops: &[Op]) -> usize {
    ops.iter()
        .map(|op| {
            let own = matches!(op.verb, Verb::FromHost { .. } | Verb::ToHost { .. });
            usize::from(own) + transfers(&op.body)
        })
        .sum()
}
