//! Arrays of different elements are copied by way of the host.

use bytemuck::{Pod, Zeroable};
use scoped_gpu::{Device, Element, Linear};

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Wide([u64; 2]);

impl Element for Wide {}

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(32, |mut bytes: Linear<u8>| {
            bytes.fill(1)?;
            ctx.alloc_linear(2, |mut wide: Linear<Wide>| {
                let host: Vec<Wide> = bytemuck::pod_collect_to_vec(&bytes.to_vec()?);
                wide.copy_from_host(&host)?;
                assert_eq!(wide.to_vec()?, [Wide([0x0101_0101_0101_0101; 2]); 2]);
                scoped_gpu::ok(())
            })
        })
    })
}
