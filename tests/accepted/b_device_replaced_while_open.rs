//! A device can be replaced after its scopes.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let buffer = ctx.buffer::<u8>(4)?;
        buffer.to_vec()
    })?;
    assert_eq!(device.memory().allocated, 1);
    device = Device::host();
    assert_eq!(device.memory().allocated, 0);
    Ok(())
}
