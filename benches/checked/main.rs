//! What checking costs on a GPU: 14 kernels of nvcc's at the shapes of a numeric program, each unchecked, with every
//! access checked, and as `launch` runs it, in one run. `cargo bench --features cuda --bench checked`.
//!
//! Times are the GPU's, between two events around several launches; the three take turns, round after round, and medians
//! are compared. Inputs are random. The last column says how many launches' worth of analysis a new shape costs.
//!
//! `SCOPED_GPU_ROUNDS=1` measures once: enough under a tool that makes kernels a hundred times as slow.

mod kernels;
#[path = "../../tests/reference/random.rs"]
#[expect(dead_code, reason = "the tests' generator; a benchmark needs a part of it")]
mod random;

use std::time::Instant;

use anyhow::Result;
use scoped_gpu::{Context, Device, Error, Stream};

/// Rounds in which the three ways take turns if the environment does not say, and launches between two events.
const ROUNDS: usize = 21;
const LAUNCHES: usize = 3;

/// Most that `launch` may cost of an unchecked launch: on the geometric mean, and of any kernel; and with every access
/// checked.
const MEAN_FLOOR: f64 = 1.02;
const WORST_FLOOR: f64 = 1.05;
const CHECKED_FLOOR: f64 = 1.20;

/// How a kernel is launched.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    Unchecked,
    AllChecked,
    AsLaunched,
}

/// Milliseconds of one launch, each way.
pub(crate) struct Measured {
    unchecked: f64,
    all_checked: f64,
    as_launched: f64,
    /// Microseconds of the host that the first launch of a shape took more than a later one.
    first: f64,
}

fn main() -> Result<()> {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => {
            println!("no CUDA device, nothing measured: {error}");
            return Ok(());
        }
    };
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    println!("{device}; medians of {} rounds", rounds());
    println!();
    println!(
        "{:<14} {:>12} {:>12} {:>12} {:>20}",
        "kernel", "unchecked", "all checked", "launch", "first launch, host"
    );
    let (mut all_checked, mut as_launched) = (Vec::new(), Vec::new());
    for (name, measure) in kernels::KERNELS.iter().filter(|(name, _)| name.contains(&filter)) {
        let measured = device.scope(measure)?;
        let (checked, launched) =
            (measured.all_checked / measured.unchecked, measured.as_launched / measured.unchecked);
        let verdict = if launched > WORST_FLOOR { format!("  ABOVE {WORST_FLOOR}") } else { String::new() };
        println!(
            "{name:<14} {:>9.3} ms {checked:>12.3} {launched:>12.3} {:>17.0} µs{verdict}",
            measured.unchecked, measured.first
        );
        all_checked.push(checked);
        as_launched.push(launched);
    }
    let (checked, launched) = (geometric_mean(&all_checked), geometric_mean(&as_launched));
    let mark = |value: f64, floor: f64| {
        if value > floor { format!(" ABOVE {floor}") } else { format!(" (at most {floor})") }
    };
    println!();
    println!(
        "geometric mean: all checked {checked:.3}{}, launch {launched:.3}{}",
        mark(checked, CHECKED_FLOOR),
        mark(launched, MEAN_FLOOR)
    );
    Ok(())
}

fn rounds() -> usize {
    std::env::var("SCOPED_GPU_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS).max(1)
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp()
}

/// Queues a launch of `$kernel` on `$stream` in one of the ways.
macro_rules! launch {
    ($stream:ident, $way:ident, $kernel:expr, $launch:expr, $arguments:expr) => {
        match $way {
            // SAFETY: the same launch passes with every access checked, which `measure` does first.
            $crate::Way::Unchecked => unsafe { $stream.launch_unchecked(&$kernel, $launch, $arguments) },
            $crate::Way::AllChecked => $stream.launch(&$kernel, $launch.check_all(), $arguments),
            $crate::Way::AsLaunched => $stream.launch(&$kernel, $launch, $arguments),
        }
    };
}
pub(crate) use launch;

/// Measures launches that `run` queues, each of which stays in its buffers.
fn measure<'ctx>(
    ctx: &Context<'ctx>,
    mut run: impl FnMut(&Stream<'_, '_, 'ctx>, Way) -> Result<(), Error>,
) -> Result<Measured> {
    ctx.streams(|s| {
        let stream = s.stream()?;
        let mut queue = |way: Way| run(&stream, way);
        queue(Way::AllChecked)?;
        stream.synchronize()?;
        let mut host = |way| -> Result<f64> {
            let start = Instant::now();
            queue(way)?;
            let micros = start.elapsed().as_secs_f64() * 1e6;
            stream.synchronize()?;
            Ok(micros)
        };
        let first = host(Way::AsLaunched)? - host(Way::AsLaunched)?;
        let mut times = [const { Vec::new() }; 3];
        for round in 0..=rounds() {
            for (times, way) in times.iter_mut().zip([Way::Unchecked, Way::AllChecked, Way::AsLaunched]) {
                let begin = stream.record()?;
                for _ in 0..LAUNCHES {
                    queue(way)?;
                }
                let end = stream.record()?;
                stream.synchronize()?;
                // the first round warms up
                if round > 0 {
                    times.push(f64::from(begin.elapsed_ms(&end)?) / LAUNCHES as f64);
                }
            }
        }
        let [unchecked, all_checked, as_launched] = times.map(median);
        Ok(Measured { unchecked, all_checked, as_launched, first })
    })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}
