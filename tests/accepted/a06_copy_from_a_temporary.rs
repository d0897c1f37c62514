//! A queued copy can read what outlives the scope of streams.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(3, |mut x: Linear<f32>| {
            let host = vec![1.0f32, 2.0, 3.0];
            ctx.streams(|s| {
                let stream = s.stream()?;
                stream.copy_from_host(&mut x, &host)?;
                stream.synchronize()
            })?;
            assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0]);
            scoped_gpu::ok(())
        })
    })
}
