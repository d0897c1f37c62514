//! A buffer can be sent to a thread that ends inside its context.

use scoped_gpu::Device;

pub fn main() -> scoped_gpu::Result<()> {
    Device::with(|ctx| {
        let mut buffer = ctx.buffer::<i32>(3)?;
        let values = std::thread::scope(|threads| {
            let thread = threads.spawn(move || {
                buffer.fill(4)?;
                buffer.to_vec()
            });
            thread.join().expect("the thread does not panic")
        })?;
        assert_eq!(values, [4; 3]);
        scoped_gpu::ok(())
    })
}
