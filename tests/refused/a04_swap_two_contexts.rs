//! The contexts of two devices cannot be swapped.

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    let (a, b) = (Device::host(), Device::host());
    a.scope(|mut of_a| {
        b.scope(|mut of_b| {
            std::mem::swap(&mut of_a, &mut of_b);
            of_a.synchronize()
        })
    })
}
