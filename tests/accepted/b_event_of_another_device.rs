//! A stream waits for an event of another stream of its context.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.streams(|s| {
            let (first, second) = (s.stream()?, s.stream()?);
            let event = first.record()?;
            second.wait_for(&event)?;
            second.synchronize()?;
            assert!(event.is_done()?);
            scoped_gpu::ok(())
        })
    })
}
