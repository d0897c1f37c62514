//! A buffer cannot leave its context in the payload of a panic.

use std::panic::{self, AssertUnwindSafe};

use scoped_gpu::Device;

fn main() {
    let device = Device::host();
    let payload = panic::catch_unwind(AssertUnwindSafe(|| {
        device.scope(|ctx| {
            let buffer = ctx.buffer::<u8>(4)?;
            if buffer.len() == 4 {
                panic::resume_unwind(Box::new(buffer));
            }
            scoped_gpu::ok(())
        })
    }));
    assert!(payload.is_err());
}
