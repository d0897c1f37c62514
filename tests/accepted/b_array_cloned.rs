//! A second array with the same elements is allocated and copied to.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<u8>| {
            x.fill(4)?;
            ctx.alloc_linear(2, |mut y: Linear<u8>| {
                y.copy_from(&x)?;
                x.fill(0)?;
                assert_eq!((x.to_vec()?, y.to_vec()?), (vec![0, 0], vec![4, 4]));
                scoped_gpu::ok(())
            })
        })
    })
}
