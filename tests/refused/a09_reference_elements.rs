//! A reference is no element: its bytes mean nothing on a device.

use scoped_gpu::{Device, linear};

fn main() -> scoped_gpu::Result<()> {
    let (one, two) = (1i32, 2i32);
    Device::host().scope(|ctx| {
        ctx.alloc((linear(&[&one, &two]),), |(x,)| {
            assert_eq!(x.len(), 2);
            scoped_gpu::ok(())
        })
    })
}
