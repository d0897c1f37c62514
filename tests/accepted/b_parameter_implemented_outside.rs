//! A kernel is generic over the parameters that the crate knows.

use scoped_gpu::{Device, Parameter, Read, Write};

const PTX: &str = include_str!("../../ptx/add.ptx");

fn takes<Out: Parameter>() -> scoped_gpu::Result<String> {
    Device::host().scope(|ctx| {
        let kernel = ctx.module(PTX)?.kernel::<(Read<f32>, Read<f32>, Out, u32)>("add")?;
        scoped_gpu::ok(kernel.name().to_owned())
    })
}

pub fn main() -> scoped_gpu::Result<()> {
    assert_eq!(takes::<Write<f32>>()?, "add");
    assert!(takes::<u32>().is_err());
    Ok(())
}
