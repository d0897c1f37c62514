//! `bool` is no element: a kernel may write bytes that are none.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut flags: Linear<bool>| {
            flags.fill(true)?;
            assert_eq!(flags.to_vec()?, [true, true]);
            scoped_gpu::ok(())
        })
    })
}
