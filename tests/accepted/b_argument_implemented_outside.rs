//! A scalar type of one's own can be a parameter, for itself.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Device, Element, Launch, ReadWrite, Scalar, ScalarKind};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct Factor(f32);

impl Element for Factor {}

impl Scalar for Factor {
    const KIND: ScalarKind = ScalarKind::Float;
    const NAME: &'static str = "Factor";
}

const PTX: &str = include_str!("../../ptx/scale.ptx");

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let scale = ctx.module(PTX)?.kernel::<(ReadWrite<f32>, Factor, u32)>("scale")?;
        let mut x = ctx.buffer::<f32>(4)?;
        x.fill(2.0)?;
        ctx.launch(&scale, Launch::cover(4), (&mut x, Factor(0.5), 4))?;
        assert_eq!(x.to_vec()?, [1.0; 4]);
        scoped_gpu::ok(())
    })
}
