//! A device cannot be reset while a module of it lives.

use scoped_gpu::Device;

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    device.scope(|ctx| {
        let module = ctx.module(PTX)?;
        device.reset()?;
        assert_eq!(module.kernels().count(), 2);
        scoped_gpu::ok(())
    })
}
