//! Arrays of one allocation scope can be swapped.

use scoped_gpu::{Device, linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc((linear(&[1.0f32, 2.0]), linear(&[3.0f32, 4.0])), |(mut now, mut next)| {
            std::mem::swap(&mut now, &mut next);
            assert_eq!(now.to_vec()?, [3.0, 4.0]);
            assert_eq!(next.to_vec()?, [1.0, 2.0]);
            scoped_gpu::ok(())
        })
    })
}
