//! Arrays of any origin under one type, so that each operation can use them all; streams and host memory likewise.

use scoped_gpu::{PitchedViewMut, Stream, ViewMut};

use super::machine::{Queue, World};
use super::program::{On, Piece};
use super::state::{Contents, Part};

/// An array that an operation can use, of whichever allocation or buffer.
pub enum Any<'a, 'ctx> {
    Linear(ViewMut<'a, 'ctx, u32>),
    Pitched(PitchedViewMut<'a, 'ctx, u32>),
}

impl<'ctx> Any<'_, 'ctx> {
    pub fn again(&mut self) -> Any<'_, 'ctx> {
        match self {
            Self::Linear(view) => Any::Linear(view.view_mut()),
            Self::Pitched(view) => Any::Pitched(view.view_mut()),
        }
    }
}

/// Evaluates an expression with a part of an array as a mutable view of its own type.
macro_rules! writing {
    ($any:expr, $part:expr, |$view:ident| $body:expr) => {{
        let part: Part = $part;
        match $any {
            Any::Linear(view) => {
                let mut $view = view.slice_mut(part.x..part.x + part.width);
                $body
            }
            Any::Pitched(view) => {
                let mut $view = view.rect_mut(Rect::new(part.x, part.y, part.width, part.height));
                $body
            }
        }
    }};
}

/// The same for reading.
macro_rules! reading {
    ($any:expr, $part:expr, |$view:ident| $body:expr) => {{
        let part: Part = $part;
        match $any {
            Any::Linear(view) => {
                let $view = view.slice(part.x..part.x + part.width);
                $body
            }
            Any::Pitched(view) => {
                let $view = view.rect(Rect::new(part.x, part.y, part.width, part.height));
                $body
            }
        }
    }};
}

/// All arrays, in the order of [`World::frames`] and then [`World::shadows`].
macro_rules! visible {
    ($world:expr, $outer:expr, $own:expr) => {{
        let outer = $outer.iter_mut().map(Any::again);
        let own = $own.iter_mut().map(|array| Any::Linear(array.view_mut()));
        let buffers = $world.buffers.iter_mut().map(|buffer| Any::Linear(buffer.view_mut()));
        outer.chain(own).chain(buffers).collect::<Vec<Any<'_, '_>>>()
    }};
}

/// `number` modulo `count`; `None` if there is none.
pub fn modulo(number: u8, count: usize) -> Option<usize> {
    usize::from(number).checked_rem(count)
}

impl<'ctx> World<'ctx> {
    pub fn contents(&mut self, index: usize) -> &mut Contents {
        let frames = self.frames.len();
        if index < frames { &mut self.frames[index] } else { &mut self.shadows[index - frames] }
    }

    pub fn arrays(&self) -> usize {
        self.frames.len() + self.shadows.len()
    }
}

impl Queue<'_, '_, '_> {
    /// Position among the streams of what `on` means.
    pub fn position(&self, on: u8) -> usize {
        usize::from(on) % self.streams.len()
    }
}

/// The stream that `on` means, and the position of its fate; the context's own where there is none.
pub fn target<'q, 'scope, 'env, 'ctx>(
    world: &World<'ctx>,
    queue: &'q Option<Queue<'scope, 'env, 'ctx>>,
    on: On,
) -> (Option<&'q Stream<'scope, 'env, 'ctx>>, usize) {
    match (queue, on) {
        (Some(queue), Some(on)) if !queue.streams.is_empty() => {
            let position = queue.position(on);
            (Some(&queue.streams[position]), queue.fate + position)
        }
        _ => (None, world.fate),
    }
}

/// What an upload brings: different in each element.
pub fn pattern(value: u32, length: usize) -> Vec<u32> {
    (0..length as u32).map(|i| value.wrapping_add(i.wrapping_mul(0x9e37_79b9))).collect()
}

/// The parts of a copy between two arrays, source first; within one array from its first half to its second.
pub fn shapes(world: &mut World<'_>, to: usize, from: usize, piece: Piece) -> (Part, Part) {
    let source = world.contents(from).clone();
    if to == from {
        let (middle, width) = (source.width / 2, usize::from(piece.0) % (source.width / 2 + 1));
        let part = Part { x: 0, y: 0, width, height: 1.min(source.height) };
        return (part, Part { x: middle, ..part });
    }
    let part = world.contents(to).shared_part(&source, piece);
    let (x, y) = source.start_in(part, Piece(piece.0, piece.1, piece.3, piece.2));
    (Part { x, y, ..part }, part)
}

pub(super) use {reading, visible, writing};
