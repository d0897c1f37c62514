//! Two mutable views that may overlap cannot exist.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(5, |mut x: Linear<i32>| {
            let mut left = x.slice_mut(..3);
            let mut right = x.slice_mut(2..);
            left.fill(1)?;
            right.fill(2)?;
            assert_eq!(x.to_vec()?, [1, 1, 1, 2, 2]);
            scoped_gpu::ok(())
        })
    })
}
