//! Kernels without a mistake: whatever way one is launched, with checks or without, it leaves the same bytes in every
//! array it was given. The kernels, their shapes and inputs are those of `tests/compare`.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use scoped_gpu::{Device, ErrorKind};

use crate::corpus::{Rule as Demand, Trial, trials};
use crate::host::run_by;
use crate::job::Argument;
use crate::oracle::Rule;

/// Kernels that a GPU launches unchecked only, and the word with which it says why.
const REFUSED: &[(&str, &str)] = &[("recurse", "recursion"), ("indirect", "through a pointer")];

/// A kernel that adds floats from several blocks to one place: a GPU rounds in whatever order they come, so that two
/// runs of the very same code differ.
const ORDER_IS_FREE: &str = "reduce";

/// A kernel with `mul.f32` and `add.f32` that name no rounding: the PTX manual leaves open whether they become one
/// instruction that rounds once, and a GPU's assembler decides by what stands around them.
const ROUNDING_IS_FREE: &str = "saxpy_dbg";

/// Names of the groups of kernels, in the order in which they are listed.
pub const GROUPS: [&str; 5] = ["checks", "common", "own", "triton", "numba"];

/// Runs every kernel of a group in each way.
pub fn run(device: &Device, rule: Rule, group: usize) -> Result<()> {
    // Where the program runs without the sources that it was built from.
    let root = std::env::var("SCOPED_GPU_ROOT").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    let groups = trials(&PathBuf::from(root))?;
    let (name, trials) = &groups[group];
    let mut wrong = Vec::new();
    let mut bytes = 0;
    for trial in trials {
        match one(device, rule, trial) {
            Ok(compared) => bytes += compared,
            Err(error) => wrong.push(format!("{}: {error:#}", trial.name)),
        }
    }
    println!("{name}: {} kernels and shapes, {bytes} bytes compared for each of two ways", trials.len());
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// How many bytes each of two checked ways has in common with the unchecked one.
fn one(device: &Device, rule: Rule, trial: &Trial) -> Result<usize> {
    let original = run_by(device, &trial.job, |ctx, kernel, launch, arguments| {
        // SAFETY: every access is in range: the host device, which checks each, runs the same launch without a fault
        // (below, and in the tests of `tests/compare`).
        unsafe { ctx.launch_unchecked(kernel, launch, arguments) }
    })?;
    let arrays: Vec<&Argument> = trial
        .job
        .arguments
        .iter()
        .filter(|a| matches!(a, Argument::Input(_) | Argument::Output(_)))
        .collect();
    let unchanged = |(argument, after): (&&Argument, &Vec<u8>)| matches!(argument, Argument::Output(before) if before == after);
    let outputs = arrays.iter().filter(|argument| matches!(argument, Argument::Output(_))).count();
    let same = arrays.iter().zip(&original).filter(|pair| unchanged(*pair)).count();
    ensure!(same < outputs, "the kernel wrote nothing new, so nothing is compared");

    let launched =
        run_by(device, &trial.job, |ctx, kernel, launch, arguments| ctx.launch(kernel, launch, arguments));
    let checked = run_by(device, &trial.job, |ctx, kernel, launch, arguments| {
        ctx.launch(kernel, launch.check_all(), arguments)
    });
    for (way, result) in [("launch", launched), ("check_all", checked)] {
        let contents = match (result, refused(trial, rule)) {
            (Ok(_), Some(_)) => anyhow::bail!("{way}: was expected to be refused"),
            (Err(error), Some(word)) => {
                ensure!(
                    matches!(error.kind(), ErrorKind::NotSupported { message } if message.contains(word)),
                    "{way}: {error}"
                );
                continue;
            }
            (result, None) => result?,
        };
        for ((argument, original), now) in arrays.iter().zip(&original).zip(&contents) {
            let output = matches!(argument, Argument::Output(_));
            let compared = if output { compared(trial) } else { original.len() };
            let compared = compared.min(original.len());
            agree(trial, rule, &original[..compared], &now[..compared])
                .map_err(|m| anyhow::anyhow!("{way}: {m}"))?;
        }
    }
    Ok(original.iter().map(Vec::len).sum())
}

/// Why a GPU does not launch it with checks.
fn refused(trial: &Trial, rule: Rule) -> Option<&'static str> {
    let (_, word) = REFUSED.iter().find(|(kernel, _)| *kernel == trial.job.kernel)?;
    (rule == Rule::LowestThread).then_some(word)
}

/// Bytes of an output that are the same in every run; a kernel with a clock has one output.
fn compared(trial: &Trial) -> usize {
    trial.compared.map_or(usize::MAX, |elements| elements * trial.element.width() as usize / 8)
}

/// Whether the bytes are the same; for kernels whose order or rounding is free on a GPU, whether they are as near as that
/// allows.
fn agree(trial: &Trial, rule: Rule, original: &[u8], now: &[u8]) -> Result<(), String> {
    let Some(at) = original.iter().zip(now).position(|(a, b)| a != b) else { return Ok(()) };
    let most = match (trial.job.kernel.as_str(), trial.rule) {
        _ if rule != Rule::LowestThread => None,
        (ORDER_IS_FREE, Demand::Within(most)) if trial.job.grid[0] > 1 => Some(most),
        // by the trial's name: in the PTX it is mangled
        _ if trial.name.starts_with(ROUNDING_IS_FREE) => Some(1e-6),
        _ => None,
    };
    if most.is_some_and(|most| are_near(&floats(original), &floats(now), most)) {
        return Ok(());
    }
    let differing = original.iter().zip(now).filter(|(a, b)| a != b).count();
    Err(format!("{differing} of {} bytes differ, the first at {at}", original.len()))
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes))).collect()
}

/// Whether no two differ by more than `most` of the largest, or of 1.
fn are_near(a: &[f64], b: &[f64], most: f64) -> bool {
    let largest = a.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= most * largest)
}
