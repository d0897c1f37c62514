//! A copy of page-locked memory can.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let host = ctx.pinned::<u16, _, _>(4, |host| scoped_gpu::ok(host.to_vec()))?;
        assert_eq!(host, [0; 4]);
        scoped_gpu::ok(())
    })
}
