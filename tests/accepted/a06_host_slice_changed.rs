//! A host slice can be changed when the streams have joined.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    let mut host = [1.0f32, 2.0, 3.0];
    Device::host().scope(|ctx| {
        ctx.alloc_linear(3, |mut x: Linear<f32>| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                stream.copy_from_host(&mut x, &host)
            })?;
            host[0] = 9.0;
            assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0]);
            scoped_gpu::ok(())
        })
    })?;
    assert_eq!(host, [9.0, 2.0, 3.0]);
    Ok(())
}
