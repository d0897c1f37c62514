//! A view of an inner array cannot be swapped into a variable that holds a view of an outer array.

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |outer: Linear<u8>| {
            let mut shown = outer.view();
            ctx.alloc_linear(2, |inner: Linear<u8>| {
                let mut seen = inner.view();
                std::mem::swap(&mut shown, &mut seen);
                scoped_gpu::ok(())
            })?;
            assert_eq!(shown.to_vec()?, [0; 2]);
            scoped_gpu::ok(())
        })
    })
}
