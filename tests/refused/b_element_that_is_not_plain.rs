//! A type that is not plain data cannot be declared an element.

use scoped_gpu::{Device, Element};

#[derive(Clone, Copy)]
struct Named {
    name: &'static str,
    value: f32,
}

impl Element for Named {}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let mut all = ctx.buffer::<Named>(2)?;
        all.fill(Named { name: "one", value: 1.0 })?;
        let one = all.to_vec()?[0];
        assert_eq!((one.name, one.value), ("one", 1.0));
        scoped_gpu::ok(())
    })
}
