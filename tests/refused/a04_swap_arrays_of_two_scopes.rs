//! Arrays of two allocation scopes cannot be swapped: the outer handle would be left with the inner memory.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut outer: Linear<f32>| {
            ctx.alloc_linear(2, |mut inner: Linear<f32>| {
                std::mem::swap(&mut outer, &mut inner);
                scoped_gpu::ok(())
            })?;
            assert_eq!(outer.to_vec()?, [0.0; 2]);
            scoped_gpu::ok(())
        })
    })
}
