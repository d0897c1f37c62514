//! A leaked buffer lives as long as its context, not for ever.

use scoped_gpu::{Buffer, Device};

fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    device.scope(|ctx| {
        let leaked: &'static mut Buffer<'static, u8> = Box::leak(Box::new(ctx.buffer(4)?));
        leaked.fill(1)
    })?;
    Ok(())
}
