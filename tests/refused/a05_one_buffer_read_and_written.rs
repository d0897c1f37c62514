//! A view of a buffer and the buffer itself cannot be read and written by one launch.

use scoped_gpu::{Device, Launch, Read, ReadWrite};

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let saxpy = ctx.module(PTX)?.kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
        let mut x = ctx.buffer::<f32>(16)?;
        ctx.launch(&saxpy, Launch::cover(8), (2.0, x.slice(..8), x.slice_mut(8..), 8))?;
        scoped_gpu::ok(())
    })
}
