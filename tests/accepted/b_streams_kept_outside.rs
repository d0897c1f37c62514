//! The scope of streams can be passed on while it lasts.

use scoped_gpu::{Device, Result, Stream, Streams};

fn two<'scope, 'env, 'ctx>(
    s: &'scope Streams<'scope, 'env, 'ctx>,
) -> Result<[Stream<'scope, 'env, 'ctx>; 2]> {
    Ok([s.stream()?, s.stream()?])
}

pub fn main() -> Result<()> {
    Device::host().scope(|ctx| {
        ctx.streams(|s| {
            let [a, b] = two(s)?;
            let mut buffer = ctx.buffer::<u8>(2)?;
            a.fill(&mut buffer, 1)?;
            b.fill(&mut buffer, 2)?;
            assert_eq!(buffer.to_vec()?, [2, 2]);
            scoped_gpu::ok(())
        })
    })
}
