//! What a context says of its device can be returned as owned values.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let memory = Device::host().scope(|ctx| ctx.memory_info())?;
    assert!(memory.free <= memory.total);
    Ok(())
}
