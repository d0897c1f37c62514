//! `'ctx` cannot be shortened: two contexts' lifetimes would shrink to a common one.

use scoped_gpu::{Context, Device};

fn shortened<'short, 'ctx: 'short>(ctx: &'short Context<'ctx>) -> &'short Context<'short> {
    ctx
}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let buffer = shortened(ctx).buffer::<u8>(1)?;
        assert_eq!(buffer.to_vec()?, [0]);
        scoped_gpu::ok(())
    })
}
