//! A blocking copy inside the scope of streams may use a local variable.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<f32>| {
            ctx.streams(|s| {
                let host = [1.0, 2.0];
                s.stream()?.fill(&mut x, 9.0)?;
                x.copy_from_host(&host)
            })?;
            assert_eq!(x.to_vec()?, [1.0, 2.0]);
            scoped_gpu::ok(())
        })
    })
}
