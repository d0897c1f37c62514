//! Host memory cannot be moved while a queued copy reads it.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    let host = vec![1.0f32, 2.0, 3.0];
    Device::host().scope(|ctx| {
        ctx.alloc_linear(3, |mut x: Linear<f32>| {
            let moved = ctx.streams(|s| {
                let stream = s.stream()?;
                stream.copy_from_host(&mut x, &host)?;
                let moved = host;
                stream.synchronize()?;
                scoped_gpu::ok(moved)
            })?;
            assert_eq!(x.to_vec()?, moved);
            scoped_gpu::ok(())
        })
    })
}
