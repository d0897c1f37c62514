//! What a device is can be kept anywhere.

use std::cell::RefCell;

use scoped_gpu::{Device, DeviceInfo};

thread_local! {
    static KEPT: RefCell<Option<DeviceInfo>> = const { RefCell::new(None) };
}

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        KEPT.set(Some(ctx.info().clone()));
        scoped_gpu::ok(())
    })?;
    assert_eq!(KEPT.take().map(|info| info.id).as_deref(), Some("host"));
    Ok(())
}
