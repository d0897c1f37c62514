//! Device memory takes elements of any alignment.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Device, Element};

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(128))]
struct Line([u8; 128]);

impl Element for Line {}

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let mut lines = ctx.buffer::<Line>(2)?;
        lines.fill(Line([3; 128]))?;
        assert_eq!(lines.to_vec()?, [Line([3; 128]); 2]);
        scoped_gpu::ok(())
    })
}
