//! A stream of one device does not work on a buffer of another.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        b.scope(|of_b| {
            let mut x = of_a.buffer::<i64>(4)?;
            of_b.streams(|s| s.stream()?.fill(&mut x, 3))?;
            assert_eq!(x.to_vec()?, [3; 4]);
            scoped_gpu::ok(())
        })
    })
}
