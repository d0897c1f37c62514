//! Runs the same kernels with the same inputs on a GPU and on the host device of `scoped-gpu`, and compares bits.
//!
//! `scoped-gpu-compare [--root DIR] PART…`, where a part is `corpus` (whole kernels) or a table of
//! `tests/opcodes/tables` without its ending; `tables` is all of them, and no part is everything. `DIR` is where
//! `tests` and `ptx` are. Exit status: 0 nothing differs that must not, 1 something does, 2 the run broke off, 3 there
//! is no driver.

mod both;
mod corpus;
mod driver;
#[path = "../../opcodes/format.rs"]
mod format;
#[path = "../../reference/half.rs"]
mod half;
mod host;
mod job;
#[path = "../../opcodes/kernel.rs"]
mod kernel;
mod kernels;
#[path = "../../reference/random.rs"]
#[expect(dead_code, reason = "the test suite's; a comparison needs a part of it")]
mod random;
mod report;
mod tables;
#[path = "../../opcodes/values.rs"]
mod values;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use scoped_gpu::Device;

use driver::{Failure, Gpu};
use report::Report;

const NO_DRIVER: u8 = 3;

fn main() -> ExitCode {
    let gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(failure @ Failure::Absent(_)) => {
            eprintln!("{failure}");
            return ExitCode::from(NO_DRIVER);
        }
        Err(failure) => {
            eprintln!("{failure}");
            return ExitCode::from(2);
        }
    };
    match run(gpu) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(mut gpu: Gpu) -> Result<bool> {
    let mut root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut parts = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--root" => root = PathBuf::from(arguments.next().context("--root is followed by a directory")?),
            _ => parts.push(argument),
        }
    }
    let host = Device::host();
    let mut report = Report::default();
    println!("{}", gpu.name);
    let asked = |part: &str| parts.is_empty() || parts.iter().any(|asked| asked == part);
    if asked("corpus") {
        kernels::run(&mut report, &host, &mut gpu, &root)?;
    }
    for path in table_files(&root.join("tests/opcodes/tables"))? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if asked("tables") || asked(&name) {
            let cases =
                format::parse(&name, &fs::read_to_string(&path)?).map_err(|message| anyhow!(message))?;
            tables::run(&mut report, &host, &mut gpu, &name, &cases)?;
        }
    }
    Ok(report.finish())
}

fn table_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    Ok(paths)
}
