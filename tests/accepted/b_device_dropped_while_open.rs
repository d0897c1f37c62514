//! A device can be dropped after its scopes.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    let count = device.scope(|ctx| scoped_gpu::ok(ctx.buffer::<u8>(1)?.len()))?;
    drop(device);
    assert_eq!(count, 1);
    Ok(())
}
