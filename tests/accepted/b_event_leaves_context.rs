//! The time between two events can.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let milliseconds = Device::host().scope(|ctx| {
        ctx.streams(|s| {
            let stream = s.stream()?;
            let (start, end) = (stream.record()?, stream.record()?);
            start.elapsed_ms(&end)
        })
    })?;
    assert!(milliseconds >= 0.0);
    Ok(())
}
