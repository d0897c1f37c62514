//! A function that takes a context and a buffer of it is not given a buffer of another device.

use scoped_gpu::{Buffer, Context, Device, Result};

fn double<'ctx>(ctx: &Context<'ctx>, x: &Buffer<'ctx, f32>) -> Result<Vec<f32>> {
    let mut twice = ctx.buffer(x.len())?;
    twice.copy_from(x)?;
    Ok(twice.to_vec()?.into_iter().map(|x: f32| 2.0 * x).collect())
}

fn main() -> Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        b.scope(|of_b| {
            let mut x = of_a.buffer::<f32>(4)?;
            x.fill(1.5)?;
            double(of_b, &x)?;
            scoped_gpu::ok(())
        })
    })
}
