//! After a reset a module is loaded again.

use scoped_gpu::{Device, Reset};

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    let mut device = Device::host();
    let first = device.scope(|ctx| scoped_gpu::ok(ctx.module(PTX)?.kernels().count()))?;
    assert_eq!(device.reset()?, Reset::Recovered);
    let second = device.scope(|ctx| scoped_gpu::ok(ctx.module(PTX)?.kernels().count()))?;
    assert_eq!((first, second), (2, 2));
    Ok(())
}
