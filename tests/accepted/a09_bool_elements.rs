//! A flag is a `u8` on the device.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut flags: Linear<u8>| {
            flags.fill(u8::from(true))?;
            assert!(flags.to_vec()?.into_iter().all(|flag| flag != 0));
            scoped_gpu::ok(())
        })
    })
}
