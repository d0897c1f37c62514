//! The signature names the elements and how they are used; an array of the device is named at the launch.

use scoped_gpu::{Device, Launch, ReadWrite, linear};

const PTX: &str = include_str!("../../ptx/scale.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let scale = ctx.module(PTX)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        ctx.alloc((linear(&[2.0_f32; 4]),), |(mut x,)| {
            ctx.launch(&scale, Launch::cover(4), (&mut x, 4.0, 4))?;
            assert_eq!(x.to_vec()?, [8.0; 4]);
            scoped_gpu::ok(())
        })
    })
}
