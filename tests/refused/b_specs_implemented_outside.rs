//! Outsiders cannot implement several specs at once either.

use scoped_gpu::{Device, Linear, Specs};

struct Stolen;

impl Specs for Stolen {
    type Out<'s, 'ctx> = Linear<'s, 'ctx, f32>;
}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| ctx.alloc(Stolen, |x| scoped_gpu::ok(assert_eq!(x.len(), 0))))
}
