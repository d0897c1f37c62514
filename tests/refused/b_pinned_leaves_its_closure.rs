//! Page-locked memory cannot leave its closure.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let host = ctx.pinned::<u16, _, _>(4, |host| scoped_gpu::ok(host))?;
        assert_eq!(*host, [0; 4]);
        scoped_gpu::ok(())
    })
}
