//! Hostile mode: what a program must survive on a real device and seldom meets there. A seeded choice of what runs
//! next, and calls that fail when a test says so. The choices are applied in `context`.

use std::sync::{Mutex, PoisonError};

use crate::backend::Answer;
use crate::error::ErrorKind;

/// Byte that fills new memory in hostile mode: as a float or an index it is far from anything.
pub(super) const GARBAGE: u8 = 0xa5;

/// A repeatable sequence of choices: Vigna's SplitMix64.
#[derive(Debug, Clone)]
pub(super) struct Choices(u64);

impl Choices {
    /// The sequence of this seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `count`; 0 if `count` is 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // the bias of a remainder does not matter for a choice between a few
        mixed.checked_rem(count as u64).unwrap_or(0) as usize
    }
}

/// A rule of this library's that a test can switch off, to see that the hostile device notices.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// Work on one stream goes behind what another stream does to the same array: without it, `wait_on` asks for nothing.
    Order,
    /// Memory is freed behind the work that uses it: without it, `wait_mark` returns at once.
    FreeBehindWork,
    /// A reset by somebody else ends the context for its handles: without it, nobody is told.
    NoticeReset,
}

/// Which calls let other threads go first, before they do anything: a seeded choice, so that threads meet in more ways
/// than they do by themselves. With several threads it does not repeat, since nobody decides which of them comes next.
#[derive(Debug)]
pub(super) struct Turns(Option<Mutex<Choices>>);

impl Turns {
    pub(super) fn new(seed: Option<u64>) -> Self {
        Self(seed.map(|seed| Mutex::new(Choices::new(!seed))))
    }

    /// Gives the turn away, now and then.
    pub(super) fn next(&self) {
        let Some(choices) = &self.0 else { return };
        let away = choices.lock().unwrap_or_else(PoisonError::into_inner).below(4) == 0;
        if away {
            std::thread::yield_now();
        }
    }
}

/// How often a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// That call alone.
    Once,
    /// That call and every later one.
    Forever,
}

/// Which backend calls fail. A call that fails does nothing else, except that a wait has waited (B3).
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<Plan>);

#[derive(Debug, Default)]
struct Plan {
    /// Calls so far.
    calls: u64,
    /// The call that fails, by number from 1, and what happens after it.
    fails: Option<(u64, Failure)>,
    /// The calls that failed, by name, in order.
    failed: Vec<&'static str>,
    /// Whether a reset leaves the device as it is.
    #[cfg(test)]
    resets_fail: bool,
}

impl Failures {
    /// Makes the `k`-th backend call from now fail; 1 is the next one, 0 none. Replaces an earlier plan.
    pub(crate) fn fail_call(&self, k: u64, failure: Failure) {
        let mut plan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plan.fails = (k > 0).then(|| (plan.calls.saturating_add(k), failure));
    }

    /// The calls that were made to fail so far, by name, in order.
    pub(super) fn failed(&self) -> Vec<&'static str> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failed.clone()
    }

    /// Calls so far.
    pub(crate) fn calls(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).calls
    }

    /// Whether resets from now on leave the device as it is.
    #[cfg(test)]
    pub(crate) fn fail_resets(&self, fail: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).resets_fail = fail;
    }

    /// Whether a reset is to leave the device as it is.
    #[cfg(test)]
    pub(super) fn resets_fail(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).resets_fail
    }

    /// Counts a call; an error if this one is to fail.
    pub(super) fn count(&self, call: &'static str) -> Answer<()> {
        let mut plan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plan.calls += 1;
        let fails = match plan.fails {
            Some((k, Failure::Once)) => plan.calls == k,
            Some((k, Failure::Forever)) => plan.calls >= k,
            None => false,
        };
        if fails {
            plan.failed.push(call);
            return Err(injected(call));
        }
        Ok(())
    }
}

/// What a driver answers that knows no better: `CUDA_ERROR_UNKNOWN`.
fn injected(call: &'static str) -> ErrorKind {
    ErrorKind::Driver { call, code: 999, name: "a failure that a test asked for".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(k: u64, failure: Failure) -> Vec<bool> {
        let failures = Failures::default();
        failures.count("before").unwrap();
        failures.fail_call(k, failure);
        (0..5).map(|_| failures.count("call").is_err()).collect()
    }

    #[test]
    fn the_kth_call_fails_once_or_from_then_on() {
        assert_eq!(pattern(2, Failure::Once), [false, true, false, false, false]);
        assert_eq!(pattern(3, Failure::Forever), [false, false, true, true, true]);
        assert_eq!(pattern(0, Failure::Forever), [false; 5]);
    }

    #[test]
    fn choices_repeat_with_their_seed_and_reach_everything() {
        let draw = |seed| {
            let mut choices = Choices::new(seed);
            (0..64).map(|_| choices.below(5)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert!((0..5).all(|n| draw(7).contains(&n)));
        assert_eq!(Choices::new(1).below(0), 0);
    }
}
