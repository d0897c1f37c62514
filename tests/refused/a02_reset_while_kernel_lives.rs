//! A device cannot be reset while a kernel of it lives.

use scoped_gpu::{Device, Launch, Read, ReadWrite};

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let module = ctx.module(PTX)?;
        let saxpy = module.kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
        device.reset()?;
        let (x, mut y) = (ctx.buffer::<f32>(8)?, ctx.buffer::<f32>(8)?);
        ctx.launch(&saxpy, Launch::cover(8), (2.0, &x, &mut y, 8))
    })
}
