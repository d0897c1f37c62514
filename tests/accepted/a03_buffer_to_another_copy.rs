//! From one device to another, elements go through host memory.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|of_a| {
        b.scope(|of_b| {
            let mut x = of_a.buffer::<f64>(4)?;
            x.fill(0.25)?;
            let mut y = of_b.buffer::<f64>(4)?;
            y.copy_from_host(&x.to_vec()?)?;
            assert_eq!(y.to_vec()?, [0.25; 4]);
            scoped_gpu::ok(())
        })
    })
}
