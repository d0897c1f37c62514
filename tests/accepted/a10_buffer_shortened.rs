//! Functions that take two buffers of one context say so with one `'ctx`.

use scoped_gpu::{Buffer, Device, Result};

fn copied<'ctx>(from: &Buffer<'ctx, u8>, to: &mut Buffer<'ctx, u8>) -> Result<()> {
    to.copy_from(from)
}

pub fn main() -> Result<()> {
    Device::host().scope(|ctx| {
        let (mut from, mut to) = (ctx.buffer::<u8>(1)?, ctx.buffer::<u8>(1)?);
        from.fill(3)?;
        copied(&from, &mut to)?;
        assert_eq!(to.to_vec()?, [3]);
        scoped_gpu::ok(())
    })
}
