//! A `Pending` cannot leave its scope of streams: its stream ends there.

use scoped_gpu::{Device, filled};

fn main() -> scoped_gpu::Result<()> {
    let mut host = [0u32; 3];
    Device::host().scope(|ctx| {
        ctx.alloc((filled(3, 5u32),), |(x,)| {
            let pending = ctx.streams(|s| s.stream()?.copy_to_host(&x, &mut host))?;
            assert_eq!(pending.wait()?, [5; 3]);
            scoped_gpu::ok(())
        })
    })
}
