//! Two mutable views of rows that may overlap cannot exist.

use scoped_gpu::{Device, Pitched};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_pitched(2, 3, |mut image: Pitched<f64>| {
            let mut top = image.rows_mut(..2);
            let mut bottom = image.rows_mut(1..);
            top.fill(1.0)?;
            bottom.fill(2.0)?;
            assert_eq!(image.to_vec()?, [1.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
            scoped_gpu::ok(())
        })
    })
}
