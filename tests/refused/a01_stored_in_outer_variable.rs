//! A buffer cannot be stored in a variable that is older than its context.

use scoped_gpu::{Buffer, Device};

fn main() -> scoped_gpu::Result<()> {
    let mut kept: Option<Buffer<f32>> = None;
    Device::with(|ctx| {
        kept = Some(ctx.buffer(3)?);
        scoped_gpu::ok(())
    })?;
    assert!(kept.is_some());
    Ok(())
}
