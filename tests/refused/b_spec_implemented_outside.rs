//! Outsiders cannot implement a spec: it would make arrays of its own.

use scoped_gpu::{Device, Linear, Spec};

struct Stolen;

impl Spec for Stolen {
    type Array<'s, 'ctx> = Linear<'s, 'ctx, f32>;
}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| ctx.alloc((Stolen,), |(x,)| scoped_gpu::ok(assert_eq!(x.len(), 0))))
}
