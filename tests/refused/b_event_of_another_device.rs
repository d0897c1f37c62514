//! A stream does not wait for an event of another device.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        let event = of_a.streams(|s| s.stream()?.record())?;
        b.scope(|of_b| of_b.streams(|s| s.stream()?.wait_for(&event)))
    })
}
