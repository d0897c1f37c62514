//! A length is narrowed before it is given to a kernel that takes a `u32`.

use scoped_gpu::{Device, Launch, ReadWrite};

const PTX: &str = include_str!("../../ptx/scale.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let scale = ctx.module(PTX)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        let mut x = ctx.buffer::<f32>(4)?;
        x.fill(3.0)?;
        let n = x.len();
        ctx.launch(&scale, Launch::cover(n), (&mut x, 2.0, n as u32))?;
        assert_eq!(x.to_vec()?, [6.0; 4]);
        scoped_gpu::ok(())
    })
}
