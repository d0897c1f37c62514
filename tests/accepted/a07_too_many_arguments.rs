//! A kernel of three parameters is given three arguments, also fewer elements than the array has.

use scoped_gpu::{Device, Launch, ReadWrite};

const PTX: &str = include_str!("../../ptx/scale.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let scale = ctx.module(PTX)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        let mut x = ctx.buffer::<f32>(4)?;
        x.fill(2.0)?;
        ctx.launch(&scale, Launch::cover(4), (&mut x, 0.5, 3))?;
        assert_eq!(x.to_vec()?, [1.0, 1.0, 1.0, 2.0]);
        scoped_gpu::ok(())
    })
}
