//! `Pending::wait` gives host memory back inside the scope of streams.

use scoped_gpu::{Device, filled};

pub fn main() -> scoped_gpu::Result<()> {
    let mut host = [0u32; 3];
    Device::host().scope(|ctx| {
        ctx.alloc((filled(3, 5u32),), |(x,)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                let pending = stream.copy_to_host(&x, &mut host)?;
                let copied = pending.wait()?;
                assert_eq!(copied, [5; 3]);
                copied[0] = 6;
                scoped_gpu::ok(())
            })
        })
    })?;
    assert_eq!(host, [6, 5, 5]);
    Ok(())
}
