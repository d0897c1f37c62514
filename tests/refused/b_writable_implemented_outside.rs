//! Outsiders cannot make a shared view writable, also not for an element type of their own.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Device, Element, Linear, Readable, View, Writable};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Word([u8; 4]);

impl Element for Word {}

impl<'ctx> Readable<'ctx, Word> for View<'_, 'ctx, f32> {}
impl<'ctx> Writable<'ctx, Word> for View<'_, 'ctx, f32> {}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(4, |x: Linear<f32>| {
            let shared = x.view();
            ctx.streams(|s| s.stream()?.fill(&mut x.view(), Word([1; 4])))?;
            assert_eq!(shared.to_vec()?, [0.0; 4]);
            scoped_gpu::ok(())
        })
    })
}
