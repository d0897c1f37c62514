//! One program with its first, second, third … call failing, once or from then on, and what must hold each time: the
//! right result or an error that blames the right call at the right line, nothing left behind that a call did not
//! refuse to take back, and a device that works.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use scoped_gpu::{Device, Error, ErrorKind, Failure, HostOptions, Probe};

use crate::programs::Program;

/// How the device fails, and in which order it works.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    pub failure: Failure,
    pub seed: Option<u64>,
}

/// What a sweep met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Calls that the program makes where none fails.
    pub calls: u64,
    /// Calls that were made to fail, over all runs.
    pub injected: u64,
}

/// Runs the program once for each call that it makes.
pub fn sweep(program: &Program, mode: Mode) -> Result<Count> {
    let (mut device, probe) = open(mode);
    let expected = (program.run)(&mut device).context("without a failure")?;
    let calls = probe.statistics().calls;
    let mut count = Count { calls, injected: 0 };
    for k in 1..=calls {
        let met = one(program, mode, k, &expected);
        count.injected += met.with_context(|| format!("{}, {mode:?}, call {k} of {calls}", program.name))?;
    }
    Ok(count)
}

fn open(mode: Mode) -> (Device, Probe) {
    let probe = Probe::default();
    let options = HostOptions::new().memory_limit(1 << 20).probe(&probe);
    (Device::host_with(mode.seed.into_iter().fold(options, HostOptions::hostile)), probe)
}

/// Runs the program with its `k`-th call failing; how many calls failed.
fn one(program: &Program, mode: Mode, k: u64, expected: &[u32]) -> Result<u64> {
    let (mut device, probe) = open(mode);
    probe.fail_call(k, mode.failure);
    let answer = (program.run)(&mut device);
    let failed = probe.failed();
    ensure!(!failed.is_empty(), "the call was not made");
    match &answer {
        // A step that failed may have another way.
        Ok(result) => ensure!(result == expected, "a wrong result after {failed:?}: {result:?}"),
        Err(error) => {
            let error =
                error.downcast_ref::<Error>().with_context(|| format!("not the device's: {error:?}"))?;
            blames(program, error, &failed)?;
        }
    }
    if let Some(cleanup) = device.last_cleanup() {
        blames(program, &cleanup, &failed)?;
    }
    left_nothing(program, &device, &probe, &failed)?;

    probe.fail_call(0, mode.failure);
    let again = (program.run)(&mut device).context("the next time")?;
    ensure!(again == expected, "the next time: {again:?}");
    ensure!(device.last_cleanup().is_none(), "the next time: {:?}", device.last_cleanup());
    ensure!(probe.failed().len() == failed.len());
    device.reset()?;
    ensure!(held(&probe).is_empty(), "after a reset: {:?}", probe.statistics());
    Ok(failed.len() as u64)
}

/// The error, and each that came with it, names a call that failed, at a line of the program that needs this call.
fn blames(program: &Program, error: &Error, failed: &[&str]) -> Result<()> {
    let ErrorKind::Driver { call, code: 999, .. } = error.kind() else {
        anyhow::bail!("not what failed: {error:?}, after {failed:?}")
    };
    ensure!(failed.contains(call), "{call} is blamed, but these failed: {failed:?}");
    let place = error.location();
    ensure!(place.file().ends_with(program.file), "blamed on another file: {error:?}");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(place.file()))?;
    let lines = lines_of(program, &text);
    ensure!(lines.contains(&place.line()), "blamed on another program: {error:?}, which has {lines:?}");
    let line = text.lines().nth(place.line() as usize - 1).unwrap_or_default();
    let verb = line.get(place.column() as usize - 1..).unwrap_or_default();
    let verb = verb.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    ensure!(needs(verb, call), "{call} is blamed on `{verb}`, which does not need it: {error:?}");
    error.also().iter().try_for_each(|later| blames(program, later, failed))
}

/// The lines of the program's function, or of the whole file where it is that of an example.
fn lines_of(program: &Program, text: &str) -> RangeInclusive<u32> {
    let own = format!("fn {}(", program.name);
    let begin = text.lines().position(|line| line.starts_with(&own)).unwrap_or(0);
    let length = text.lines().skip(begin).position(|line| line == "}").filter(|_| begin > 0);
    let end = length.map_or(text.lines().count(), |length| begin + length);
    begin as u32 + 1..=end as u32 + 1
}

/// Whether a program that does `verb` needs this call of the device, by itself or at its end.
fn needs(verb: &str, call: &str) -> bool {
    let allocates = matches!(verb, "alloc" | "alloc_each" | "alloc_linear" | "buffer");
    let copies = matches!(verb, "copy_from_host" | "copy_to_host" | "copy_from" | "to_vec");
    let queues = copies || allocates || matches!(verb, "fill" | "launch");
    match call {
        "make_current" => true,
        "create_stream" => matches!(verb, "scope" | "stream"),
        "destroy_stream" => matches!(verb, "scope" | "streams"),
        "load" => matches!(verb, "module" | "module_named"),
        "unload" => verb == "scope",
        "allocate" | "free" => allocates,
        "allocate_pinned" | "free_pinned" => verb == "pinned",
        // New arrays are filled with zeros, or with what the host brings.
        "fill" => allocates || verb == "fill",
        "copy" => copies || allocates,
        "launch" => verb == "launch",
        // One stream follows another; and what is freed waits for who used it.
        "record" | "wait_on" | "wait_mark" | "destroy_mark" => {
            queues || matches!(verb, "record" | "wait_for" | "wait")
        }
        "wait_stream" => copies || allocates || matches!(verb, "synchronize" | "wait" | "streams" | "scope"),
        _ => false,
    }
}

/// What the device holds by the call that would have given it back.
fn held(probe: &Probe) -> BTreeMap<&'static str, usize> {
    let held = probe.statistics();
    let all = [
        ("free", held.allocations),
        ("free_pinned", held.pinned),
        ("destroy_stream", held.streams),
        ("destroy_mark", held.marks),
        ("unload", held.modules),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// The library holds nothing, and the device only what it was asked to take back and did not: each thing was tried once.
fn left_nothing(program: &Program, device: &Device, probe: &Probe, failed: &[&str]) -> Result<()> {
    let memory = device.memory();
    ensure!(memory.live == 0 && memory.count == 0, "still counted: {memory:?}");
    ensure!(memory.allocated == memory.freed, "allocations and frees differ: {memory:?}");
    let mut refused = BTreeMap::new();
    for call in failed {
        if matches!(*call, "free" | "free_pinned" | "destroy_stream" | "destroy_mark" | "unload") {
            *refused.entry(*call).or_default() += 1;
        }
    }
    if program.resets {
        let more =
            held(probe).into_iter().find(|(call, count)| refused.get(call).is_none_or(|most| count > most));
        ensure!(more.is_none(), "left: {more:?}, though only {refused:?} failed");
    } else {
        ensure!(held(probe) == refused, "left: {:?}, though {refused:?} failed", held(probe));
    }
    Ok(())
}
