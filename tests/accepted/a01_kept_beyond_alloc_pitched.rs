//! What a pitched array holds can be kept beyond `alloc_pitched`.

use scoped_gpu::{Device, Pitched};

pub fn main() -> scoped_gpu::Result<()> {
    Device::with(|ctx| {
        let pixels = ctx.alloc_pitched(5, 2, |mut image: Pitched<u16>| {
            image.rows_mut(1..).fill(7)?;
            image.to_vec()
        })?;
        assert_eq!(pixels, [0, 0, 0, 0, 0, 7, 7, 7, 7, 7]);
        scoped_gpu::ok(())
    })
}
