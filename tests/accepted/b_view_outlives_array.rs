//! A view can be kept for as long as its array.

use scoped_gpu::{Device, Linear, View};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(4, |array: Linear<u8>| {
            let kept: Vec<View<u8>> = (0..4).map(|start| array.slice(start..)).collect();
            let lengths: Vec<_> = kept.iter().map(|view| view.len()).collect();
            assert_eq!(lengths, [4, 3, 2, 1]);
            scoped_gpu::ok(())
        })
    })
}
