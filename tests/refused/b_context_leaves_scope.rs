//! A context cannot leave its scope.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let ctx = Device::host().scope(|ctx| scoped_gpu::ok(ctx))?;
    ctx.synchronize()
}
