//! A device cannot be dropped while a scope of it is open.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    device.scope(|ctx| {
        drop(device);
        ctx.synchronize()
    })
}
