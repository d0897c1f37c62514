//! Arrays of one `alloc_each` can be swapped and rotated.

use scoped_gpu::{Device, filled};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_each((0..3).map(|value| filled(2, value)), |mut arrays| {
            arrays.rotate_left(1);
            arrays.swap(0, 1);
            let values: Vec<_> = arrays.iter().map(|array| array.to_vec()).collect::<Result<_, _>>()?;
            assert_eq!(values, [[2, 2], [1, 1], [0, 0]]);
            scoped_gpu::ok(())
        })
    })
}
