//! A buffer may be forgotten: its context frees it.

use scoped_gpu::{Buffer, Device};

pub fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    device.scope(|ctx| {
        let leaked: &mut Buffer<u8> = Box::leak(Box::new(ctx.buffer(4)?));
        leaked.fill(1)
    })?;
    let statistics = device.memory();
    assert_eq!((statistics.live, statistics.allocated, statistics.freed), (0, 1, 1));
    Ok(())
}
