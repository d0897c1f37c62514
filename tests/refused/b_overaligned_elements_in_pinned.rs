//! Page-locked memory is aligned to 64 bytes; elements that want more cannot lie in it.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Device, Element};

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(128))]
struct Line([u8; 128]);

impl Element for Line {}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.pinned::<Line, _, _>(2, |lines| scoped_gpu::ok(assert_eq!(*lines, [Line([0; 128]); 2])))
    })
}
