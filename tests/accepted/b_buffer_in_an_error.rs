//! An error of one's own can carry what the buffer held.

use scoped_gpu::{Device, Error};

struct Kept(Option<Vec<u8>>);

impl From<Error> for Kept {
    fn from(_: Error) -> Self {
        Self(None)
    }
}

pub fn main() {
    let kept = Device::host().scope(|ctx| Err::<(), _>(Kept(Some(ctx.buffer::<u8>(4)?.to_vec()?))));
    assert!(kept.is_err_and(|kept| kept.0 == Some(vec![0; 4])));
}
