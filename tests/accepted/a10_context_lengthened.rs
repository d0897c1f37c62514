//! A function keeps `'ctx` as it is, whatever else it is given.

use scoped_gpu::{Buffer, Device};

fn passed_on<'ctx, 'long: 'ctx>(buffer: Buffer<'ctx, u8>, _older: &'long str) -> Buffer<'ctx, u8> {
    buffer
}

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let buffer = passed_on(ctx.buffer::<u8>(1)?, "older");
        assert_eq!(buffer.to_vec()?, [0]);
        scoped_gpu::ok(())
    })
}
