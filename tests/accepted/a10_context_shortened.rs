//! The borrow of a context can be shortened; its `'ctx` stays.

use scoped_gpu::{Context, Device};

fn shortened<'short, 'ctx: 'short>(ctx: &'ctx Context<'ctx>) -> &'short Context<'ctx> {
    ctx
}

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let buffer = {
            let short = shortened(ctx);
            short.buffer::<u8>(1)?
        };
        assert_eq!(buffer.to_vec()?, [0]);
        scoped_gpu::ok(())
    })
}
