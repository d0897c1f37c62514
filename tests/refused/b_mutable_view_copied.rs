//! A mutable view is not `Copy`: two would overlap.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<u8>| {
            let first = x.view_mut();
            let mut second = first;
            let mut third = first;
            second.fill(1)?;
            third.fill(2)?;
            scoped_gpu::ok(())
        })
    })
}
