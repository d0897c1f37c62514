//! The kernels of `corpus` on both devices, and the comparison of what they wrote.

use std::path::Path;

use anyhow::Result;
use scoped_gpu::Device;

use crate::both;
use crate::corpus::{Rule, Trial, trials};
use crate::driver::Gpu;
use crate::job::{Argument, Job};
use crate::report::{Outcome, Report, Verdict};
use crate::values::show;

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

fn compare(outcome: &mut Outcome, host: &Device, gpu: &mut Gpu, trial: &Trial) -> Result<()> {
    let Some([on_host, on_gpu]) = both::run(outcome, host, gpu, &trial.job)? else { return Ok(()) };
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
    use crate::host;

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
