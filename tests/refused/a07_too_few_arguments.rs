//! A kernel of three parameters is not given two arguments.

use scoped_gpu::{Device, Launch, ReadWrite};

const PTX: &str = include_str!("../../ptx/scale.ptx");

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let scale = ctx.module(PTX)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        let mut x = ctx.buffer::<f32>(4)?;
        x.fill(2.0)?;
        ctx.launch(&scale, Launch::cover(4), (&mut x, 0.5))?;
        assert_eq!(x.to_vec()?, [1.0; 4]);
        scoped_gpu::ok(())
    })
}
