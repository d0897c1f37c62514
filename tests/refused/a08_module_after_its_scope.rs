//! A module cannot be used after its scope.

use scoped_gpu::Device;

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

fn main() -> scoped_gpu::Result<()> {
    let module = Device::host().scope(|ctx| ctx.module(PTX))?;
    let names: Vec<_> = module.kernels().collect();
    assert!(names.iter().any(|name| *name == "saxpy"));
    Ok(())
}
