//! Page-locked memory whose closure contains the scope of streams can.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(4, |mut x: Linear<u16>| {
            ctx.pinned::<u16, _, _>(4, |mut host| {
                host.fill(3);
                ctx.streams(|s| s.stream()?.copy_from_host(&mut x, &host))
            })?;
            assert_eq!(x.to_vec()?, [3; 4]);
            scoped_gpu::ok(())
        })
    })
}
