//! Nobody can reset the default device: there is no `&mut` to it.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    Device::with(|ctx| {
        ctx.reset()?;
        ctx.synchronize()
    })
}
