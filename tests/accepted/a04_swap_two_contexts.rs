//! Two contexts can be used in turn.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        b.scope(|of_b| {
            let (x, y) = (of_a.buffer::<u8>(1)?, of_b.buffer::<u8>(2)?);
            assert_eq!((a.memory().live, b.memory().live), (1, 2));
            assert_eq!((x.to_vec()?, y.to_vec()?), (vec![0], vec![0, 0]));
            scoped_gpu::ok(())
        })
    })
}
