//! Outsiders cannot say which value fits which parameter, also not by a parameter type of their own: the array of
//! another context would become an argument.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Argument, Device, Element, Launch, Linear, Scalar, ScalarKind};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct Pointer(u64);

impl Element for Pointer {}

impl Scalar for Pointer {
    const KIND: ScalarKind = ScalarKind::Integer;
    const NAME: &'static str = "Pointer";
}

impl<'any> Argument<'_, Pointer> for &Linear<'_, 'any, f32> {}

const PTX: &str = include_str!("../../ptx/add.ptx");

fn main() -> scoped_gpu::Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        b.scope(|of_b| {
            let add = of_b.module(PTX)?.kernel::<(Pointer, Pointer, Pointer, u32)>("add")?;
            of_a.alloc_linear(4, |x: Linear<f32>| of_b.launch(&add, Launch::cover(4), (&x, &x, &x, 4)))
        })
    })
}
