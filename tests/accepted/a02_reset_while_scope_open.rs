//! A device can be reset between two scopes.

use scoped_gpu::{Device, Reset};

pub fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| ctx.synchronize())?;
    assert_eq!(device.reset()?, Reset::Recovered);
    device.scope(|ctx| ctx.synchronize())
}
