//! A kernel of one device is not launched on another.

use scoped_gpu::{Device, Launch, Read, Write};

const PTX: &str = include_str!("../../ptx/add.ptx");

fn main() -> scoped_gpu::Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        b.scope(|of_b| {
            let add = of_a.module(PTX)?.kernel::<(Read<f32>, Read<f32>, Write<f32>, u32)>("add")?;
            let (x, mut y) = (of_b.buffer::<f32>(4)?, of_b.buffer::<f32>(4)?);
            of_b.launch(&add, Launch::cover(4), (&x, &x, &mut y, 4))?;
            assert_eq!(y.to_vec()?, [0.0; 4]);
            scoped_gpu::ok(())
        })
    })
}
