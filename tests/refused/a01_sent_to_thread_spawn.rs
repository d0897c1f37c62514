//! A buffer cannot be sent to a thread that may outlive its context.

use std::thread;

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    Device::with(|ctx| {
        let mut buffer = ctx.buffer::<i32>(3)?;
        let thread = thread::spawn(move || buffer.fill(4));
        thread.join().expect("the thread does not panic")
    })
}
