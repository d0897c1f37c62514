//! The host device's speed: thread-instructions per second of six kernels, on one thread and on all; the ratio to
//! `ptoxide` on its own kernels; PTX read per second. `cargo bench --bench host` prints it all, and marks what falls
//! short of a floor. Inputs are random. The kernels are in `kernels`, the comparison in `versus`.

mod kernels;
#[path = "../../tests/reference/random.rs"]
#[expect(dead_code, reason = "the tests' generator; a benchmark needs a part of it")]
mod random;
mod sample;
mod versus;

use std::time::Duration;

use anyhow::Result;
use rayon::ThreadPoolBuilder;
use scoped_gpu::Device;
use scoped_gpu::ptx::LoadedPtx;

use crate::kernels::{KERNELS, Measured};
use crate::sample::Sample;

/// Bytes of PTX per second, times 10⁶.
const PARSE_FLOOR: f64 = 64.0;

fn main() -> Result<()> {
    // Cargo passes `--bench`; a filter in the usual place chooses kernels by a part of their name.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let all = rayon::current_num_threads();
    println!("scoped-gpu host device, launches checked; {all} threads; median (best) of each sample");
    println!();
    println!("{:<22} {:>14} {:>22} {:>22}", "kernel", "instructions", "1 thread, G/s", "all threads, G/s");
    let device = Device::host();
    for kernel in KERNELS.iter().filter(|kernel| kernel.name.contains(&filter)) {
        let one = on_threads(1, || (kernel.run)(&device))?;
        let many = on_threads(all, || (kernel.run)(&device))?;
        let floor = floor(rate(&one), kernel.floor, "G/s");
        println!(
            "{:<22} {:>14} {:>22} {:>22}{floor}",
            kernel.name,
            one.instructions,
            rates(&one),
            rates(&many)
        );
    }
    if "ptoxide".contains(&filter) {
        println!();
        println!("{:<22} {:>14} {:>14} {:>14}", "1 thread, same PTX", "ptoxide", "scoped-gpu", "ratio");
        for (name, run) in versus::KERNELS {
            let pair = on_threads(1, || run(&device))?;
            let ratio = pair.theirs.median.as_secs_f64() / pair.ours.median.as_secs_f64();
            let floor = floor(ratio, Some(30.0), "×");
            println!(
                "{name:<22} {:>14} {:>14} {ratio:>13.1}×{floor}",
                millis(pair.theirs.median),
                millis(pair.ours.median)
            );
        }
    }
    if "parse".contains(&filter) {
        println!();
        println!("{:<22} {:>14} {:>22}", "reading PTX", "bytes", "MB/s");
        let text = include_str!("../../tests/corpus/nvcc/common_sm80.ptx");
        let source = scoped_gpu::ptx::source::Source::new("common_sm80.ptx", text)?;
        let parsed = Sample::of(|| scoped_gpu::ptx::parse(&source).map(drop).map_err(Into::into))?;
        let loaded =
            Sample::of(|| LoadedPtx::read("common_sm80.ptx", text).map(drop).map_err(anyhow::Error::msg))?;
        for (name, sample, floor_at) in
            [("parse", parsed, Some(PARSE_FLOOR)), ("parse, lower, verify", loaded, None)]
        {
            let speed = |time: Duration| text.len() as f64 / time.as_secs_f64() / 1e6;
            let (median, best) = (speed(sample.median), speed(sample.best));
            let floor = floor(median, floor_at, "MB/s");
            println!("{name:<22} {:>14} {:>22}{floor}", text.len(), format!("{median:.1} ({best:.1})"));
        }
    }
    Ok(())
}

/// Runs `work` where the host device sees `threads` threads.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    ThreadPoolBuilder::new().num_threads(threads).build()?.install(work)
}

/// Thread-instructions per nanosecond, which is 10⁹ per second.
fn rate(measured: &Measured) -> f64 {
    measured.instructions as f64 / measured.time.median.as_nanos() as f64
}

fn rates(measured: &Measured) -> String {
    let best = measured.instructions as f64 / measured.time.best.as_nanos() as f64;
    format!("{:.2} ({best:.2})", rate(measured))
}

fn millis(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// What to say about a value and the floor it has.
fn floor(value: f64, floor: Option<f64>, unit: &str) -> String {
    match floor {
        Some(floor) if value < floor => format!("  BELOW the floor of {floor} {unit}"),
        Some(floor) => format!("  floor {floor} {unit}"),
        None => String::new(),
    }
}
