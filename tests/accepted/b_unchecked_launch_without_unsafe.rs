//! The caller vouches for it in an `unsafe` block.

use scoped_gpu::{Device, Launch, ReadWrite};

const PTX: &str = include_str!("../../ptx/scale.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let scale = ctx.module(PTX)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        let mut x = ctx.buffer::<f32>(4)?;
        x.fill(2.0)?;
        // SAFETY: `scale` touches the first 4 elements of `x`, which has 4.
        unsafe { ctx.launch_unchecked(&scale, Launch::cover(4), (&mut x, 4.0, 4))? };
        assert_eq!(x.to_vec()?, [8.0; 4]);
        scoped_gpu::ok(())
    })
}
