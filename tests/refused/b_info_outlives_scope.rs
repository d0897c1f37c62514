//! A borrow of the device's description through a context cannot outlive the context.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    let info = device.scope(|ctx| scoped_gpu::ok(ctx.info()))?;
    assert_eq!(info.id, "host");
    Ok(())
}
