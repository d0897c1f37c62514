//! A buffer can be stored in a variable of its context's closure, and its values in an older one.

use scoped_gpu::{Buffer, Device};

pub fn main() -> scoped_gpu::Result<()> {
    let mut values = Vec::new();
    Device::with(|ctx| {
        let kept: Option<Buffer<f32>> = Some(ctx.buffer(3)?);
        if let Some(mut buffer) = kept {
            buffer.fill(2.0)?;
            values = buffer.to_vec()?;
        }
        scoped_gpu::ok(())
    })?;
    assert_eq!(values, [2.0; 3]);
    Ok(())
}
