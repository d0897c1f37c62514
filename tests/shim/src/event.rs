//! Events: which point of which stream one was recorded at last, and when that was passed.

use std::sync::Mutex;
use std::time::Instant;

use crate::codes::{Answer, Code};
use crate::process::lock;
use crate::stream::Point;

/// One event.
#[derive(Debug)]
pub struct Event {
    /// Whether it notes the time.
    pub timing: bool,
    record: Mutex<Record>,
}

#[derive(Debug, Default)]
struct Record {
    number: u64,
    point: Option<Point>,
    passed: Option<Instant>,
}

impl Event {
    pub fn new(timing: bool) -> Self {
        Self { timing, record: Mutex::default() }
    }

    /// Records it: `queue` puts the record of the given number into a stream.
    pub fn record(&self, queue: impl FnOnce(u64) -> Answer<Point>) -> Answer {
        let mut record = lock(&self.record);
        let number = record.number + 1;
        let point = queue(number)?;
        *record = Record { number, point: Some(point), passed: None };
        Ok(())
    }

    /// Notes the time, unless it was recorded again meanwhile.
    pub fn pass(&self, number: u64) {
        let mut record = lock(&self.record);
        if record.number == number {
            record.passed = Some(Instant::now());
        }
    }

    /// Where it was recorded last.
    pub fn point(&self) -> Option<Point> {
        lock(&self.record).point.clone()
    }

    fn passed(&self) -> Answer<Instant> {
        let record = lock(&self.record);
        if !self.timing || record.point.is_none() {
            return Err(Code::INVALID_HANDLE);
        }
        record.passed.ok_or(Code::NOT_READY)
    }

    /// Milliseconds from this event to a later one; negative if that was passed first.
    pub fn elapsed(&self, to: &Self) -> Answer<f32> {
        let (from, to) = (self.passed()?, to.passed()?);
        let seconds = match to.checked_duration_since(from) {
            Some(later) => later.as_secs_f64(),
            None => -from.saturating_duration_since(to).as_secs_f64(),
        };
        Ok((seconds * 1e3) as f32)
    }
}
