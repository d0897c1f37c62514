//! Reading: parse, signatures, lowering, verification, as a module is loaded.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use scoped_gpu::ptx::LoadedPtx;

use crate::corpus::Corpus;
use crate::inputs;
use crate::watch::Watch;

/// What became of the inputs.
#[derive(Debug, Default)]
pub struct Outcome {
    pub inputs: u64,
    pub bytes: u64,
    pub accepted: u64,
    pub refused: u64,
    /// Time in the library, and that of the slowest input with its number.
    time: Duration,
    slowest: (Duration, u64),
}

/// Reads inputs `first..first + count` of `seed`.
pub fn run(seed: u64, first: u64, count: u64) -> Outcome {
    let corpus = Corpus::new();
    let watch = Watch::new("reading");
    let mut outcome = Outcome::default();
    for index in first..first + count {
        let (kind, text) = inputs::input(&corpus, seed, index);
        watch.begin(index);
        let began = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| LoadedPtx::read("random.ptx", &text)));
        let took = began.elapsed();
        match read {
            Ok(Ok(_)) => outcome.accepted += 1,
            Ok(Err(message)) => {
                assert!(message.starts_with("error: "), "input {index} of seed {seed}: {message}\n{text}");
                outcome.refused += 1;
            }
            Err(_) => panic!("input {index} of seed {seed} ({kind:?}) made the reader panic:\n{text}"),
        }
        outcome.inputs += 1;
        outcome.bytes += text.len() as u64;
        outcome.time += took;
        outcome.slowest = outcome.slowest.max((took, index));
        if outcome.inputs % 1_000_000 == 0 {
            println!("{outcome}");
        }
    }
    outcome
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inputs, bytes, accepted, refused, time, slowest } = self;
        write!(
            f,
            "{inputs} inputs, {:.1} MB: {accepted} accepted, {refused} refused, no panic; {:.1} s in the reader, \
             the slowest {:.1} ms (input {})",
            *bytes as f64 / 1e6,
            time.as_secs_f64(),
            slowest.0.as_secs_f64() * 1e3,
            slowest.1
        )
    }
}
