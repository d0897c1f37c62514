//! The allocation's lifetime `'s` cannot be shortened either: an inner array could then be swapped with an outer one.

use scoped_gpu::{Device, Linear, filled};

fn swapped<'outer: 'inner, 'inner, 'ctx>(a: &mut Linear<'outer, 'ctx, u8>, b: &mut Linear<'inner, 'ctx, u8>) {
    std::mem::swap(a, b);
}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc((filled(1, 1u8), filled(1, 2u8)), |(mut a, mut b)| {
            swapped(&mut a, &mut b);
            assert_eq!((a.to_vec()?, b.to_vec()?), (vec![2], vec![1]));
            scoped_gpu::ok(())
        })
    })
}
