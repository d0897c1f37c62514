//! A `Pending` gives its host memory back once.

use scoped_gpu::{Device, filled};

fn main() -> scoped_gpu::Result<()> {
    let mut host = [0u32; 3];
    Device::host().scope(|ctx| {
        ctx.alloc((filled(3, 5u32),), |(x,)| {
            ctx.streams(|s| {
                let pending = s.stream()?.copy_to_host(&x, &mut host)?;
                let first = pending.wait()?;
                let second = pending.wait()?;
                assert_eq!(first, second);
                scoped_gpu::ok(())
            })
        })
    })
}
