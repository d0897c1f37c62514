//! A kernel is given scalars of the declared width.

use scoped_gpu::{Device, Launch, ReadWrite};

const PTX: &str = include_str!("../../ptx/scale.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let scale = ctx.module(PTX)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        let mut x = ctx.buffer::<f32>(4)?;
        x.fill(3.0)?;
        ctx.launch(&scale, Launch::cover(4), (&mut x, 2.0f32, 4u32))?;
        assert_eq!(x.to_vec()?, [6.0; 4]);
        scoped_gpu::ok(())
    })
}
