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

use anyhow::Context as _;
use libtest_mimic::{Arguments, Failed, Trial};
use oracle::Rule;
use scoped_gpu::{Device, Error};

/// Kernels that are tried where nothing else is said.
const INPUTS: u64 = 1000;

/// The devices: name, how it is opened, which miss it names.
const DEVICES: [(&str, fn() -> Result<Device, Error>, Rule); 2] = [
    ("host", || Ok(Device::host()), Rule::EarliestInTime),
    ("cuda:0", || Device::cuda(0), Rule::LowestThread),
];

fn setting(name: &str, default: u64) -> anyhow::Result<u64> {
    std::env::var(name)
        .map_or(Ok(default), |text| text.parse().with_context(|| format!("{name}={text}: a number")))
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let required = std::env::var("SCOPED_GPU_REQUIRE").unwrap_or_default();
    let mut trials = Vec::new();
    for (name, open, rule) in DEVICES {
        let asked_for =
            required.split(',').map(str::trim).any(|asked| !asked.is_empty() && name.starts_with(asked));
        let absent = open().is_err() && !asked_for;
        let mut push = |test: &str, run: Box<dyn FnOnce(&Device) -> anyhow::Result<()> + Send>| {
            let run = move || {
                let device = open().map_err(|error| Failed::from(error.to_string()))?;
                run(&device).map_err(|error| Failed::from(format!("{error:#}")))
            };
            trials.push(Trial::test(format!("{name}::{test}"), run).with_ignored_flag(absent));
        };
        push(
            "planted",
            Box::new(move |device| {
                let (first, count) = (setting("SCOPED_GPU_FIRST", 0)?, setting("SCOPED_GPU_INPUTS", INPUTS)?);
                planted::run(device, rule, first, count)
            }),
        );
        for (group, name) in same::GROUPS.into_iter().enumerate() {
            push(&format!("same::{name}"), Box::new(move |device| same::run(device, rule, group)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
