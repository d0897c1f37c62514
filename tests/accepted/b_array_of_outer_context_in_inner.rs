//! An outer context and its arrays can be used, together, inside an inner one.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    device.scope(|outer| {
        outer.alloc_linear(2, |mut x: Linear<u8>| {
            device.scope(|inner| {
                outer.streams(|s| s.stream()?.fill(&mut x, 1))?;
                inner.alloc_linear(1, |y: Linear<u8>| {
                    assert_eq!((x.to_vec()?, y.to_vec()?), (vec![1, 1], vec![0]));
                    scoped_gpu::ok(())
                })
            })
        })
    })
}
