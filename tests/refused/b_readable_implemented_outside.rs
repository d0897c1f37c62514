//! Outsiders cannot read an array as elements of another size: rows would be copied beyond the array's end.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Device, Element, Linear, Readable};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Wide([u64; 2]);

impl Element for Wide {}

impl<'ctx> Readable<'ctx, Wide> for Linear<'_, 'ctx, u8> {}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(31, |bytes: Linear<u8>| {
            ctx.alloc_linear(1, |mut wide: Linear<Wide>| wide.copy_from(&bytes))
        })
    })
}
