//! A device can be reset when its arrays are gone.

use scoped_gpu::{Device, Linear, Reset};

pub fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| ctx.alloc_linear(100, |mut array: Linear<f32>| array.fill(1.0)))?;
    assert_eq!(device.reset()?, Reset::Recovered);
    let statistics = device.memory();
    assert_eq!((statistics.allocated, statistics.freed, statistics.live), (1, 1, 0));
    Ok(())
}
