//! `'ctx` cannot be lengthened: its handles would outlive it.

use scoped_gpu::{Buffer, Device};

fn lengthened<'ctx, 'long: 'ctx>(buffer: Buffer<'ctx, u8>) -> Buffer<'long, u8> {
    buffer
}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let buffer = lengthened(ctx.buffer::<u8>(1)?);
        assert_eq!(buffer.to_vec()?, [0]);
        scoped_gpu::ok(())
    })
}
