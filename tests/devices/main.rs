//! What the library promises, on every device that is there: one list of cases, a trial for each case on each device.
//!
//! A device that is absent has its trials listed as ignored; `SCOPED_GPU_REQUIRE=cuda:0` (or several names, separated
//! by commas) makes them run, and so fail. Each chapter is a file and ends with its list of cases; a number in
//! brackets there is the acceptance case that the test belongs to.

mod fill;
mod harness;
mod kernels_checks;
mod kernels_own;
mod memory;
mod padding;
mod scope;
mod transfer;

#[path = "../reference/mod.rs"]
#[expect(dead_code, reason = "references for kernels that other tests run")]
mod reference;

use harness::Chapter;

/// The chapters in reading order.
const CHAPTERS: &[Chapter] = &[
    scope::CHAPTER,
    memory::CHAPTER,
    transfer::CHAPTER,
    fill::CHAPTER,
    kernels_own::CHAPTER,
    kernels_checks::CHAPTER,
];

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = harness::trials(CHAPTERS);
    libtest_mimic::run(&arguments, trials).exit_code()
}
