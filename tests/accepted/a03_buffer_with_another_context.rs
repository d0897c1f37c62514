//! A function that takes a context and a buffer of it is given both from one device.

use scoped_gpu::{Buffer, Context, Device, Result};

fn double<'ctx>(ctx: &Context<'ctx>, x: &Buffer<'ctx, f32>) -> Result<Vec<f32>> {
    let mut twice = ctx.buffer(x.len())?;
    twice.copy_from(x)?;
    Ok(twice.to_vec()?.into_iter().map(|x: f32| 2.0 * x).collect())
}

pub fn main() -> Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        b.scope(|of_b| {
            let mut x = of_a.buffer::<f32>(4)?;
            x.fill(1.5)?;
            let mut y = of_b.buffer::<f32>(4)?;
            y.fill(2.5)?;
            assert_eq!(double(of_a, &x)?, [3.0; 4]);
            assert_eq!(double(of_b, &y)?, [5.0; 4]);
            scoped_gpu::ok(())
        })
    })
}
