//! Whole kernels, as compilers wrote them, on both devices: how results are compared, and how files are read. Which
//! kernels, with which arguments, is in the modules below.
//!
//! A kernel is compared bit for bit unless its code says otherwise: a bare `mul` beside an `add`, which the GPU's
//! assembler may fuse; an approximate instruction; atomics on floats from several blocks, whose order is free.

mod nvcc;
mod own;
mod python;

use std::fs;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context as _, Result};
use scoped_gpu::Device;

use crate::driver::Gpu;
use crate::host;
use crate::job::{Argument, Job};
use crate::report::{Outcome, Report, Verdict};
use crate::values::{Type, show};

/// How far an element of a result may be off.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    Exact,
    /// By so much of the host device's value, or of 1 for a smaller one.
    Within(f64),
    /// So many of all elements may differ at all: where one rounding decides how often a loop runs.
    Few(f64),
}

/// A job and how its outputs are compared: all of them are elements of one type.
#[derive(Clone, Debug)]
pub struct Trial {
    pub name: String,
    pub job: Job,
    pub element: Type,
    pub rule: Rule,
    /// Elements of the first output that are compared; the others hold a clock.
    pub compared: Option<usize>,
}

impl Trial {
    pub fn new(name: impl Into<String>, element: Type, job: Job) -> Self {
        Self { name: name.into(), job, element, rule: Rule::Exact, compared: None }
    }

    pub fn rule(mut self, rule: Rule) -> Self {
        self.rule = rule;
        self
    }

    pub fn first(mut self, elements: usize) -> Self {
        self.compared = Some(elements);
        self
    }
}

/// Type of results.
pub const U8: Type = Type::Bits(8);
/// Type of results.
pub const I32: Type = Type::Bits(32);

/// Every kernel, by the compiler that made it.
fn trials(root: &Path) -> Result<[(&'static str, Vec<Trial>); 5]> {
    Ok([
        ("nvcc, checks", nvcc::checks(root)?),
        ("nvcc, common", nvcc::common(root)?),
        ("ptx", own::trials(root)?),
        ("triton", python::triton(root)?),
        ("numba", python::numba(root)?),
    ])
}

/// Runs every kernel.
pub fn run(report: &mut Report, host: &Device, gpu: &mut Gpu, root: &Path) -> Result<()> {
    for (group, trials) in trials(root)? {
        for trial in trials {
            let mut outcome = Outcome::default();
            compare(&mut outcome, host, gpu, &trial)?;
            report.add(group, &trial.name, outcome);
        }
    }
    Ok(())
}

/// A module's text. The newest compilers write a PTX version that drivers of CUDA 13.0 do not take, and use nothing of
/// it.
fn module(root: &Path, path: &str) -> Result<Rc<str>> {
    let text = fs::read_to_string(root.join(path)).with_context(|| path.to_owned())?;
    Ok(Rc::from(text.replacen(".version 9.5", ".version 9.0", 1)))
}

fn compare(outcome: &mut Outcome, host: &Device, gpu: &mut Gpu, trial: &Trial) -> Result<()> {
    let on_host = match host::run(host, &trial.job) {
        Ok(outputs) => outputs,
        Err(error) => {
            outcome.fail(format!("host device: {error}"));
            return Ok(());
        }
    };
    let on_gpu = match gpu.run(&trial.job) {
        Ok(outputs) => outputs,
        Err(failure) => {
            outcome.fail(format!("GPU: {failure}"));
            if failure.ends_context() {
                gpu.recover()?;
            }
            return Ok(());
        }
    };
    if unchanged(&trial.job, &on_gpu) {
        outcome.fail("the kernel wrote nothing new, so nothing was compared".to_owned());
    }
    for (index, (ours, theirs)) in on_host.iter().zip(&on_gpu).enumerate() {
        let size = trial.element.width() as usize / 8;
        let most = trial.compared.filter(|_| index == 0).unwrap_or(usize::MAX);
        let pairs: Vec<_> =
            ours.chunks(size).zip(theirs.chunks(size)).take(most).map(|(a, b)| (word(a), word(b))).collect();
        let differing = pairs.iter().filter(|(a, b)| a != b).count();
        for (at, (ours, theirs)) in pairs.iter().copied().enumerate() {
            let words = || {
                let (ours, theirs) = (show(trial.element, ours), show(trial.element, theirs));
                format!("output {index}, element {at}: host {ours}, GPU {theirs}")
            };
            let few =
                matches!(trial.rule, Rule::Few(share) if differing as f64 <= share * pairs.len() as f64);
            outcome.count(
                if few && ours != theirs { Verdict::Within } else { verdict(trial, ours, theirs) },
                words,
            );
        }
    }
    Ok(())
}

/// Whether every output holds what it held before the launch.
fn unchanged(job: &Job, outputs: &[Vec<u8>]) -> bool {
    let before = job.arguments.iter().filter_map(|argument| match argument {
        Argument::Output(bytes) => Some(bytes),
        _ => None,
    });
    before.zip(outputs).all(|(before, after)| before == after)
}

fn verdict(trial: &Trial, ours: u64, theirs: u64) -> Verdict {
    if ours == theirs {
        return Verdict::Same;
    }
    let (Some(a), Some(b)) = (trial.element.number(ours), trial.element.number(theirs)) else {
        return Verdict::Different;
    };
    match trial.rule {
        _ if a.is_nan() && b.is_nan() => Verdict::Nan,
        Rule::Within(most) if (a - b).abs() <= most * a.abs().max(1.0) => Verdict::Within,
        _ => Verdict::Different,
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a GPU would be given is in order: the arguments fit, no access is out of range, something is written.
    #[test]
    fn every_kernel_runs_on_the_host_device() -> Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let device = Device::host();
        let mut wrong = Vec::new();
        for (group, trials) in trials(&root)? {
            for trial in trials {
                match host::run(&device, &trial.job) {
                    Ok(outputs) if unchanged(&trial.job, &outputs) => {
                        wrong.push(format!("{group} · {}: nothing new", trial.name));
                    }
                    Ok(_) => {}
                    Err(error) => wrong.push(format!("{group} · {}: {error}", trial.name)),
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        Ok(())
    }
}
