//! Arrays that must live together are allocated together.

use scoped_gpu::{Device, zeros};

pub fn main() -> scoped_gpu::Result<()> {
    Device::with(|ctx| {
        ctx.alloc((zeros::<f32>(3), zeros::<f32>(3)), |(mut array, other)| {
            let mut kept = Some(other);
            array.fill(5.0)?;
            let replaced = kept.replace(array);
            assert_eq!(replaced.map(|array| array.to_vec()).transpose()?, Some(vec![0.0; 3]));
            assert_eq!(kept.map(|array| array.to_vec()).transpose()?, Some(vec![5.0; 3]));
            scoped_gpu::ok(())
        })
    })
}
