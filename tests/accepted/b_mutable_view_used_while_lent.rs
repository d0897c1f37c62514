//! It can be used again after the part's last use.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<u8>| {
            let mut whole = x.view_mut();
            let mut part = whole.slice_mut(..1);
            part.fill(2)?;
            assert_eq!(whole.to_vec()?, [2, 0]);
            whole.fill(1)?;
            assert_eq!(whole.to_vec()?, [1, 1]);
            scoped_gpu::ok(())
        })
    })
}
