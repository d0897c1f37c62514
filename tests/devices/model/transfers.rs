//! Fills and copies, queued and blocking, and what the model makes of them.

use scoped_gpu::{Linear, Rect};

use super::arrays::{Any, modulo, pattern, reading, shapes, target, visible, writing};
use super::machine::{Machine, Queue, Stop, World};
use super::program::Verb;
use super::state::{Mistake, Part};

impl Machine<'_> {
    /// A fill, copy or reading.
    pub fn transfer<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        queue: &mut Option<Queue<'_, '_, 'ctx>>,
        outer: &mut [Any<'_, 'ctx>],
        own: &mut [Linear<'_, 'ctx, u32>],
        verb: &Verb,
    ) -> Result<(), Stop> {
        match *verb {
            Verb::Fill { to, piece, value, on } => {
                let Some(index) = modulo(to, world.arrays()) else { return Ok(()) };
                let part = world.contents(index).part(piece);
                let (stream, _) = target(world, queue, on);
                let mut visible = visible!(world, outer, own);
                let answer = writing!(&mut visible[index], part, |view| match stream {
                    Some(stream) => stream.fill(&mut view, value),
                    None => view.fill(value),
                });
                let done = self.judge("the fill", answer, &[])?;
                self.written(world, index, part, &vec![value; part.width * part.height], done.is_some());
                if self.mistake == Some(Mistake::FillsOneMore) {
                    let contents = world.contents(index);
                    if part.height > 0 && part.x + part.width < contents.width {
                        contents.elements[part.y * contents.width + part.x + part.width] = value;
                    }
                }
            }
            Verb::Copy { to, from, piece, on } => {
                let (Some(to), Some(from)) = (modulo(to, world.arrays()), modulo(from, world.arrays()))
                else {
                    return Ok(());
                };
                let (stream, _) = target(world, queue, on);
                let (source, part) = shapes(world, to, from, piece);
                let mut visible = visible!(world, outer, own);
                let answer = if to != from {
                    let Ok([to, from]) = visible.get_disjoint_mut([to, from]) else { return Ok(()) };
                    let linear = matches!(to, Any::Linear(_)) || matches!(from, Any::Linear(_));
                    if part.height == 0 && linear {
                        return Ok(());
                    }
                    writing!(to, part, |to| reading!(from, source, |from| match stream {
                        Some(stream) => stream.copy_from(&mut to, &from),
                        None => to.copy_from(&from),
                    }))
                } else if let Any::Linear(view) = &mut visible[to] {
                    let (left, mut right) = view.split_at_mut(part.x);
                    let (from, mut to) = (left.slice(..part.width), right.slice_mut(..part.width));
                    match stream {
                        Some(stream) => stream.copy_from(&mut to, &from),
                        None => to.copy_from(&from),
                    }
                } else {
                    return Ok(());
                };
                let done = self.judge("the copy", answer, &[])?;
                let (known, elements) = (world.contents(from).known, world.contents(from).get(source));
                self.written(world, to, part, &elements, done.is_some());
                world.contents(to).known &= known || elements.is_empty();
            }
            Verb::FromHost { to, piece, value, on } => {
                let Some(index) = modulo(to, world.arrays()) else { return Ok(()) };
                let part = world.contents(index).part(piece);
                let elements = pattern(value, part.width * part.height);
                let memory = queue.as_mut().and_then(|queue| queue.memory.next());
                let (stream, fate) = target(world, queue, on);
                let mut visible = visible!(world, outer, own);
                let done = match (stream, memory) {
                    (Some(stream), Some((_, memory))) => {
                        memory.clone_from(&elements);
                        let answer = writing!(&mut visible[index], part, |view| stream
                            .copy_from_host(&mut view, memory));
                        self.judge("the upload", answer, &[])?
                    }
                    (Some(_), None) => return Err(Stop::Wrong("too little host memory".to_owned())),
                    (None, _) => {
                        let answer =
                            writing!(&mut visible[index], part, |view| view.copy_from_host(&elements));
                        if elements.is_empty() {
                            self.judge("the upload", answer, &[])?
                        } else {
                            self.judge_wait("the upload", answer, fate)?
                        }
                    }
                };
                self.written(world, index, part, &elements, done.is_some());
            }
            Verb::ToHost { from, piece, on, wait } => {
                let Some(index) = modulo(from, world.arrays()) else { return Ok(()) };
                let part = world.contents(index).part(piece);
                let memory = queue.as_mut().and_then(|queue| queue.memory.next());
                let (stream, fate) = target(world, queue, on);
                let contents = world.contents(index);
                let expected = contents.known.then(|| contents.get(part));
                let (Some(stream), Some((number, memory))) = (stream, memory) else {
                    return self.read(world, outer, own, index, part);
                };
                memory.resize(part.width * part.height, 0x1234_5678);
                let visible = visible!(world, outer, own);
                let answer =
                    reading!(&visible[index], part, |view| stream.copy_to_host(&view, memory.as_mut_slice()));
                let Some(pending) = self.judge("the queued copy", answer, &[])? else { return Ok(()) };
                if wait {
                    let answer = pending.wait();
                    if let Some(host) = self.judge_wait("the wait for the copy", answer, fate)? {
                        if expected.is_some_and(|expected| host != expected) {
                            return Err(Stop::Wrong("the copy brought something else".to_owned()));
                        }
                        // It is the program's again: nobody writes it any more.
                        host.fill(0x5a5a_5a5a);
                        self.lands(number, vec![0x5a5a_5a5a; part.width * part.height]);
                        return Ok(());
                    }
                }
                if let Some(expected) = expected {
                    self.lands(number, expected);
                }
            }
            Verb::ReadAll => {
                for index in 0..world.arrays() {
                    let contents = world.contents(index);
                    let part = Part { x: 0, y: 0, width: contents.width, height: contents.height };
                    self.read(world, outer, own, index, part)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes what a call wrote, or, if it failed, that this is unknown. A fault beside it undoes nothing.
    pub fn written(&mut self, world: &mut World<'_>, index: usize, part: Part, elements: &[u32], done: bool) {
        let contents = world.contents(index);
        if done || !self.failing {
            contents.set(part, elements);
        } else {
            contents.known = false;
        }
    }

    /// Reads a part and compares it.
    fn read<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        outer: &mut [Any<'_, 'ctx>],
        own: &mut [Linear<'_, 'ctx, u32>],
        index: usize,
        part: Part,
    ) -> Result<(), Stop> {
        let fate = world.fate;
        let mut host = vec![0x1234_5678; part.width * part.height];
        let visible = visible!(world, outer, own);
        let answer = reading!(&visible[index], part, |view| view.copy_to_host(&mut host));
        let done = if host.is_empty() {
            self.judge("reading", answer, &[])?
        } else {
            self.judge_wait("reading", answer, fate)?
        };
        let contents = world.contents(index);
        if done.is_some() && contents.known && contents.get(part) != host {
            let differs = contents.get(part).iter().zip(&host).position(|(a, b)| a != b);
            return Err(Stop::Wrong(format!(
                "array {index} differs in {part:?} from element {differs:?} on"
            )));
        }
        Ok(())
    }

    /// A queued copy brings this, when the streams have joined.
    fn lands(&mut self, number: usize, expected: Vec<u32>) {
        if let Some(landings) = self.landings.last_mut() {
            landings.expected.push((number, expected));
        }
    }
}
