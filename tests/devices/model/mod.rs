//! Random programs over everything that a scope hands out, compared with a plain model of memory and life times after
//! each operation. A failure prints the seed and the smallest program that still fails; `SCOPED_GPU_SEED` runs that seed
//! alone, `SCOPED_GPU_OPERATIONS` says how many operations to run on each kind of device.

mod arrays;
mod blocks;
mod handles;
mod machine;
mod program;
mod state;
mod transfers;
mod work;

use anyhow::{Context as _, Result, bail, ensure};
use scoped_gpu::Device;

use self::machine::{Figures, Machine, Stop, run};
use self::program::Program;
use self::state::Mistake;
use crate::harness::{Case, Chapter, Kind, Test, test};

/// Operations on each kind of device, unless `SCOPED_GPU_OPERATIONS` asks for more.
const OPERATIONS: u64 = 10_000;

/// Programs that are tried to make a failing one smaller.
const TRIES: usize = 2000;

/// A device for one program: of this kind, hostile in the way of this seed, and failing where the program says so.
fn device(case: &Case, seed: u64, program: &Program) -> Result<Device> {
    if !case.is_host() {
        return Ok(case.another()?);
    }
    let mut options = case.host_options();
    if case.kind == Kind::Hostile {
        options = options.hostile(seed);
    }
    if let Some((k, failure)) = program.failure {
        options = options.fail_call(k, failure);
    }
    Ok(Device::host_with(options))
}

/// A number from the environment, in decimal or with `0x`.
fn number(name: &str) -> Result<Option<u64>> {
    let Ok(text) = std::env::var(name) else { return Ok(None) };
    let read = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    read.map(Some).with_context(|| format!("{name} is `{text}`"))
}

/// Runs the program of a seed; a failure comes with the smallest program that fails too.
fn one(case: &Case, seed: u64, mistake: Option<Mistake>) -> Result<Figures> {
    let program = Program::random(seed, case.is_host(), case.kind == Kind::Strict);
    let once = |program: &Program| match device(case, seed, program) {
        Ok(device) => run(program, device, mistake),
        Err(error) => Err(error.to_string()),
    };
    let first = match once(&program) {
        Ok(figures) => return Ok(figures),
        Err(first) => first,
    };
    let size = program.size();
    let smallest = program.shrunk(TRIES, |smaller| once(smaller).is_err());
    let why = once(&smallest).err().unwrap_or_else(|| "does not repeat".to_owned());
    bail!(
        "SCOPED_GPU_SEED={seed:#x}: {first}\nof {size} operations these are left: {why}\n{smallest}(end of {})",
        smallest.size()
    )
}

/// Device and model agree on random programs.
fn random_programs(case: &mut Case) -> Result<()> {
    if let Some(seed) = number("SCOPED_GPU_SEED")? {
        one(case, seed, None)?;
        return Ok(());
    }
    let wanted = number("SCOPED_GPU_OPERATIONS")?.unwrap_or(OPERATIONS);
    let mut all = Figures::default();
    let mut programs = 0;
    while all.operations < wanted {
        let figures = one(case, programs, None)?;
        all.operations += figures.operations;
        all.failed += figures.failed;
        all.faults += figures.faults;
        programs += 1;
    }
    println!("{programs} programs: {all:?}");
    ensure!(all.faults > 0 && (!case.is_host() || all.failed > 0), "nothing went wrong in any: {all:?}");
    Ok(())
}

/// The same with a scope on each of several threads, all on one device.
fn random_programs_on_threads(case: &mut Case) -> Result<()> {
    const THREADS: u64 = 4;
    let device = &case.device;
    let strict = case.kind == Kind::Strict;
    let work = |thread: u64| -> Result<u64> {
        let mut operations = 0;
        for seed in (0..).map(|n| n * THREADS + thread) {
            for (_, ops) in Program::random(seed, false, strict).scopes {
                let mut machine = Machine { alone: false, ..Machine::new(device) };
                if let Err(stop @ (Stop::Gpu(_) | Stop::Wrong(_))) = machine.scope(&ops) {
                    bail!("thread {thread}, program {seed:#x}: {stop:?}");
                }
                operations += machine.operations;
            }
            if operations >= OPERATIONS / THREADS {
                break;
            }
        }
        Ok(operations)
    };
    std::thread::scope(|threads| {
        let spawned: Vec<_> = (0..THREADS).map(|thread| threads.spawn(move || work(thread))).collect();
        spawned.into_iter().try_for_each(|thread| thread.join().expect("the threads do not panic").map(drop))
    })?;
    case.expected_cleanup();
    Ok(())
}

/// A model that is wrong about one thing is found out soon, with a program of a few operations.
fn a_wrong_model_is_noticed(case: &mut Case) -> Result<()> {
    for mistake in Mistake::ALL {
        let found = (0..500).find_map(|seed| one(case, seed, Some(mistake)).err());
        let Some(error) = found else { bail!("{mistake:?}: not noticed in 500 programs") };
        let text = error.to_string();
        let left = text.rsplit("(end of ").next().and_then(|rest| rest.trim_end_matches(')').parse().ok());
        ensure!(left.is_some_and(|left: usize| left <= 8), "{mistake:?} is not made small: {text}");
    }
    Ok(())
}

const TESTS: &[Test] = &[
    test!(random_programs).resets(),
    test!(random_programs_on_threads).shows(&[18]),
    test!(a_wrong_model_is_noticed).resets(),
];

pub const CHAPTER: Chapter = Chapter { name: "model", tests: TESTS };
