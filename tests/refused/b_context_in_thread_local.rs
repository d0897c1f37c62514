//! A context cannot be kept in a `thread_local!`.

use std::cell::Cell;

use scoped_gpu::{Context, Device};

thread_local! {
    static KEPT: Cell<Option<&'static Context<'static>>> = const { Cell::new(None) };
}

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        KEPT.set(Some(ctx));
        scoped_gpu::ok(())
    })
}
