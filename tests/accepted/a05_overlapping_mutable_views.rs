//! `split_at_mut` gives two mutable views that do not overlap.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(5, |mut x: Linear<i32>| {
            let (mut left, mut right) = x.split_at_mut(3);
            left.fill(1)?;
            right.fill(2)?;
            assert_eq!(x.to_vec()?, [1, 1, 1, 2, 2]);
            scoped_gpu::ok(())
        })
    })
}
