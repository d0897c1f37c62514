//! Arrays of one allocation have one `'s` and can be swapped by a function.

use scoped_gpu::{Device, Linear, filled};

fn swapped<'s, 'ctx>(a: &mut Linear<'s, 'ctx, u8>, b: &mut Linear<'s, 'ctx, u8>) {
    std::mem::swap(a, b);
}

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc((filled(1, 1u8), filled(1, 2u8)), |(mut a, mut b)| {
            swapped(&mut a, &mut b);
            assert_eq!((a.to_vec()?, b.to_vec()?), (vec![2], vec![1]));
            scoped_gpu::ok(())
        })
    })
}
