//! It is copied to an array first.

use scoped_gpu::{Device, Launch, ReadWrite, linear};

const PTX: &str = include_str!("../../ptx/scale.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    let mut host = [0.0f32; 4];
    Device::host().scope(|ctx| {
        let scale = ctx.module(PTX)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        ctx.alloc((linear(&[2.0f32; 4]),), |(mut x,)| {
            ctx.launch(&scale, Launch::cover(4), (&mut x, 4.0, 4))?;
            x.copy_to_host(&mut host)
        })
    })?;
    assert_eq!(host, [8.0; 4]);
    Ok(())
}
