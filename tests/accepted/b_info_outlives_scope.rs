//! The device itself lends its description for longer.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    let info = device.info();
    let same = device.scope(|ctx| scoped_gpu::ok(ctx.info() == info))?;
    assert!(same);
    assert_eq!(info.id, "host");
    Ok(())
}
