//! A device cannot be reset while an array of it lives.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        ctx.alloc_linear(100, |mut array: Linear<f32>| {
            device.reset()?;
            array.fill(1.0)
        })
    })
}
