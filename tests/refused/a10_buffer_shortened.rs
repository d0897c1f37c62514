//! The `'ctx` of a buffer cannot be shortened: it could then be mixed with a younger context's.

use scoped_gpu::{Buffer, Device, Result};

fn copied<'a: 'b, 'b>(from: &Buffer<'a, u8>, to: &mut Buffer<'b, u8>) -> Result<()> {
    to.copy_from(from)
}

fn main() -> Result<()> {
    Device::host().scope(|ctx| {
        let (mut from, mut to) = (ctx.buffer::<u8>(1)?, ctx.buffer::<u8>(1)?);
        from.fill(3)?;
        copied(&from, &mut to)?;
        assert_eq!(to.to_vec()?, [3]);
        scoped_gpu::ok(())
    })
}
