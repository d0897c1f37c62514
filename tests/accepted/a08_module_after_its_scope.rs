//! A module can be used, and its kernels' names kept, as long as the names are owned.

use scoped_gpu::Device;

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    let names: Vec<String> = Device::host()
        .scope(|ctx| scoped_gpu::ok(ctx.module(PTX)?.kernels().map(str::to_owned).collect()))?;
    assert!(names.iter().any(|name| *name == "saxpy"));
    Ok(())
}
