//! What the library promises, on every device that is there: one list of cases, a trial for each case on each device.
//!
//! A device that is absent has its trials listed as ignored; `SCOPED_GPU_REQUIRE=cuda` (or several names, separated by
//! commas) makes them run, and so fail. Each chapter is a file and ends with its list of cases; the numbers there are
//! those of the acceptance cases that a test shows.

mod cleanup;
mod endless;
mod errors;
mod fault;
mod fill;
mod free;
mod harness;
mod kernels_checks;
mod kernels_own;
mod launch;
mod leaks;
mod memory;
mod messages;
mod model;
mod module;
mod padding;
mod scope;
mod several;
mod stream;
mod threads;
mod transfer;
mod verdict;

#[path = "../bounds/launches.rs"]
mod launches;

#[path = "../reference/mod.rs"]
#[expect(dead_code, reason = "it has references for kernels that other tests run")]
mod reference;

use harness::Chapter;
use scoped_gpu::Dim3;

/// The chapters in reading order.
const CHAPTERS: &[Chapter] = &[
    scope::CHAPTER,
    memory::CHAPTER,
    transfer::CHAPTER,
    fill::CHAPTER,
    stream::CHAPTER,
    several::CHAPTER,
    module::CHAPTER,
    launch::CHAPTER,
    fault::CHAPTER,
    endless::CHAPTER,
    errors::CHAPTER,
    verdict::CHAPTER,
    cleanup::CHAPTER,
    leaks::CHAPTER,
    model::CHAPTER,
    threads::CHAPTER,
    kernels_own::CHAPTER,
    kernels_checks::CHAPTER,
];

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = harness::trials(CHAPTERS);
    libtest_mimic::run(&arguments, trials).exit_code()
}
