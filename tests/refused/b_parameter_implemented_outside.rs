//! Outsiders cannot make a parameter of anything but a scalar.

use scoped_gpu::{Device, Parameter};

struct Texture;

impl Parameter for Texture {}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| scoped_gpu::ok(drop(ctx.module("")?.kernel::<(Texture,)>("k"))))
}
