//! A device cannot be reset while a stream of it lives.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let mut buffer = ctx.buffer::<u8>(16)?;
        ctx.streams(|s| {
            let stream = s.stream()?;
            device.reset()?;
            stream.fill(&mut buffer, 9)
        })
    })
}
