//! The two parts of a split buffer can be read and written by one launch.

use scoped_gpu::{Device, Launch, Read, ReadWrite};

const PTX: &str = include_str!("../../ptx/saxpy.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let saxpy = ctx.module(PTX)?.kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
        let mut x = ctx.buffer::<f32>(16)?;
        x.slice_mut(..8).fill(4.0)?;
        let (read, written) = x.split_at_mut(8);
        ctx.launch(&saxpy, Launch::cover(8), (2.0, read.view(), written, 8))?;
        assert_eq!(x.slice(8..).to_vec()?, [8.0; 8]);
        scoped_gpu::ok(())
    })
}
