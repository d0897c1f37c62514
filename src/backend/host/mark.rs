//! Marks (events): places in a stream's order, and when they were passed.

use std::time::Instant;

use crate::backend::{Answer, StreamId};
use crate::error::ErrorKind;

/// A place in a stream's order: behind the first `position` operations that were ever queued on it.
///
/// What stands before a point was queued before the point was made, so waits for points cannot form a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) stream: StreamId,
    pub(super) position: u64,
}

/// One mark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) point: Point,
    /// When everything before it had stopped.
    pub(super) passed: Option<Instant>,
}

/// Milliseconds from one mark to the other; negative if the second was passed first.
pub(super) fn elapsed(from: &Mark, to: &Mark) -> Answer<f32> {
    let (Some(from), Some(to)) = (from.passed, to.passed) else {
        let message = "the time between two events: wait for both of them first".to_owned();
        return Err(ErrorKind::NotSupported { message });
    };
    let seconds = match to.checked_duration_since(from) {
        Some(later) => later.as_secs_f64(),
        None => -from.saturating_duration_since(to).as_secs_f64(),
    };
    Ok((seconds * 1e3) as f32)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_has_a_sign_and_needs_both_marks() {
        let point = Point { stream: StreamId { number: 1, handle: 0 }, position: 0 };
        let start = Instant::now();
        let a = Mark { point, passed: Some(start) };
        let b = Mark { point, passed: Some(start + Duration::from_micros(1500)) };
        assert_eq!(elapsed(&a, &b).unwrap(), 1.5);
        assert_eq!(elapsed(&b, &a).unwrap(), -1.5);
        let open = Mark { point, passed: None };
        assert!(matches!(elapsed(&a, &open), Err(ErrorKind::NotSupported { .. })));
    }
}
