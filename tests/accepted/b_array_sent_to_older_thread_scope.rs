//! It can be given to a thread whose scope is younger.

use std::thread;

use scoped_gpu::{Device, Linear};

pub fn main() -> scoped_gpu::Result<()> {
    Device::host().scope(|ctx| {
        ctx.alloc_linear(2, |mut x: Linear<u8>| {
            thread::scope(|threads| threads.spawn(|| x.fill(1)).join().expect("the thread does not panic"))?;
            assert_eq!(x.to_vec()?, [1, 1]);
            scoped_gpu::ok(())
        })
    })
}
