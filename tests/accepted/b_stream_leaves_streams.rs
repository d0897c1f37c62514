//! An event can leave the scope of its stream, within the context.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let event = ctx.streams(|s| s.stream()?.record())?;
        assert!(event.is_done()?);
        scoped_gpu::ok(())
    })
}
