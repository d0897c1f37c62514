//! An array cannot be returned from `with`, through the closure of its allocation.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    let array = Device::with(|ctx| ctx.alloc_linear(3, |array: Linear<f32>| scoped_gpu::ok(array)))?;
    assert_eq!(array.len(), 3);
    Ok(())
}
