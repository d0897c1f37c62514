//! A mutable view cannot be used while a part of it is lent.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<u8>| {
            let mut whole = x.view_mut();
            let mut part = whole.slice_mut(..1);
            whole.fill(1)?;
            part.fill(2)?;
            scoped_gpu::ok(())
        })
    })
}
