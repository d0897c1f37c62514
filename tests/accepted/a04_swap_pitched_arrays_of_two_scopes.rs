//! What two pitched arrays of two scopes hold can be exchanged.

use scoped_gpu::{Device, Pitched};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_pitched(3, 2, |mut outer: Pitched<u8>| {
            ctx.alloc_pitched(3, 2, |mut inner: Pitched<u8>| {
                inner.fill(6)?;
                outer.copy_from(&inner)
            })?;
            assert_eq!(outer.to_vec()?, [6; 6]);
            scoped_gpu::ok(())
        })
    })
}
