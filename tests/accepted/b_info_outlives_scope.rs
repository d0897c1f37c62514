//! The device itself lends its description for longer.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    let info = device.info();
    device.scope(|ctx| scoped_gpu::ok(assert_eq!(ctx.info(), info)))?;
    assert_eq!(info.id, "host");
    Ok(())
}
