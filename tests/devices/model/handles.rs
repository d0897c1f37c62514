//! Operations on handles: buffers made, dropped, forgotten; arrays swapped; and the ways in which a closure ends early.

use std::panic::resume_unwind;

use scoped_gpu::{ErrorKind, Linear};

use super::arrays::{Any, modulo};
use super::machine::{Machine, Stop, World};
use super::program::Verb;
use super::state::{Contents, Mistake};

impl Machine<'_> {
    /// An operation on handles.
    pub fn handle<'ctx>(
        &mut self,
        world: &mut World<'ctx>,
        outer: &mut [Any<'_, 'ctx>],
        own: &mut [Linear<'_, 'ctx, u32>],
        verb: &Verb,
    ) -> Result<(), Stop> {
        match *verb {
            Verb::Buffer { length } => {
                let answer = world.ctx.buffer::<u32>(usize::from(length));
                if let Some(buffer) = self.judge("a buffer", answer, &[])? {
                    let contents = Contents::linear(buffer.len(), 0);
                    self.allocated(contents.bytes);
                    world.buffers.push(buffer);
                    world.shadows.push(contents);
                }
            }
            Verb::Drop { buffer } => {
                if let Some(at) = modulo(buffer, world.buffers.len()) {
                    drop(world.buffers.swap_remove(at));
                    let bytes = world.shadows.swap_remove(at).bytes;
                    if self.mistake != Some(Mistake::DropKeeps) {
                        self.freed(bytes);
                    }
                }
            }
            Verb::Forget { buffer } => {
                if let Some(at) = modulo(buffer, world.buffers.len()) {
                    std::mem::forget(world.buffers.swap_remove(at));
                    let bytes = world.shadows.swap_remove(at).bytes;
                    self.forgotten += u64::from(bytes > 0);
                    if self.mistake == Some(Mistake::ForgetFrees) {
                        self.freed(bytes);
                    }
                }
            }
            Verb::SwapBuffers(one, other) => {
                let count = world.buffers.len();
                if let (Some(one), Some(other)) = (modulo(one, count), modulo(other, count)) {
                    if let Ok([a, b]) = world.buffers.get_disjoint_mut([one, other]) {
                        std::mem::swap(a, b);
                    }
                    self.swapped(&mut world.shadows, one, other);
                }
            }
            Verb::SwapArrays(one, other) => {
                if let (Some(one), Some(other)) = (modulo(one, own.len()), modulo(other, own.len())) {
                    if let Ok([a, b]) = own.get_disjoint_mut([one, other]) {
                        std::mem::swap(a, b);
                    }
                    self.swapped(&mut world.frames, outer.len() + one, outer.len() + other);
                }
            }
            Verb::TooLarge => {
                let length = (self.device.info().memory / 4 + 1) as usize;
                match world.ctx.buffer::<u32>(length) {
                    Err(error) if matches!(error.kind(), ErrorKind::OutOfMemory { .. }) => {}
                    answer => {
                        if self.judge("a buffer", answer, &[])?.is_some() {
                            return Err(Stop::Wrong("more memory than there is".to_owned()));
                        }
                    }
                }
            }
            Verb::Module => {
                let answer = world.ctx.module(include_str!("../kernels/model.ptx"));
                self.judge("a module", answer, &[])?;
            }
            Verb::Fail => {
                let number = self.next_number();
                self.thrown = Some(number);
                return Err(Stop::Mine(number));
            }
            Verb::Panic => {
                let number = self.next_number();
                self.thrown = Some(number);
                // without the panic hook, which would print a message about a panic that is wanted
                resume_unwind(Box::new(number));
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes that two handles were swapped.
    fn swapped(&self, contents: &mut [Contents], one: usize, other: usize) {
        let alike = contents[one].width == contents[other].width;
        if !(alike && self.mistake == Some(Mistake::SwapIgnored)) {
            contents.swap(one, other);
        }
    }
}
