//! The cases of `tests/opcodes/tables` on both devices: with the inputs of the table, and, where a case is a function of
//! its registers alone, with random ones. The format and the kernel around a case are the test suite's own.

use std::rc::Rc;

use anyhow::Result;
use scoped_gpu::Device;

use crate::both;
use crate::driver::Gpu;
use crate::format::{Case, Tolerance};
use crate::job::Job;
use crate::kernel;
use crate::random::Random;
use crate::report::{Outcome, Report, Verdict};
use crate::values::{Type, Value, agrees, show, show_expected};

/// Rows of random inputs for one case: blocks of so many threads.
const THREADS: usize = 256;
const BLOCKS: usize = 32;

/// Words in a body that make it more than a function of its registers, or that a random register may send astray.
const NOT_A_FUNCTION: &[&str] = &[
    "mem",
    "bra",
    "brx",
    "call",
    "trap",
    "ld",
    "st",
    "atom",
    "red",
    "bar",
    "barrier",
    "shfl",
    "vote",
    "match",
    "redux",
    "cp",
    "mma",
    "wmma",
    "ldmatrix",
    "stmatrix",
    "movmatrix",
    "mbarrier",
    "exit",
    "ret",
    "activemask",
    "elect",
    "clock",
    "globaltimer",
    "nanosleep",
    "prefetch",
    "discard",
    "createpolicy",
    "isspacep",
    "cvta",
    "index",
    "fence",
    "membar",
    "smid",
    "warpid",
    "tid",
    "laneid",
];

/// Runs every case of a table that a GPU survives.
pub fn run(report: &mut Report, host: &Device, gpu: &mut Gpu, name: &str, cases: &[Case]) -> Result<()> {
    let mut random = Random::new(0x2026_1202);
    // What a fault leaves of a context differs, and no GPU here has targets above its own.
    for case in cases.iter().filter(|case| case.fault.is_none() && !case.target.starts_with("sm_1")) {
        let mut outcome = Outcome::default();
        compare(&mut outcome, host, gpu, case, true)?;
        report.add(&format!("{name}, table"), &case.name, outcome);
        if is_function(case) {
            let mut outcome = Outcome::default();
            compare(&mut outcome, host, gpu, &with_random_inputs(case, &mut random), false)?;
            report.add(&format!("{name}, random"), &case.name, outcome);
        }
    }
    Ok(())
}

/// Whether any input will do, and results depend on nothing else.
fn is_function(case: &Case) -> bool {
    let words =
        case.body.iter().flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
    let mut words = words.filter(|word| !word.is_empty());
    case.module.is_empty() && !case.inputs.is_empty() && words.all(|word| !NOT_A_FUNCTION.contains(&word))
}

fn with_random_inputs(case: &Case, random: &mut Random) -> Case {
    let mut case = case.clone();
    (case.threads, case.blocks) = (THREADS, BLOCKS);
    let rows = case.all_threads();
    let column = |ty| (0..rows).map(|_| Value::Bits(random_bits(ty, random))).collect();
    case.given = case.inputs.iter().map(|register| register.ty).map(column).collect();
    case.expected = vec![Vec::new(); case.outputs.len()];
    case
}

/// Half of the values are the edges of the type, the others random bits or, for floats, of ordinary size.
fn random_bits(ty: Type, random: &mut Random) -> u64 {
    let float = |fraction: u32, exponent: u32, random: &mut Random| {
        let (sign, one) = (1_u64 << (fraction + exponent), ((1_u64 << (exponent - 1)) - 1) << fraction);
        let infinity = ((1_u64 << exponent) - 1) << fraction;
        let normal = 1 << fraction;
        let edges = [
            0,
            1,
            normal - 1,
            normal,
            normal + 1,
            normal / 2,
            one,
            one + 1,
            one - 1,
            one + normal,
            one + normal / 2,
            one - normal,
            infinity - 1,
            infinity,
            infinity + 1,
            infinity + normal / 2,
            infinity + normal - 1,
            one + 31 * normal.min(one / 64),
            one + (fraction as u64) * normal,
            one + (fraction as u64 + 1) * normal + 1,
        ];
        let sign = if random.below(2) == 0 { 0 } else { sign };
        match random.below(4) {
            0 | 1 => sign | edges[random.below(edges.len() as u64) as usize],
            2 => random.bits() >> (63 - fraction - exponent),
            _ => {
                let near = one - 8 * normal.min(one / 16) + random.below(16) * normal.min(one / 16);
                sign | (near & infinity) | (random.bits() & (normal - 1))
            }
        }
    };
    match ty {
        Type::Pred => random.below(2),
        Type::F16 => float(10, 5, random),
        Type::Bf16 => float(7, 8, random),
        Type::F32 => float(23, 8, random),
        Type::F64 => float(52, 11, random),
        Type::F16x2 => float(10, 5, random) | float(10, 5, random) << 16,
        Type::Bf16x2 => float(7, 8, random) | float(7, 8, random) << 16,
        Type::Bits(width) => {
            let mask = u64::MAX >> (64 - width);
            let edges = [
                0,
                1,
                2,
                3,
                7,
                8,
                16,
                31,
                32,
                33,
                63,
                64,
                65,
                255,
                256,
                mask,
                mask - 1,
                mask / 2,
                mask / 2 + 1,
            ];
            mask & match random.below(4) {
                0 => edges[random.below(edges.len() as u64) as usize],
                1 => 1 << random.below(u64::from(width)),
                // As many bits as any number.
                2 => random.bits() >> random.below(64),
                _ => random.bits(),
            }
        }
    }
}

/// Runs a case on both devices and compares; `table` says whether its expected values go with its inputs.
fn compare(outcome: &mut Outcome, host: &Device, gpu: &mut Gpu, case: &Case, table: bool) -> Result<()> {
    let job = job(case);
    let Some([on_host, on_gpu]) = both::run(outcome, host, gpu, &job)? else { return Ok(()) };
    let (Some(ours), Some(theirs)) = (on_host.first(), on_gpu.first()) else { return Ok(()) };
    let threads = case.all_threads();
    // The manual bounds errors in a part of the domain only, which random bits leave.
    let approximate = case.body.iter().any(|line| line.contains(".approx") || line.contains(".full"));
    for (index, register) in case.outputs.iter().enumerate() {
        for thread in 0..threads {
            let expected = case.expected.get(index).and_then(|column| column.get(thread)).copied();
            let at = index * threads + thread;
            let (ours, theirs) = (word(ours, at, 8), word(theirs, at, 8));
            let open = expected == Some(Value::Any) || !table && approximate;
            let words = || {
                let ty = register.ty;
                let (name, inputs) = (&register.name, inputs(case, thread));
                let open = if open { " (open)" } else { "" };
                format!("{inputs}-> {name}: host {}, GPU {}{open}", show(ty, ours), show(ty, theirs))
            };
            outcome.count(verdict(register.ty, ours, theirs, case.tolerance, open), words);
            if let Some(expected) = expected.filter(|_| table)
                && !agrees(register.ty, expected, theirs, case.tolerance)
            {
                outcome
                    .contradicts(|| format!("{}; table {}", words(), show_expected(register.ty, expected)));
            }
        }
    }
    let (Some(ours), Some(theirs)) = (on_host.get(1), on_gpu.get(1)) else { return Ok(()) };
    for (at, expected) in case.memory_after.iter().flatten().enumerate().filter(|_| table) {
        let ty = Type::Bits(32);
        let (ours, theirs) = (word(ours, at, 4), word(theirs, at, 4));
        let words = || format!("memory word {at}: host {}, GPU {}", show(ty, ours), show(ty, theirs));
        outcome.count(verdict(ty, ours, theirs, case.tolerance, *expected == Value::Any), words);
        if !agrees(ty, *expected, theirs, case.tolerance) {
            outcome.contradicts(|| format!("{}; table {}", words(), show_expected(ty, *expected)));
        }
    }
    Ok(())
}

fn verdict(ty: Type, host: u64, gpu: u64, tolerance: Tolerance, open: bool) -> Verdict {
    if host == gpu {
        Verdict::Same
    } else if agrees(ty, Value::Nan(0), host, Tolerance::Exact)
        && agrees(ty, Value::Nan(0), gpu, Tolerance::Exact)
    {
        Verdict::Nan
    } else if open || agrees(ty, Value::Bits(host), gpu, tolerance) {
        Verdict::Within
    } else {
        Verdict::Different
    }
}

/// The `index`th little-endian number of so many bytes; 0 beyond the end.
fn word(bytes: &[u8], index: usize, size: usize) -> u64 {
    let bytes = bytes.get(index * size..(index + 1) * size).unwrap_or_default();
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn inputs(case: &Case, thread: usize) -> String {
    let columns = case.inputs.iter().zip(&case.given);
    columns
        .map(|(register, column)| {
            format!("{}={} ", register.name, show_expected(register.ty, column[thread]))
        })
        .collect()
}

/// The kernel's three arrays: inputs, results, memory. Never empty.
fn job(case: &Case) -> Job {
    let threads = case.all_threads();
    let mut inputs: Vec<u64> =
        case.given.iter().flatten().map(|value| value.bits().unwrap_or_default()).collect();
    inputs.resize(inputs.len().max(threads), 0);
    let memory = if case.memory.is_empty() { &[0][..] } else { &case.memory };
    Job::new(&Rc::from(kernel::text(case)), kernel::NAME)
        .shape([case.blocks as u32, 1], [case.threads as u32, 1])
        .shared(case.shared as u32)
        .input(&inputs)
        .output(&vec![0_u64; (case.outputs.len() * threads).max(1)])
        .output(memory)
}
