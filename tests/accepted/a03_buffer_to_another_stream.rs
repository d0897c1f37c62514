//! Each stream works on a buffer of its own device.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        b.scope(|of_b| {
            let mut x = of_a.buffer::<i64>(4)?;
            let mut y = of_b.buffer::<i64>(4)?;
            of_a.streams(|s| s.stream()?.fill(&mut x, 3))?;
            of_b.streams(|s| s.stream()?.fill(&mut y, 4))?;
            assert_eq!(x.to_vec()?, [3; 4]);
            assert_eq!(y.to_vec()?, [4; 4]);
            scoped_gpu::ok(())
        })
    })
}
