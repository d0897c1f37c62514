//! Its fields can be arrays of their own.

use scoped_gpu::{Device, linear};

#[derive(Clone, Copy)]
struct Named {
    name: &'static str,
    value: f32,
}

pub fn main() -> scoped_gpu::Result<()> {
    let all = [Named { name: "one", value: 1.0 }, Named { name: "two", value: 2.0 }];
    Device::host().scope(|ctx| {
        ctx.alloc((linear(&all.map(|named| named.value)),), |(values,)| {
            assert_eq!(values.to_vec()?, [1.0, 2.0]);
            assert_eq!(all[1].name, "two");
            scoped_gpu::ok(())
        })
    })
}
