//! The memory that a `Pending` gave back can be given to the next copy.

use scoped_gpu::{Device, filled};

pub fn main() -> scoped_gpu::Result<()> {
    let mut host = [0u32; 3];
    Device::host().scope(|ctx| {
        ctx.alloc((filled(3, 5u32), filled(3, 6u32)), |(x, y)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                let first = stream.copy_to_host(&x, &mut host)?.wait()?;
                assert_eq!(first, [5; 3]);
                let second = stream.copy_to_host(&y, first)?.wait()?;
                assert_eq!(second, [6; 3]);
                scoped_gpu::ok(())
            })
        })
    })
}
