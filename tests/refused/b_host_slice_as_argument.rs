//! A host slice is no argument of a launch.

use scoped_gpu::{Device, Launch, ReadWrite};

const PTX: &str = include_str!("../../ptx/scale.ptx");

fn main() -> scoped_gpu::Result<()> {
    let mut host = [2.0f32; 4];
    Device::host().scope(|ctx| {
        let scale = ctx.module(PTX)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        ctx.launch(&scale, Launch::cover(4), (&mut host[..], 4.0, 4))?;
        scoped_gpu::ok(())
    })?;
    assert_eq!(host, [8.0; 4]);
    Ok(())
}
