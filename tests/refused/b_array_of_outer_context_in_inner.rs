//! An array of the outer of two contexts on one device cannot be used with the inner one.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    device.scope(|outer| {
        outer.alloc_linear(2, |mut x: Linear<u8>| {
            device.scope(|inner| inner.streams(|s| s.stream()?.fill(&mut x, 1)))
        })
    })
}
