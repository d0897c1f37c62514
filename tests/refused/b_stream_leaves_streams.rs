//! A stream cannot leave its scope.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let stream = ctx.streams(|s| s.stream())?;
        stream.synchronize()
    })
}
