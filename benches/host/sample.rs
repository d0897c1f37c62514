//! Repeated timing of one piece of work.

use std::time::{Duration, Instant};

use anyhow::Result;

/// How long a sample goes on.
const SAMPLE: Duration = Duration::from_millis(500);
/// Runs of a sample at least.
const LEAST: usize = 5;

/// How long one run takes.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub median: Duration,
    pub best: Duration,
}

impl Sample {
    /// Times `work` again and again, after a first run that is not counted.
    pub fn of(mut work: impl FnMut() -> Result<()>) -> Result<Self> {
        work()?;
        let begin = Instant::now();
        let mut times = Vec::new();
        while times.len() < LEAST || begin.elapsed() < SAMPLE {
            let start = Instant::now();
            work()?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        Ok(Self { median: times[times.len() / 2], best: times[0] })
    }
}
