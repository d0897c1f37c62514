//! After the scope of streams the host memory is simply usable.

use scoped_gpu::{Device, filled};

pub fn main() -> scoped_gpu::Result<()> {
    let mut host = [0u32; 3];
    Device::host().scope(|ctx| {
        ctx.alloc((filled(3, 5u32),), |(x,)| {
            ctx.streams(|s| s.stream()?.copy_to_host(&x, &mut host).map(drop))
        })
    })?;
    assert_eq!(host, [5; 3]);
    Ok(())
}
