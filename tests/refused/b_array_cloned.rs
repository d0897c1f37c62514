//! An array cannot be cloned: two handles would own the same bytes.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<u8>| {
            let mut y: Linear<u8> = x.clone();
            y.fill(1)?;
            x.fill(0)
        })
    })
}
