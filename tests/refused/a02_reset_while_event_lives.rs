//! A device cannot be reset while an event of it lives.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let event = ctx.streams(|s| {
            let stream = s.stream()?;
            stream.record()
        })?;
        device.reset()?;
        event.wait()
    })
}
