//! Text is an array of bytes on the device.

use scoped_gpu::{Device, linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc((linear("pitch".as_bytes()),), |(text,)| {
            assert_eq!(String::from_utf8(text.to_vec()?).as_deref(), Ok("pitch"));
            scoped_gpu::ok(())
        })
    })
}
