//! As many arrays as a program wants come from an iterator.

use scoped_gpu::{Device, zeros};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_each((1..=9).map(zeros::<f32>), |arrays| {
            let lengths: Vec<_> = arrays.iter().map(|array| array.len()).collect();
            assert_eq!(lengths, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
            scoped_gpu::ok(())
        })
    })
}
