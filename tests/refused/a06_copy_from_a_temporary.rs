//! A queued copy cannot read a temporary.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(3, |mut x: Linear<f32>| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                stream.copy_from_host(&mut x, &vec![1.0f32, 2.0, 3.0])?;
                stream.synchronize()
            })?;
            assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0]);
            scoped_gpu::ok(())
        })
    })
}
