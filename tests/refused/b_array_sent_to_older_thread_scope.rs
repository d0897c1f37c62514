//! An array cannot be given to a thread whose scope is older than the array.

use std::thread;

use scoped_gpu::{Device, Linear};

fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        thread::scope(|threads| {
            ctx.alloc_linear(2, |mut x: Linear<u8>| {
                threads.spawn(move || x.fill(1));
                scoped_gpu::ok(())
            })
        })
    })
}
