//! Streams can be kept in a collection inside their scope.

use scoped_gpu::{Device, Stream};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.streams(|s| {
            let kept: Vec<Stream> = (0..2).map(|_| s.stream()).collect::<Result<_, _>>()?;
            let mut buffer = ctx.buffer::<u8>(2)?;
            for (stream, value) in kept.iter().zip([1, 2]) {
                stream.fill(&mut buffer, value)?;
            }
            assert_eq!(buffer.to_vec()?, [2, 2]);
            scoped_gpu::ok(())
        })
    })
}
