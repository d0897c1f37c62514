//! A shared borrow of an array gives no mutable view.

use scoped_gpu::{Device, Linear};

fn clear(x: &Linear<'_, '_, u8>) -> scoped_gpu::Result<()> {
    x.view_mut().fill(0)
}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<u8>| {
            x.fill(1)?;
            clear(&x)?;
            assert_eq!(x.to_vec()?, [0, 0]);
            scoped_gpu::ok(())
        })
    })
}
