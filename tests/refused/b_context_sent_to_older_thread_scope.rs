//! A context cannot be given to a thread whose scope is older than the context.

use std::thread;

use scoped_gpu::Device;

fn main() -> scoped_gpu::Result<()> {
    thread::scope(|threads| {
        Device::host().scope(|ctx| {
            threads.spawn(move || ctx.synchronize());
            scoped_gpu::ok(())
        })
    })
}
