//! Pitched arrays of two allocation scopes cannot be swapped.

use scoped_gpu::{Device, Pitched};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_pitched(3, 2, |mut outer: Pitched<u8>| {
            ctx.alloc_pitched(3, 2, |mut inner: Pitched<u8>| {
                std::mem::swap(&mut outer, &mut inner);
                scoped_gpu::ok(())
            })?;
            assert_eq!(outer.to_vec()?, [0; 6]);
            scoped_gpu::ok(())
        })
    })
}
