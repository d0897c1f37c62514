//! Page-locked memory whose closure ends inside the scope of streams cannot take part in its copies.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(4, |mut x: Linear<u16>| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                ctx.pinned::<u16, _, _>(4, |mut host| {
                    host.fill(3);
                    stream.copy_from_host(&mut x, &host)
                })
            })?;
            assert_eq!(x.to_vec()?, [3; 4]);
            scoped_gpu::ok(())
        })
    })
}
