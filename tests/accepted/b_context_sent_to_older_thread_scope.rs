//! A context can be shared with threads that end before it does.

use std::thread;

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        let sums = thread::scope(|threads| {
            let all = [1u8, 2, 3].map(|value| {
                threads.spawn(move || {
                    let mut buffer = ctx.buffer::<u8>(10)?;
                    buffer.fill(value)?;
                    scoped_gpu::ok(buffer.to_vec()?.iter().sum::<u8>())
                })
            });
            all.map(|thread| thread.join().expect("no thread panics").unwrap_or_default())
        });
        assert_eq!(sums, [10, 20, 30]);
        scoped_gpu::ok(())
    })
}
