//! The scope of streams itself cannot be kept.

use scoped_gpu::{Device, Streams};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let mut kept: Option<&Streams> = None;
        ctx.streams(|s| {
            kept = Some(s);
            scoped_gpu::ok(())
        })?;
        kept.map_or(Ok(()), |s| s.stream()?.synchronize())
    })
}
