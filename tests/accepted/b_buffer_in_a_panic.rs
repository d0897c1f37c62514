//! A panic with owned data goes through a scope unchanged, and the scope gives everything back.

use std::panic::{self, AssertUnwindSafe};

use scoped_gpu::Device;

pub fn main() {
    let device = Device::host();
    let payload = panic::catch_unwind(AssertUnwindSafe(|| {
        device.scope(|ctx| {
            let buffer = ctx.buffer::<u8>(4)?;
            if buffer.len() == 4 {
                panic::resume_unwind(Box::new(buffer.to_vec()?));
            }
            scoped_gpu::ok(())
        })
    }));
    let payload = payload.expect_err("the closure panics");
    assert_eq!(payload.downcast_ref::<Vec<u8>>(), Some(&vec![0; 4]));
    assert_eq!(device.memory().live, 0);
}
