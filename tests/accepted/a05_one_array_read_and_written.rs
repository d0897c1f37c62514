//! Two arrays can be `Read` and `ReadWrite` of a launch.

use scoped_gpu::{Device, Launch, Read, ReadWrite, filled};

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let saxpy = ctx.module(PTX)?.kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
        ctx.alloc((filled(8, 1.0f32), filled(8, 0.5f32)), |(x, mut y)| {
            ctx.launch(&saxpy, Launch::cover(8), (2.0, &x, &mut y, 8))?;
            assert_eq!(y.to_vec()?, [2.5; 8]);
            scoped_gpu::ok(())
        })
    })
}
