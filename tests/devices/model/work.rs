//! Launches, and the order of streams: functions of the host, waits, events.

use scoped_gpu::{Launch, Linear, Stream};

use super::arrays::{Any, modulo, shapes, target, visible};
use super::machine::{Machine, Queue, Stop, World};
use super::program::Verb;
use super::state::{Fate, Mistake, Part};

impl Machine<'_> {
    /// A launch.
    pub fn launch<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        queue: &mut Option<Queue<'_, '_, 'ctx>>,
        outer: &mut [Any<'_, 'ctx>],
        own: &mut [Linear<'_, 'ctx, u32>],
        verb: &Verb,
    ) -> Result<(), Stop> {
        match *verb {
            Verb::MultiplyAdd { to, from, piece, factor, on } => {
                let (Some(to), Some(from)) = (modulo(to, world.arrays()), modulo(from, world.arrays()))
                else {
                    return Ok(());
                };
                let Some(kernel) = world.multiply_add.clone() else { return Ok(()) };
                let ctx = world.ctx;
                let (stream, _) = target(world, queue, on);
                let (source, part) = shapes(world, to, from, piece);
                let (launch, n) = (Launch::cover(part.width), part.width as u32);
                let mut visible = visible!(world, outer, own);
                let (x, y) = if to != from {
                    let Ok([Any::Linear(y), Any::Linear(x)]) = visible.get_disjoint_mut([to, from]) else {
                        return Ok(());
                    };
                    (x.slice(source.x..source.x + source.width), y.slice_mut(part.x..part.x + part.width))
                } else {
                    let Any::Linear(view) = &mut visible[to] else { return Ok(()) };
                    let (x, y) = view.split_at_mut(part.x);
                    let arguments = (factor, x.slice(..n as usize), y, n);
                    let answer = match stream {
                        Some(stream) => stream.launch(&kernel, launch, arguments),
                        None => ctx.launch(&kernel, launch, arguments),
                    };
                    return self.multiplied(world, answer, (to, part), (from, source), factor);
                };
                let answer = match stream {
                    Some(stream) => stream.launch(&kernel, launch, (factor, x, y, n)),
                    None => ctx.launch(&kernel, launch, (factor, x, y, n)),
                };
                self.multiplied(world, answer, (to, part), (from, source), factor)?;
            }
            Verb::Poke { to, index, value, on, beyond } => {
                let Some(to) = modulo(to, world.arrays()) else { return Ok(()) };
                let Some(kernel) = world.poke.clone() else { return Ok(()) };
                let ctx = world.ctx;
                let (stream, fate) = target(world, queue, on);
                // Where it is open whether an earlier fault is still kept, it is open too whether this one would be.
                let beyond = beyond && !matches!(self.fates[fate], Fate::Perhaps(_));
                let mut visible = visible!(world, outer, own);
                let Any::Linear(view) = &mut visible[to] else { return Ok(()) };
                let Some(index) = modulo(index, view.len()) else { return Ok(()) };
                let index = if beyond { view.len() + self.next_number() as usize } else { index };
                let (offset, launch) = (4 * index as u64, Launch::grid(1, 1));
                let answer = match stream {
                    Some(stream) => stream.launch(&kernel, launch, (view.view_mut(), offset, value)),
                    None => ctx.launch(&kernel, launch, (view.view_mut(), offset, value)),
                };
                let done = self.judge("the launch", answer, &[])?.is_some();
                let contents = world.contents(to);
                if !beyond {
                    let part = Part { x: index, y: 0, width: 1, height: 1 };
                    self.written(world, to, part, &[value], done);
                } else if done {
                    self.faults += 1;
                    let first = self.fates[fate] == Fate::None;
                    if first {
                        self.fates[fate] = Fate::Due(offset);
                    }
                    if first || self.failing {
                        self.untold.insert(offset);
                    }
                    if self.mistake == Some(Mistake::FaultWrites) {
                        contents.elements[contents.width - 1] = value;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An operation on streams and events alone.
    pub fn order<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        queue: &mut Option<Queue<'_, '_, 'ctx>>,
        verb: &Verb,
    ) -> Result<(), Stop> {
        match *verb {
            Verb::Call { on } => {
                let number = self.next_number();
                let (Some(queue), Some(on)) = (queue, on) else { return Ok(()) };
                if queue.streams.is_empty() {
                    return Ok(());
                }
                let (position, called) = (queue.position(on), queue.called);
                let answer = queue.streams[position].call(move || {
                    called.lock().unwrap_or_else(|broken| broken.into_inner()).push((position, number));
                });
                if self.judge("the call", answer, &[])?.is_some()
                    && let Some(landings) = self.landings.last_mut()
                {
                    landings.calls[position].push(number);
                }
            }
            Verb::Synchronize { on } => {
                let (stream, fate) = target(world, queue, on);
                let answer = match stream {
                    Some(stream) => stream.synchronize(),
                    None => world.ctx.synchronize(),
                };
                self.judge_wait("synchronize", answer, fate)?;
            }
            Verb::Record { on } => {
                let answer = target(world, queue, on).0.map(Stream::record);
                if let Some(answer) = answer {
                    world.events.extend(self.judge("an event", answer, &[])?);
                }
            }
            Verb::WaitFor { event, on } => {
                let answer = modulo(event, world.events.len()).and_then(|at| {
                    target(world, queue, on).0.map(|stream| stream.wait_for(&world.events[at]))
                });
                if let Some(answer) = answer {
                    self.judge("the wait for an event", answer, &[])?;
                }
            }
            Verb::WaitEvent { event } => {
                if let Some(at) = modulo(event, world.events.len()) {
                    let event = &world.events[at];
                    let (waited, done) = (event.wait(), event.is_done());
                    self.judge("the wait for an event", waited, &[])?;
                    if self.judge("the event", done, &[])? == Some(false) {
                        return Err(Stop::Wrong("an event that was waited for is not done".to_owned()));
                    }
                }
            }
            Verb::DropEvent { event } => {
                if let Some(at) = modulo(event, world.events.len()) {
                    drop(world.events.swap_remove(at));
                }
            }
            Verb::ForgetEvent { event } => {
                if let Some(at) = modulo(event, world.events.len()) {
                    std::mem::forget(world.events.swap_remove(at));
                    self.forgotten += 1;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes what a launch of `multiply_add` did.
    fn multiplied(
        &mut self,
        world: &mut World<'_>,
        answer: Result<(), scoped_gpu::Error>,
        (to, part): (usize, Part),
        (from, source): (usize, Part),
        factor: u32,
    ) -> Result<(), Stop> {
        let done = self.judge("the launch", answer, &[])?;
        let (known, x) = (world.contents(from).known, world.contents(from).get(source));
        let y = world.contents(to);
        let known = (known && y.known) || x.is_empty();
        let sums: Vec<u32> =
            x.iter().zip(y.get(part)).map(|(x, y)| factor.wrapping_mul(*x).wrapping_add(y)).collect();
        // The array's own old elements went into it.
        let known_before = y.known;
        self.written(world, to, part, &sums, done.is_some());
        let y = world.contents(to);
        y.known = y.known && known && known_before;
        Ok(())
    }
}
