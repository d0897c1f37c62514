//! What is proved of usual launches before they run, beside what a reference analysis proves of them.
//!
//! `cargo run --release --example verdicts` goes through the launches of `tests/bounds/expected.txt`: kernels of nvcc,
//! Triton and numba, at the sizes at which they are used. For each it prints how many of the kernel's own accesses are
//! proved to be in range, aligned and allowed, how many the reference proves, and each access on which the two differ.
//! `-- TABLE` takes another table of that form. It ends with status 1 if the reference proves an access that is checked
//! here.
//!
//! No device takes part: a launch is numbers, so lengths need no memory behind them.

#[path = "../tests/bounds/launches.rs"]
mod launches;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use launches::{Shape, Value};
use scoped_gpu::ptx::LoadedPtx;
use scoped_gpu::ptx::bounds::describe;
use scoped_gpu::ptx::bounds::proof::{BufferFacts, LaunchFacts};
use scoped_gpu::{AccessVerdict, Dim3, Outcome, Verdict};

/// Where the address of a buffer is asked for. Nothing reads it: of an address only the alignment counts.
const ANYWHERE: u64 = 1 << 32;

fn main() -> Result<ExitCode> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let table = std::env::args_os().nth(1).map_or_else(|| tests.join("bounds/expected.txt"), PathBuf::from);
    let text = std::fs::read_to_string(&table).with_context(|| table.display().to_string())?;
    let shapes = launches::read(&text).map_err(anyhow::Error::msg)?;

    println!("{:7}  {:44}  {:>7}  {:>9}", "suite", "file: kernel", "proved", "reference");
    let mut totals: Vec<(String, Count)> = Vec::new();
    for shape in shapes {
        let file = tests.join("corpus").join(&shape.file);
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let ptx = LoadedPtx::read(&shape.file, &text).map_err(anyhow::Error::msg)?;
        let verdict = verdict(&ptx, &shape).with_context(|| format!("{}: {}", shape.file, shape.kernel))?;
        let count = compare(&shape, &verdict);
        match totals.iter_mut().find(|(suite, _)| *suite == shape.suite) {
            Some((_, total)) => *total = total.and(count),
            None => totals.push((shape.suite, count)),
        }
    }

    println!();
    let all = totals.iter().fold(Count::default(), |all, (_, count)| all.and(*count));
    for (suite, count) in totals.iter().map(|(suite, count)| (suite.as_str(), count)).chain([("all", &all)]) {
        row(suite, "", count);
    }
    match all.worse {
        0 => Ok(ExitCode::SUCCESS),
        worse => {
            println!("{worse} accesses are proved by the reference only");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The verdict on a launch of the table.
fn verdict(ptx: &LoadedPtx, shape: &Shape) -> Result<Verdict> {
    let signature = ptx.kernel(&shape.kernel).context("there is no such kernel")?;
    let mut params = vec![0_u8; signature.bytes as usize];
    let mut buffers = Vec::new();
    for &(param, offset, value) in &shape.args {
        let parameter = signature.parameters.get(param).with_context(|| format!("no parameter {param}"))?;
        let bits = match value {
            Value::Number(number) => number as u64,
            Value::Buffer { bytes, align } => {
                buffers.push(BufferFacts { param, offset, bytes, align, writable: true, contents: None });
                ANYWHERE
            }
        };
        let (start, size) = ((parameter.offset + offset) as usize, parameter.size.min(8) as usize);
        let place = params.get_mut(start..start + size).context("an argument outside its parameter")?;
        place.copy_from_slice(&bits.to_le_bytes()[..size]);
    }
    let (grid, block, dynamic_shared) = (shape.grid, shape.block, shape.dynamic_shared);
    let facts = LaunchFacts { grid, block, dynamic_shared, params: &params, buffers: &buffers };
    describe(ptx, &shape.kernel, &facts).context("there is no code")
}

/// How many accesses there are, and who proves them.
#[derive(Clone, Copy, Default)]
struct Count {
    accesses: usize,
    proved: usize,
    reference: usize,
    worse: usize,
}

impl Count {
    fn and(self, other: Self) -> Self {
        Self {
            accesses: self.accesses + other.accesses,
            proved: self.proved + other.proved,
            reference: self.reference + other.reference,
            worse: self.worse + other.worse,
        }
    }
}

/// Prints the row of a launch, and a line for each access on which the reference says something else.
fn compare(shape: &Shape, verdict: &Verdict) -> Count {
    let own = |access: &&AccessVerdict| access.function.is_none() && access.kind.is_some();
    let is_proved = |access: &AccessVerdict| !matches!(access.outcome, Outcome::Checked { .. });
    let mut count = Count {
        accesses: verdict.accesses.iter().filter(own).count(),
        proved: verdict.accesses.iter().filter(own).filter(|access| is_proved(access)).count(),
        ..Count::default()
    };
    let mut differences = Vec::new();
    for (line, said) in &shape.expected {
        let reference = matches!(said.as_str(), "ok" | "dead");
        count.reference += usize::from(reference);
        let mut here = verdict.accesses.iter().filter(own).filter(|access| access.line == *line).peekable();
        if here.peek().is_none() {
            count.worse += usize::from(reference);
            differences.push(format!("line {line}: reference: {said}; here: no access"));
        }
        for access in here.filter(|access| is_proved(access) != reference) {
            count.worse += usize::from(reference);
            differences.push(format!("line {line}: reference: {said}; here: {access}"));
        }
    }
    row(&shape.suite, &format!("{}: {}", shape.file, shape.kernel), &count);
    differences.iter().for_each(|difference| println!("         {difference}"));
    count
}

fn row(suite: &str, kernel: &str, count: &Count) {
    // the names of Python's kernels are mangled
    let kernel: String = kernel.chars().take(44).collect();
    let Count { accesses, proved, reference, .. } = count;
    println!("{suite:7}  {kernel:44}  {proved:>3}/{accesses:<3}  {reference:>9}");
}
