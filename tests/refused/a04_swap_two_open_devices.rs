//! Two devices cannot be swapped while a scope of one is open.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let (mut a, mut b) = (Device::host(), Device::host());
    a.scope(|ctx| {
        let buffer = ctx.buffer::<u8>(1)?;
        std::mem::swap(&mut a, &mut b);
        buffer.to_vec()
    })?;
    Ok(())
}
