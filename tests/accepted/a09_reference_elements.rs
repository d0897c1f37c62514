//! What references point to is copied.

use scoped_gpu::{Device, linear};

pub fn main() -> scoped_gpu::Result<()> {
    let (one, two) = (1i32, 2i32);
    Device::host().scope(|ctx| {
        ctx.alloc((linear(&[&one, &two].map(|number| *number)),), |(x,)| {
            assert_eq!(x.to_vec()?, [1, 2]);
            scoped_gpu::ok(())
        })
    })
}
