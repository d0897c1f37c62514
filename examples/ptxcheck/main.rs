//! Runs a kernel of a PTX file on the host device, strictly, and says what it did; or lists what is in the file. This
//! file is the command line and the exit status; `list` and `execute` do the work, `argument` reads what `--arg` says.
//!
//! ```sh
//! cargo run --release --example ptxcheck -- ptx/saxpy.ptx
//! cargo run --release --example ptxcheck -- ptx/saxpy.ptx --kernel saxpy --grid 4 --block 256 \
//!     --arg f32=2 --arg 'read:f32[1000]=ramp' --arg 'f32[1000]=random:1' --arg u32=1000
//! ```

mod argument;
mod array;
mod execute;
mod list;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use scoped_gpu::Dim3;
use scoped_gpu::ptx::LoadedPtx;

use crate::argument::{Specification, parse_shape};

/// Runs a kernel of a PTX file without a GPU, with every check, and prints results, statistics and reports.
///
/// Without --kernel: lists the file's kernels with their parameters, and what the host device does not execute.
/// Exit status: 0 clean, 1 the kernel made a mistake, 2 the file or the arguments are wrong.
#[derive(Debug, Parser)]
struct Options {
    /// The PTX file
    file: PathBuf,
    /// The kernel to run
    #[arg(long)]
    kernel: Option<String>,
    /// Blocks: X, X,Y or X,Y,Z
    #[arg(long, default_value = "1", value_parser = parse_shape)]
    grid: Dim3,
    /// Threads of a block: X, X,Y or X,Y,Z
    #[arg(long, default_value = "32", value_parser = parse_shape)]
    block: Dim3,
    /// An argument, in the kernel's order: `u32=1000`, `f32[1000]=ramp`, `read:f32[1000]=random:7`
    ///
    /// Types: u8 i8 u16 i16 u32 i32 u64 i64 f32 f64. Arrays are filled with `zero`, `ramp` (0, 1, 2, …), `random:SEED`
    /// (floats in [-1, 1), integers of every value), a number, or the contents of a .npy file; `f32[]=x.npy` has the
    /// file's length. `read:` makes a write to it a fault.
    #[arg(long = "arg", value_name = "SPEC", allow_hyphen_values = true)]
    arguments: Vec<Specification>,
    /// Writes an array to a .npy file afterwards; NAME is the parameter's name in the PTX, or its number from 0
    #[arg(long, value_name = "NAME=FILE")]
    save: Vec<String>,
    /// Bytes of dynamic shared memory
    #[arg(long, default_value_t = 0)]
    shared: usize,
    /// Instructions of warps after which the kernel is ended
    #[arg(long)]
    max_steps: Option<u64>,
}

fn main() -> ExitCode {
    // a wrong command line ends here, with status 2
    let options = Options::parse();
    match run(&options) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    let path = &options.file;
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let Some(kernel) = &options.kernel else {
        let ptx = LoadedPtx::read(&name, &text).map_err(anyhow::Error::msg)?;
        print!("{}", list::listing(&ptx));
        return Ok(ExitCode::SUCCESS);
    };
    let result = execute::execute(&name, &text, kernel, options);
    let Err(error) = result else { return Ok(ExitCode::SUCCESS) };
    let fault = error.downcast_ref::<scoped_gpu::Error>().and_then(scoped_gpu::Error::fault);
    let Some(mut fault) = fault.cloned() else { return Err(error) };
    // it would name a line of this program
    fault.launched_at = None;
    eprintln!("{fault}");
    Ok(ExitCode::FAILURE)
}
