//! A view cannot outlive the closure of its array.

use scoped_gpu::{Device, Linear, View};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let mut kept: Option<View<u8>> = None;
        ctx.alloc_linear(4, |array: Linear<u8>| {
            kept = Some(array.view());
            scoped_gpu::ok(())
        })?;
        assert_eq!(kept.map_or(0, |view| view.len()), 4);
        scoped_gpu::ok(())
    })
}
