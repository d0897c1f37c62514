//! An element type of one's own is read and written like any other.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Device, Element, Linear};

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Word([u8; 4]);

impl Element for Word {}

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(4, |mut x: Linear<Word>| {
            ctx.streams(|s| s.stream()?.fill(&mut x, Word([1, 2, 3, 4])))?;
            assert_eq!(x.to_vec()?, [Word([1, 2, 3, 4]); 4]);
            scoped_gpu::ok(())
        })
    })
}
