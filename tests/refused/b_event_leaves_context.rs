//! An event cannot leave its context.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let event = Device::host().scope(|ctx| ctx.streams(|s| s.stream()?.record()))?;
    event.wait()
}
