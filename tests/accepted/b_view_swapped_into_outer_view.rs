//! Two views of arrays that live long enough can be swapped.

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |outer: Linear<u8>| {
            let mut shown = outer.view();
            ctx.alloc_linear(3, |inner: Linear<u8>| {
                let (mut here, mut there) = (shown, inner.view());
                std::mem::swap(&mut here, &mut there);
                assert_eq!((here.len(), there.len()), (3, 2));
                scoped_gpu::ok(())
            })?;
            shown = shown.slice(1..);
            assert_eq!(shown.to_vec()?, [0; 1]);
            scoped_gpu::ok(())
        })
    })
}
