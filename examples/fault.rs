//! A kernel with a bug, and what it costs: an error that says where, and nothing else.
//!
//! `cargo run --example fault` launches a kernel that stores one element past the end of its array. The array next to
//! it is untouched, the error names kernel, line, thread and distance, and the same scope goes on working.

use anyhow::Result;
use scoped_gpu::{Device, Launch, Read, ReadWrite, Write, filled, linear, zeros};

fn main() -> Result<()> {
    let input: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    Device::with(|ctx| {
        println!("device: {}\n", ctx.info().name);
        let broken = ctx.module_named("shift_off_by_one.ptx", include_str!("../ptx/shift_off_by_one.ptx"))?;
        let shift = broken.kernel::<(Read<f32>, Write<f32>, u32)>("shift_off_by_one")?;
        let saxpy = ctx.module_named("saxpy.ptx", include_str!("../ptx/saxpy.ptx"))?.kernel::<(
            f32,
            Read<f32>,
            ReadWrite<f32>,
            u32,
        )>("saxpy")?;

        ctx.alloc((linear(&input), zeros::<f32>(1000), filled(1000, 7.0f32)), |(x, mut y, mut neighbour)| {
            ctx.launch(&shift, Launch::cover(1000), (&x, &mut y, 1000))?;
            match ctx.synchronize() {
                Err(error) => println!("{error}\n"),
                Ok(()) => anyhow::bail!("the off-by-one store was not noticed"),
            }
            anyhow::ensure!(neighbour.to_vec()? == [7.0; 1000], "the store reached another array");

            ctx.launch(&saxpy, Launch::cover(1000), (2.0, &x, &mut neighbour, 1000))?;
            let last = neighbour.to_vec()?[999];
            println!("the same scope goes on: 2 · 999 + 7 = {last}");
            anyhow::ensure!(last == 2005.0, "saxpy gave {last}");
            Ok(())
        })
    })
}
