//! Each device loads the module for itself.

use scoped_gpu::{Context, Device, Launch, Read, Result, Write};

const PTX: &str = include_str!("../../ptx/add.ptx");

fn doubled(ctx: &Context<'_>, value: f32) -> Result<Vec<f32>> {
    let add = ctx.module(PTX)?.kernel::<(Read<f32>, Read<f32>, Write<f32>, u32)>("add")?;
    let (mut x, mut y) = (ctx.buffer::<f32>(4)?, ctx.buffer::<f32>(4)?);
    x.fill(value)?;
    ctx.launch(&add, Launch::cover(4), (&x, &x, &mut y, 4))?;
    y.to_vec()
}

pub fn main() -> Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        b.scope(|of_b| {
            assert_eq!(doubled(of_a, 1.0)?, [2.0; 4]);
            assert_eq!(doubled(of_b, 2.0)?, [4.0; 4]);
            scoped_gpu::ok(())
        })
    })
}
