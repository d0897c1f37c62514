//! A device cannot be reset while a scope of it is open.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        device.reset()?;
        ctx.synchronize()
    })
}
