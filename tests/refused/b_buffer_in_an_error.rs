//! A buffer cannot leave its context in the closure's own error.

use scoped_gpu::{Buffer, Device, Error};

struct Kept<'ctx>(Option<Buffer<'ctx, u8>>);

impl From<Error> for Kept<'_> {
    fn from(_: Error) -> Self {
        Self(None)
    }
}

fn main() {
    let kept = Device::host().scope(|ctx| Err::<(), _>(Kept(Some(ctx.buffer::<u8>(4)?))));
    assert!(kept.is_err_and(|kept| kept.0.is_some()));
}
