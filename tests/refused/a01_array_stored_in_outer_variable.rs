//! An array cannot be stored in a variable outside the closure of its allocation, also inside the same context.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::with(|ctx| {
        let mut kept: Option<Linear<f32>> = None;
        ctx.alloc_linear(3, |array: Linear<f32>| {
            kept = Some(array);
            scoped_gpu::ok(())
        })?;
        assert!(kept.is_some());
        scoped_gpu::ok(())
    })
}
