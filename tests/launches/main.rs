//! What a safe launch promises, on every device that is there, in one process: a kernel's mistake is contained and named
//! (`planted`), and a kernel without one computes what it computes unchecked (`same`).
//!
//! `SCOPED_GPU_INPUTS` says how many generated kernels are tried, `SCOPED_GPU_FIRST` with which number they begin:
//!
//! ```text
//! SCOPED_GPU_INPUTS=100000 cargo test --release --test launches planted
//! ```
//!
//! A GPU that is absent has its trials listed as ignored; `SCOPED_GPU_REQUIRE=cuda:0` makes them run, and so fail.

#[path = "../compare/src/corpus/mod.rs"]
#[expect(
    dead_code,
    reason = "how far a GPU and the host device may differ; here a device is compared with itself"
)]
mod corpus;
#[path = "../opcodes/format.rs"]
#[expect(dead_code, reason = "tables of instructions, of which only the types are needed")]
mod format;
mod generator;
#[path = "../reference/half.rs"]
mod half;
#[path = "../compare/src/host.rs"]
#[expect(dead_code, reason = "what compares the host device with a GPU runs each kernel once")]
mod host;
#[path = "../compare/src/job.rs"]
mod job;
mod oracle;
mod planted;
#[path = "../reference/random.rs"]
#[expect(dead_code, reason = "numbers that other tests draw")]
mod random;
mod same;
#[path = "../opcodes/values.rs"]
#[expect(dead_code, reason = "tables of instructions, of which only the types are needed")]
mod values;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use libtest_mimic::{Arguments, Failed, Trial};
use oracle::Rule;
use scoped_gpu::{Device, Error};

/// Kernels that are tried where nothing else is said.
const INPUTS: u64 = 1000;

/// A device to run on.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    open: fn() -> Result<Device, Error>,
    /// Which miss it names.
    rule: Rule,
}

const KINDS: [Kind; 2] = [
    Kind { name: "host", open: || Ok(Device::host()), rule: Rule::EarliestInTime },
    Kind { name: "cuda:0", open: || Device::cuda(0), rule: Rule::LowestThread },
];

fn setting(name: &str, default: u64) -> Result<u64> {
    std::env::var(name)
        .map_or(Ok(default), |text| text.parse().with_context(|| format!("{name}={text}: a number")))
}

fn planted(device: &Device, rule: Rule) -> Result<()> {
    planted::run(device, rule, setting("SCOPED_GPU_FIRST", 0)?, setting("SCOPED_GPU_INPUTS", INPUTS)?)
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let required = std::env::var("SCOPED_GPU_REQUIRE").unwrap_or_default();
    let required: Vec<&str> = required.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut trials = Vec::new();
    for kind in KINDS {
        let asked_for = required.iter().any(|asked| kind.name.starts_with(asked));
        let absent = (kind.open)().is_err() && !asked_for;
        trials.push(trial(kind, absent, "planted", planted));
        for (group, name) in same::GROUPS.into_iter().enumerate() {
            let run = move |device: &Device, rule| same::run(device, rule, group);
            trials.push(trial(kind, absent, &format!("same::{name}"), run));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(
    kind: Kind,
    absent: bool,
    name: &str,
    run: impl FnOnce(&Device, Rule) -> Result<()> + Send + 'static,
) -> Trial {
    let run = move || {
        let device = (kind.open)().map_err(|error| Failed::from(error.to_string()))?;
        run(&device, kind.rule).map_err(|error| Failed::from(format!("{error:#}")))
    };
    Trial::test(format!("{}::{name}", kind.name), run).with_ignored_flag(absent)
}
