//! One array cannot be both `Read` and `ReadWrite` of a launch.

use scoped_gpu::{Device, Launch, Linear, Read, ReadWrite};

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let saxpy = ctx.module(PTX)?.kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
        ctx.alloc_linear(8, |mut x: Linear<f32>| ctx.launch(&saxpy, Launch::cover(8), (2.0, &x, &mut x, 8)))
    })
}
