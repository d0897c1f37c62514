//! A slice of page-locked memory cannot leave the closure either.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let mut kept: &[u16] = &[];
        ctx.pinned::<u16, _, _>(4, |mut host| {
            host.fill(3);
            kept = &host[..2];
            scoped_gpu::ok(())
        })?;
        assert_eq!(kept, [3; 2]);
        scoped_gpu::ok(())
    })
}
