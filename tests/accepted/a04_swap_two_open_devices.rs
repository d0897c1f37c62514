//! Two devices can be swapped while no scope of them is open.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let (mut a, mut b) = (Device::host(), Device::host());
    a.scope(|ctx| {
        let buffer = ctx.buffer::<u8>(1)?;
        buffer.to_vec()
    })?;
    std::mem::swap(&mut a, &mut b);
    assert_eq!((a.memory().allocated, b.memory().allocated), (0, 1));
    Ok(())
}
