//! Cases and devices: which there are, how one runs, and what must hold on a device after any case.

use std::process::Command;

use anyhow::{Context as _, ensure};
use libtest_mimic::{Failed, Trial};
use scoped_gpu::{Device, Error, HostOptions};

use crate::free;

/// Names the devices that must be there, separated by commas.
const REQUIRE: &str = "SCOPED_GPU_REQUIRE";

/// Any seed will do; this one is fixed so that a failure repeats.
const HOSTILE_SEED: u64 = 0x5eed;

/// A file of cases.
pub struct Chapter {
    pub name: &'static str,
    pub tests: &'static [Test],
}

/// One case: what it is called, which acceptance cases it belongs to, how it runs.
#[derive(Clone, Copy)]
pub struct Test {
    name: &'static str,
    acceptance: &'static [u32],
    run: fn(&mut Case) -> anyhow::Result<()>,
    only_host: bool,
    apart: bool,
    resets: bool,
}

impl Test {
    pub const fn new(name: &'static str, run: fn(&mut Case) -> anyhow::Result<()>) -> Self {
        Self { name, acceptance: &[], run, only_host: false, apart: false, resets: false }
    }

    /// The numbers of the acceptance cases that this one shows.
    pub const fn shows(mut self, acceptance: &'static [u32]) -> Self {
        self.acceptance = acceptance;
        self
    }

    /// A case about the host device's own options and answers.
    pub const fn only_host(mut self) -> Self {
        self.only_host = true;
        self
    }

    /// A case that can end a process on a GPU, and therefore has one of its own there.
    pub const fn apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// A case that resets its device, which therefore cannot share its context with others.
    pub const fn resets(mut self) -> Self {
        self.resets = true;
        self
    }
}

/// A case named like its function.
macro_rules! test {
    ($run:ident) => {
        $crate::harness::Test::new(stringify!($run), $run)
    };
}
pub(crate) use test;

/// A device to run the cases on, and a way of running on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The host device.
    Host,
    /// The host device that does what nothing forbids: late, in another order, with garbage in new memory.
    Hostile,
    /// The host device that reports what hardware lets pass.
    Strict,
    /// The first CUDA device.
    Cuda,
    /// The same in its primary context, which cases share when free memory is watched.
    CudaPrimary,
}

const KINDS: [Kind; 4] = [Kind::Host, Kind::Hostile, Kind::Strict, Kind::Cuda];

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Hostile => "hostile",
            Self::Strict => "strict",
            Self::Cuda | Self::CudaPrimary => "cuda:0",
        }
    }

    fn open(self) -> Result<Device, Error> {
        match self {
            Self::Host => Ok(Device::host()),
            Self::Hostile | Self::Strict => Ok(Device::host_with(self.options())),
            Self::Cuda => Device::cuda(0),
            Self::CudaPrimary => Device::cuda_primary(0),
        }
    }

    fn options(self) -> HostOptions {
        match self {
            Self::Hostile => HostOptions::new().hostile(HOSTILE_SEED),
            Self::Strict => HostOptions::new().strict(),
            Self::Host | Self::Cuda | Self::CudaPrimary => HostOptions::new(),
        }
    }
}

/// A case while it runs: a device that nobody used before, and what the case says about it.
pub struct Case {
    pub kind: Kind,
    pub device: Device,
    expects_cleanup: bool,
}

impl Case {
    /// A device in the first GPU's primary context.
    pub fn shared_context() -> Result<Device, Error> {
        Kind::CudaPrimary.open()
    }

    /// Another device of the same kind.
    pub fn another(&self) -> Result<Device, Error> {
        self.kind.open()
    }

    /// Whether kernels are interpreted, so that every instruction rounds as PTX says.
    pub fn is_host(&self) -> bool {
        !matches!(self.kind, Kind::Cuda | Kind::CudaPrimary)
    }

    /// Whether it is a CUDA device whose driver is `tests/shim`, which runs kernels when somebody waits for them.
    pub fn is_stand_in(&self) -> bool {
        let name = |device: &Device| device.info().name.clone();
        !self.is_host() && name(&self.device) == name(&Device::host())
    }

    /// The options of this kind of host device, for a case that adds some.
    pub fn host_options(&self) -> HostOptions {
        self.kind.options()
    }

    /// What the latest scope's cleanup met, which is otherwise a failure of the case.
    pub fn expected_cleanup(&mut self) -> Option<Error> {
        self.expects_cleanup = true;
        self.device.last_cleanup()
    }
}

/// Every case on every device.
pub fn trials(chapters: &'static [Chapter]) -> Vec<Trial> {
    let required = std::env::var(REQUIRE).unwrap_or_default();
    let required: Vec<&str> = required.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut trials = Vec::new();
    for kind in KINDS {
        let asked_for = required.iter().any(|name| kind.name().starts_with(name));
        let absent = kind.open().is_err() && !asked_for;
        for chapter in chapters {
            for test in chapter.tests {
                if test.only_host && kind == Kind::Cuda {
                    continue;
                }
                let name = format!("{}::{}::{}", kind.name(), chapter.name, test.name);
                let alone = name.clone();
                let run = move || run(kind, test, &alone).map_err(|error| Failed::from(format!("{error:#}")));
                trials.push(Trial::test(name, run).with_ignored_flag(absent));
            }
        }
        if kind == Kind::Cuda && free::is_watched() {
            let control = || free::a_leak_is_noticed().map_err(|error| Failed::from(format!("{error:#}")));
            trials.push(Trial::test("cuda:0::free::a_leak_is_noticed", control).with_ignored_flag(absent));
        }
    }
    let unknown = required.iter().filter(|name| !KINDS.iter().any(|kind| kind.name().starts_with(*name)));
    for name in unknown {
        let message = format!("{REQUIRE} names `{name}`; devices are host, hostile, strict, cuda:0");
        trials.push(Trial::test(format!("{name}::required"), move || Err(Failed::from(message.clone()))));
    }
    trials
}

/// Names the one trial of a process that runs apart.
const ALONE: &str = "SCOPED_GPU_TRIAL";

fn run(kind: Kind, test: &Test, name: &str) -> anyhow::Result<()> {
    let numbers = test.acceptance.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let alone = std::env::var_os(ALONE).is_some();
    let result = match kind {
        // A process that ends gives everything back, so that much is looked at from outside only.
        Kind::Cuda if test.apart && !alone && free::is_watched() => free::settles(|| run_apart(name)),
        Kind::Cuda if test.apart && !alone => run_apart(name),
        Kind::Cuda if free::is_watched() && !alone => {
            let kind = if test.resets { Kind::Cuda } else { Kind::CudaPrimary };
            free::settles(|| run_here(kind, test))
        }
        kind => run_here(kind, test),
    };
    match numbers.as_str() {
        "" => result,
        numbers => result.with_context(|| format!("acceptance case {numbers}")),
    }
}

fn run_apart(name: &str) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("the path of this program")?;
    let output = Command::new(program).args(["--exact", name]).env(ALONE, name).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "in a process of its own: {}\n{text}", output.status);
    Ok(())
}

fn run_here(kind: Kind, test: &Test) -> anyhow::Result<()> {
    let device = kind.open().with_context(|| format!("device {}", kind.name()))?;
    let mut case = Case { kind, device, expects_cleanup: false };
    (test.run)(&mut case)?;
    nothing_left(&case)
}

/// What must hold on a device when no scope is open.
fn nothing_left(case: &Case) -> anyhow::Result<()> {
    let memory = case.device.memory();
    ensure!(memory.live == 0 && memory.count == 0, "memory is still allocated: {memory:?}");
    ensure!(memory.allocated == memory.freed, "allocations and frees differ: {memory:?}");
    if !case.expects_cleanup {
        let cleanup = case.device.last_cleanup();
        ensure!(cleanup.is_none(), "the last scope's cleanup met: {cleanup:?}");
    }
    if !case.is_host() {
        // What the pool keeps for later goes back too, so that nothing at all is held.
        case.device.trim()?;
        ensure!(case.device.memory().cached == 0, "the pool still holds memory: {:?}", case.device.memory());
    } else {
        let memory = case.device.scope(|ctx| ctx.memory_info())?;
        ensure!(memory.free == memory.total, "the device itself still holds memory: {memory:?}");
    }
    Ok(())
}
