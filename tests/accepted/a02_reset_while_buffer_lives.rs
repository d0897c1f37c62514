//! A device can be reset when its buffers are gone; the next scope's are new.

use scoped_gpu::{Device, Reset};

pub fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let mut buffer = ctx.buffer::<f32>(100)?;
        buffer.fill(1.0)
    })?;
    assert_eq!(device.reset()?, Reset::Recovered);
    let values = device.scope(|ctx| ctx.buffer::<f32>(100)?.to_vec())?;
    assert_eq!(values, [0.0; 100]);
    assert_eq!(device.memory().live, 0);
    Ok(())
}
