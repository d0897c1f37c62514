//! `split_at_row_mut` gives two mutable views of rows that do not overlap.

use scoped_gpu::{Device, Pitched};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_pitched(2, 3, |mut image: Pitched<f64>| {
            let (mut top, mut bottom) = image.split_at_row_mut(2);
            top.fill(1.0)?;
            bottom.fill(2.0)?;
            assert_eq!(image.to_vec()?, [1.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
            scoped_gpu::ok(())
        })
    })
}
