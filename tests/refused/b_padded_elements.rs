//! A structure with padding is no element: padding has no value.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Device, Element};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Particle {
    kind: u8,
    mass: f32,
}

impl Element for Particle {}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let mut particles = ctx.buffer::<Particle>(2)?;
        particles.fill(Particle { kind: 1, mass: 2.0 })
    })
}
