//! A device can be reset when its streams have joined.

use scoped_gpu::{Device, Reset};

pub fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let mut buffer = ctx.buffer::<u8>(16)?;
        ctx.streams(|s| {
            let stream = s.stream()?;
            stream.fill(&mut buffer, 9)
        })?;
        assert_eq!(buffer.to_vec()?, [9; 16]);
        scoped_gpu::ok(())
    })?;
    assert_eq!(device.reset()?, Reset::Recovered);
    Ok(())
}
