//! What the scopes cost on a CUDA device: opening one, launching, copying, allocating, each beside the same work without
//! this crate, in one run. `cargo bench --features cuda --bench cuda` prints the table, and marks what misses its floor.
//!
//! Two measurements take turns, round after round, so that a machine that grows slower is slow for both. Where memory lies
//! makes one process differ from the next by some hundredths, for both sides; so what has a floor is opened anew several
//! times, each with streams and memory of its own. What is compared are medians of all rounds.

mod raw;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use scoped_gpu::{
    Context, Device, Element, Kernel, Launch, Linear, Read, Stream, Write, kernels, uninit, zeros,
};

use crate::raw::Raw;

type Add = (Read<f32>, Read<f32>, Write<f32>, u32);

/// Rounds of each pair, and openings with so many rounds each.
const ROUNDS: usize = 201;
const OPENINGS: usize = 41;
const ROUNDS_EACH: usize = 15;
/// Launches in a round: fewer than the driver queues before it blocks.
const LAUNCHES: u32 = 500;

/// Most that a launch may cost of one through `cust`, and a copy of one through the driver itself.
const LAUNCH_FLOOR: f64 = 1.05;
const COPY_FLOOR: f64 = 1.02;

fn main() -> Result<()> {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => {
            println!("no CUDA device, nothing measured: {error}");
            return Ok(());
        }
    };
    println!("{device}; medians");
    println!();
    println!("{:<50} {:>12} {:>12} {:>8}", "", "scoped-gpu", "peer", "ratio");
    // Cargo passes `--bench`; a filter in the usual place chooses parts by their name.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let parts: [(&str, Part); 5] = [
        ("scopes", scopes),
        ("launches", launches),
        ("copies", copies),
        ("pageable", pageable),
        ("allocations", allocations),
    ];
    for (_, part) in parts.iter().filter(|(name, _)| name.contains(&filter)) {
        part(&device)?;
    }
    Ok(())
}

/// A part of the table.
type Part = fn(&Device) -> Result<()>;

/// Prints a line of the table.
fn line(name: &str, ours: Duration, theirs: Option<Duration>, floor: Option<f64>) {
    let micros = |time: Duration| format!("{:.2} µs", time.as_secs_f64() * 1e6);
    let Some(theirs) = theirs else {
        println!("{name:<50} {:>12}", micros(ours));
        return;
    };
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let verdict = match floor {
        Some(floor) if ratio > floor => format!("  ABOVE {floor}"),
        Some(floor) => format!("  (at most {floor})"),
        None => String::new(),
    };
    println!("{name:<50} {:>12} {:>12} {ratio:>8.3}{verdict}", micros(ours), micros(theirs));
}

/// The rounds of two measurements.
#[derive(Default)]
struct Rounds {
    ours: Vec<Duration>,
    theirs: Vec<Duration>,
}

impl Rounds {
    fn extend(&mut self, more: Self) {
        self.ours.extend(more.ours);
        self.theirs.extend(more.theirs);
    }

    fn medians(self) -> (Duration, Duration) {
        (median(self.ours), median(self.theirs))
    }
}

/// `rounds` calls of each, taking turns; who comes first takes turns as well.
fn turns(
    rounds: usize,
    mut ours: impl FnMut() -> Result<Duration>,
    mut theirs: impl FnMut() -> Result<Duration>,
) -> Result<Rounds> {
    for _ in 0..3 {
        ours()?;
        theirs()?;
    }
    let mut all = Rounds::default();
    for round in 0..rounds {
        if round % 2 == 0 {
            all.ours.push(ours()?);
        }
        all.theirs.push(theirs()?);
        if round % 2 != 0 {
            all.ours.push(ours()?);
        }
    }
    Ok(all)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// A scope on a device that is warm, with nothing in it, and one array.
fn scopes(device: &Device) -> Result<()> {
    let empty = || timed(|| device.scope(|_| anyhow::Ok(())));
    let one =
        || timed(|| device.scope(|ctx| Ok(ctx.alloc((uninit::<f32>(1 << 18),), |_| scoped_gpu::ok(()))?)));
    let (empty, one) = turns(ROUNDS, empty, one)?.medians();
    line("scope, open and close", empty, None, None);
    line("scope with one array of 1 MiB", one, None, None);
    Ok(())
}

/// Queueing a launch of a kernel with four parameters that ends at once; waiting is not timed.
fn launches(device: &Device) -> Result<()> {
    let mut all = Rounds::default();
    for _ in 0..OPENINGS {
        all.extend(launch_rounds(device)?);
    }
    let (ours, theirs) = all.medians();
    line("launch, queueing; peer: cust's launch!", ours, Some(theirs), Some(LAUNCH_FLOOR));
    Ok(())
}

fn launch_rounds(device: &Device) -> Result<Rounds> {
    device.scope(|ctx| {
        let raw = Raw::open()?;
        let add: Kernel<'_, Add> = ctx.module(kernels::ADD)?.kernel("add")?;
        ctx.alloc((zeros::<f32>(32), zeros::<f32>(32), zeros::<f32>(32)), |(a, b, mut c)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                let ours = || {
                    let time = timed(|| {
                        for _ in 0..LAUNCHES {
                            launch(&stream, &add, &a, &b, &mut c)?;
                        }
                        Ok(())
                    })?;
                    stream.synchronize()?;
                    Ok(time / LAUNCHES)
                };
                let theirs = || {
                    let time = timed(|| raw.launches(LAUNCHES))?;
                    raw.synchronize()?;
                    Ok(time / LAUNCHES)
                };
                turns(ROUNDS_EACH, ours, theirs)
            })
        })
    })
}

fn launch<'ctx>(
    stream: &Stream<'_, '_, 'ctx>,
    add: &Kernel<'ctx, Add>,
    a: &Linear<'_, 'ctx, f32>,
    b: &Linear<'_, 'ctx, f32>,
    c: &mut Linear<'_, 'ctx, f32>,
) -> Result<()> {
    // SAFETY: the kernel compares its index with the length, which is 32, as long as the arrays are.
    Ok(unsafe { stream.launch_unchecked(add, Launch::grid(1, 32), (a, b, c, 32)) }?)
}

/// Copies between page-locked memory and the device, queued in a row and waited for. Of integers that may be indices, an
/// upload finds the range as well.
fn copies(device: &Device) -> Result<()> {
    for (bytes, copies) in [(4_usize << 10, 200_u32), (1 << 20, 50), (64 << 20, 5)] {
        let openings = if bytes <= 1 << 20 { OPENINGS } else { 1 };
        let (to, back) = copies_of::<u8>(device, bytes, copies, openings)?;
        let name = |way: &str| format!("copy {way}, {} KiB, queued; peer: the driver", bytes >> 10);
        line(&name("to the device"), to.0, Some(to.1), Some(COPY_FLOOR));
        line(&name("to the host"), back.0, Some(back.1), Some(COPY_FLOOR));
        let (to, _) = copies_of::<u32>(device, bytes, copies, 1)?;
        line(&name("of u32 to the device"), to.0, Some(to.1), None);
    }
    Ok(())
}

type Pair = (Duration, Duration);

fn copies_of<T: Element + From<u8>>(
    device: &Device,
    bytes: usize,
    copies: u32,
    openings: usize,
) -> Result<(Pair, Pair)> {
    let len = bytes / size_of::<T>();
    let (mut to, mut back) = (Rounds::default(), Rounds::default());
    for _ in 0..openings {
        let rounds = device.scope(|ctx| {
            let raw = Raw::open()?;
            let their_host = raw.pinned(bytes * copies as usize)?;
            let their_device = raw.allocate(bytes)?;
            let rounds = ctx.pinned(len * copies as usize, |mut host: scoped_gpu::Pinned<T>| {
                for (index, element) in host.iter_mut().enumerate() {
                    *element = T::from((index * 31 % 251) as u8);
                }
                ctx.alloc_linear(len, |mut array: Linear<T>| {
                    copy_rounds(ctx, &raw, &mut host, &mut array, copies, (their_host, their_device))
                })
            })?;
            raw.free(their_host, their_device)?;
            anyhow::Ok(rounds)
        })?;
        to.extend(rounds.0);
        back.extend(rounds.1);
    }
    Ok((to.medians(), back.medians()))
}

fn copy_rounds<'ctx, T: Element>(
    ctx: &Context<'ctx>,
    raw: &Raw,
    pieces: &mut [T],
    array: &mut Linear<'_, 'ctx, T>,
    copies: u32,
    theirs: (*mut u8, u64),
) -> Result<(Rounds, Rounds)> {
    let (len, bytes) = (array.len(), array.len() * size_of::<T>());
    let (their_host, their_device) = theirs;
    let to = turns(
        ROUNDS_EACH,
        || {
            ctx.streams(|s| {
                let stream = s.stream()?;
                let time = timed(|| {
                    for _ in 0..copies {
                        stream.copy_from_host(array, &pieces[..len])?;
                    }
                    Ok(stream.synchronize()?)
                })?;
                Ok(time / copies)
            })
        },
        || Ok(timed(|| raw.copies_to_device(their_device, their_host, bytes, copies))? / copies),
    )?;
    let back = turns(
        ROUNDS_EACH,
        || {
            ctx.streams(|s| {
                let stream = s.stream()?;
                let time = timed(|| {
                    // each queued copy borrows memory of its own until the streams join
                    for piece in pieces.chunks_exact_mut(len) {
                        drop(stream.copy_to_host(&*array, piece)?);
                    }
                    Ok(stream.synchronize()?)
                })?;
                Ok(time / copies)
            })
        },
        || Ok(timed(|| raw.copies_to_host(their_host, their_device, bytes, copies))? / copies),
    )?;
    Ok((to, back))
}

/// Copies that are waited for, between ordinary memory and the device; from 16 MiB on by way of page-locked blocks.
fn pageable(device: &Device) -> Result<()> {
    for bytes in [4_usize << 10, 1 << 20, 64 << 20, 512 << 20] {
        let mut host: Vec<u8> = (0..bytes).map(|index| (index * 31 % 251) as u8).collect();
        let mut theirs = host.clone();
        let rounds = if bytes > 64 << 20 { 11 } else { 51 };
        let copies = ((4 << 20) / bytes).clamp(1, 100) as u32;
        let each = |copy: &mut dyn FnMut() -> Result<()>| {
            Ok(timed(|| (0..copies).try_for_each(|_| copy()))? / copies)
        };
        let (to, back) = device.scope(|ctx| {
            let raw = Raw::open()?;
            let their_device = raw.allocate(bytes)?;
            let rounds = ctx.alloc_linear(bytes, |mut array: Linear<u8>| {
                let to = turns(
                    rounds,
                    || each(&mut || Ok(array.copy_from_host(&host)?)),
                    || {
                        // `cuMemcpy` may return before the device has the bytes; our copy has arrived when it returns
                        each(&mut || {
                            raw.copy_to_device(their_device, &theirs)?;
                            raw.settle()
                        })
                    },
                )?;
                let back = turns(
                    rounds,
                    || each(&mut || Ok(array.copy_to_host(&mut host)?)),
                    || each(&mut || raw.copy_to_host(&mut theirs, their_device)),
                )?;
                anyhow::Ok((to.medians(), back.medians()))
            })?;
            raw.release(their_device)?;
            anyhow::Ok(rounds)
        })?;
        ensure!(host == theirs, "the copies differ");
        let name = |way: &str| format!("pageable copy {way}, {} KiB; peer: cuMemcpy", bytes >> 10);
        line(&name("to the device, arrived"), to.0, Some(to.1), None);
        line(&name("to the host"), back.0, Some(back.1), None);
    }
    Ok(())
}

/// Memory for a moment: the pool against the driver.
fn allocations(device: &Device) -> Result<()> {
    for bytes in [4_usize << 10, 1 << 20, 64 << 20] {
        let (ours, theirs) = device.scope(|ctx| {
            let raw = Raw::open()?;
            let rounds = turns(
                ROUNDS,
                || timed(|| Ok(ctx.alloc((uninit::<u8>(bytes),), |_| scoped_gpu::ok(()))?)),
                || timed(|| raw.allocate_and_free(bytes)),
            )?;
            anyhow::Ok(rounds.medians())
        })?;
        let name = format!("array of {} KiB, made and freed; peer: cuMemAlloc", bytes >> 10);
        line(&name, ours, Some(theirs), None);
    }
    Ok(())
}

/// The error of a driver call.
fn checked(what: &'static str, code: cust::sys::CUresult) -> Result<()> {
    ensure!(code == cust::sys::CUresult::CUDA_SUCCESS, "{what} answered {code:?}");
    Ok(())
}
