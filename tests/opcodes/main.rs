//! What each PTX instruction computes: the tables of `tables/`, one trial for each case, on the host device through
//! the public interface. The format is in `README.md`.

mod coverage;
mod format;
#[path = "../reference/half.rs"]
mod half;
mod kernel;
mod values;

use libtest_mimic::{Arguments, Failed, Trial};
use scoped_gpu::{Device, Error, ErrorKind, Launch, Read, ReadWrite, linear};

use format::{Case, Register};
use values::{agrees, show, show_expected};

/// More than any case needs: what never ends is a failure, not a hang.
const STEPS: u64 = 100_000;

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![Trial::test("every opcode has a case", coverage::check)];
    for (file, text) in coverage::TABLES {
        match format::parse(file, text) {
            Ok(cases) => trials.extend(cases.into_iter().map(|case| {
                let name = format!("{}: {}", file.trim_end_matches(".txt"), case.name);
                Trial::test(name, move || judge(file, &case))
            })),
            Err(message) => {
                trials.push(Trial::test(format!("{file} can be read"), move || Err(message.into())))
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// A case passes if it runs as its table says; one with a known bug if it does not.
fn judge(file: &str, case: &Case) -> Result<(), Failed> {
    let result = run(case).map_err(|message| format!("tables/{file}:{}: {message}", case.line));
    match (&case.bug, result) {
        (None, result) => result.map_err(Failed::from),
        (Some(_), Err(_)) => Ok(()),
        (Some(bug), Ok(())) => Err(format!("tables/{file}:{}: passes, remove `bug {bug}`", case.line).into()),
    }
}

fn run(case: &Case) -> Result<(), String> {
    for strict in [false, true] {
        let mode = if strict { "strict mode: " } else { "" };
        if strict && case.plain || !strict && case.strict_fault {
            continue;
        }
        match (launch(case, strict), &case.fault) {
            (Ok(outcome), None) => outcome.check(case).map_err(|message| format!("{mode}{message}"))?,
            (Err(error), None) => return Err(format!("{mode}{error}")),
            (Ok(_), Some(text)) => return Err(format!("{mode}no fault, expected: {text}")),
            (Err(error), Some(text)) => {
                let summary = match error.kind() {
                    ErrorKind::Fault(fault) => fault.summary(),
                    _ => return Err(format!("{mode}{error}")),
                };
                if !summary.contains(text.as_str()) {
                    return Err(format!("{mode}reported: {summary}\nexpected: {text}"));
                }
            }
        }
    }
    Ok(())
}

/// What a launch left in its buffers.
struct Outcome {
    results: Vec<u64>,
    memory: Vec<u32>,
}

fn launch(case: &Case, strict: bool) -> Result<Outcome, Error> {
    let threads = case.all_threads();
    let bits = |value: &values::Value| value.bits().unwrap_or_default();
    let inputs: Vec<u64> = case.given.iter().flatten().map(bits).collect();
    // Never empty, so that every case has three buffers.
    let inputs = if inputs.is_empty() { vec![0; threads] } else { inputs };
    let results = vec![0u64; (case.outputs.len() * threads).max(1)];
    let memory = if case.memory.is_empty() { vec![0] } else { case.memory.clone() };
    let text = kernel::text(case);
    Device::host().scope(|ctx| {
        let module = ctx.module_named("case.ptx", &text)?;
        let kernel = module.kernel::<(Read<u64>, ReadWrite<u64>, ReadWrite<u32>)>(kernel::NAME)?;
        ctx.alloc((linear(&inputs), linear(&results), linear(&memory)), |(input, mut results, mut memory)| {
            let shape = Launch::grid(case.blocks as u32, case.threads as u32)
                .shared_bytes(case.shared)
                .max_steps(STEPS);
            let shape = if strict { shape.strict() } else { shape };
            ctx.launch(&kernel, shape, (&input, &mut results, &mut memory))?;
            Ok(Outcome { results: results.to_vec()?, memory: memory.to_vec()? })
        })
    })
}

impl Outcome {
    /// Everything that differs from the table, the first few in words.
    fn check(&self, case: &Case) -> Result<(), String> {
        let mut wrong = Vec::new();
        let threads = case.all_threads();
        for (index, (Register { name, ty }, expected)) in case.outputs.iter().zip(&case.expected).enumerate()
        {
            for (thread, &expected) in expected.iter().enumerate() {
                let got = self.results[index * threads + thread];
                if !agrees(*ty, expected, got, case.tolerance) {
                    let given: Vec<String> = case
                        .inputs
                        .iter()
                        .zip(&case.given)
                        .map(|(r, values)| format!("{} = {}", r.name, show_expected(r.ty, values[thread])))
                        .collect();
                    let (got, expected) = (show(*ty, got), show_expected(*ty, expected));
                    let given = given.join(", ");
                    wrong.push(format!("thread {thread} ({given}): `{name}` is {got}, expected {expected}"));
                }
            }
        }
        let word = values::Type::Bits(32);
        for (index, &expected) in case.memory_after.iter().flatten().enumerate() {
            let got = self.memory.get(index).copied().map(u64::from);
            if !got.is_some_and(|got| agrees(word, expected, got, case.tolerance)) {
                let (got, expected) = (got.map(|g| show(word, g)), show_expected(word, expected));
                wrong.push(format!("memory word {index} is {got:?}, expected {expected}"));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let count = wrong.len();
        wrong.truncate(6);
        Err(format!("{count} values differ\n{}", wrong.join("\n")))
    }
}
