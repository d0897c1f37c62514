//! A local variable of the scope of streams cannot take part in its copies: it ends before they are done.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<f32>| {
            ctx.streams(|s| {
                let host = [1.0, 2.0];
                s.stream()?.copy_from_host(&mut x, &host)
            })?;
            assert_eq!(x.to_vec()?, [1.0, 2.0]);
            scoped_gpu::ok(())
        })
    })
}
