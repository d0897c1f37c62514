//! A number computed from an array can be returned through both closures.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    let len = Device::with(|ctx| ctx.alloc_linear(3, |array: Linear<f32>| scoped_gpu::ok(array.len())))?;
    assert_eq!(len, 3);
    Ok(())
}
