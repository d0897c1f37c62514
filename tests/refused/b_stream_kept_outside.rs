//! A stream cannot be kept in a variable outside its scope.

use scoped_gpu::{Device, Stream};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let mut kept: Vec<Stream> = Vec::new();
        ctx.streams(|s| {
            kept.push(s.stream()?);
            scoped_gpu::ok(())
        })
    })
}
