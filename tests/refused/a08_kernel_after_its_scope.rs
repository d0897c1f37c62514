//! A kernel cannot be used after its scope.

use scoped_gpu::{Device, Launch, ReadWrite};

const PTX: &str = include_str!("../../ptx/scale.ptx");

fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    let scale = device.scope(|ctx| ctx.module(PTX)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale"))?;
    device.scope(|ctx| {
        let mut x = ctx.buffer::<f32>(4)?;
        x.fill(2.0)?;
        ctx.launch(&scale, Launch::cover(4), (&mut x, 4.0, 4))?;
        assert_eq!(x.to_vec()?, [8.0; 4]);
        scoped_gpu::ok(())
    })
}
