//! A device can be reset when its events are gone.

use scoped_gpu::{Device, Reset};

pub fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let mut buffer = ctx.buffer::<u8>(16)?;
        let event = ctx.streams(|s| {
            let stream = s.stream()?;
            stream.fill(&mut buffer, 1)?;
            stream.record()
        })?;
        event.wait()?;
        assert!(event.is_done()?);
        scoped_gpu::ok(())
    })?;
    assert_eq!(device.reset()?, Reset::Recovered);
    Ok(())
}
