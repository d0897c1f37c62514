//! A mutable view can be lent again and again.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<u8>| {
            let mut first = x.view_mut();
            first.view_mut().fill(1)?;
            first.view_mut().slice_mut(1..).fill(2)?;
            assert_eq!(first.to_vec()?, [1, 2]);
            scoped_gpu::ok(())
        })
    })
}
