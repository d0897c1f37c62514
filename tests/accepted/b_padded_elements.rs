//! A structure without padding is an element.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Device, Element};

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Particle {
    kind: u8,
    reserved: [u8; 3],
    mass: f32,
}

impl Element for Particle {}

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let mut particles = ctx.buffer::<Particle>(2)?;
        let particle = Particle { kind: 1, reserved: [0; 3], mass: 2.0 };
        particles.fill(particle)?;
        assert_eq!(particles.to_vec()?, [particle; 2]);
        scoped_gpu::ok(())
    })
}
