//! Arrays of `alloc_each` cannot be swapped with an outer array.

use scoped_gpu::{Device, Linear, zeros};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut outer: Linear<f32>| {
            ctx.alloc_each((0..3).map(|_| zeros::<f32>(2)), |mut arrays| {
                std::mem::swap(&mut outer, &mut arrays[1]);
                scoped_gpu::ok(())
            })?;
            assert_eq!(outer.to_vec()?, [0.0; 2]);
            scoped_gpu::ok(())
        })
    })
}
