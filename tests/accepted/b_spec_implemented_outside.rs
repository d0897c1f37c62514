//! A function can put specs together.

use scoped_gpu::{Device, Filled, Zeros, filled, zeros};

fn pair(len: usize) -> (Zeros<f32>, Filled<f32>) {
    (zeros(len), filled(len, 1.0))
}

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc(pair(2), |(x, y)| {
            assert_eq!((x.to_vec()?, y.to_vec()?), (vec![0.0; 2], vec![1.0; 2]));
            scoped_gpu::ok(())
        })
    })
}
