//! What is computed from a slice of it can.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let mut sum = 0;
        ctx.pinned::<u16, _, _>(4, |mut host| {
            host.fill(3);
            sum = host[..2].iter().sum();
            scoped_gpu::ok(())
        })?;
        assert_eq!(sum, 6);
        scoped_gpu::ok(())
    })
}
