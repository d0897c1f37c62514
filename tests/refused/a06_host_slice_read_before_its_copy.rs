//! Host memory cannot be read while a queued copy writes it.

use scoped_gpu::{Device, filled};

fn main() -> scoped_gpu::Result<()> {
    let mut host = [0u32; 3];
    Device::host().scope(|ctx| {
        ctx.alloc((filled(3, 5u32),), |(x,)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                let pending = stream.copy_to_host(&x, &mut host)?;
                assert_eq!(host, [5; 3]);
                pending.wait()?;
                scoped_gpu::ok(())
            })
        })
    })
}
