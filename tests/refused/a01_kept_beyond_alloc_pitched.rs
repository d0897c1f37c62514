//! A pitched array cannot be kept beyond `alloc_pitched`.

use scoped_gpu::{Device, Pitched};

fn main() -> scoped_gpu::Result<()> {
    Device::with(|ctx| {
        let image = ctx.alloc_pitched(5, 2, |image: Pitched<u16>| scoped_gpu::ok(image))?;
        assert_eq!(image.to_vec()?, [0; 10]);
        scoped_gpu::ok(())
    })
}
