//! `String` is no element: it owns memory of the host.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let names = ctx.buffer::<String>(2)?;
        assert_eq!(names.len(), 2);
        scoped_gpu::ok(())
    })
}
