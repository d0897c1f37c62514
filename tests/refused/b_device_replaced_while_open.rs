//! A device cannot be replaced while a scope of it is open.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let buffer = ctx.buffer::<u8>(4)?;
        device = Device::host();
        buffer.to_vec()
    })?;
    Ok(())
}
