//! A device cannot be reset while a buffer of it lives.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let mut buffer = ctx.buffer::<f32>(100)?;
        device.reset()?;
        buffer.fill(1.0)
    })
}
