//! What the scopes of one device share: the backend, the count of open scopes, statistics, the last cleanup's error.

use std::sync::Mutex;

use crate::backend::{Answer, Backend, Reset};
use crate::context::core::lock;
use crate::error::{Error, ErrorKind};

/// Bytes and number of a device's allocations, over all its open scopes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStatistics {
    /// Bytes in live allocations.
    pub live: u64,
    /// The most bytes that were live at once since the device was opened.
    pub peak: u64,
    /// Live allocations.
    pub count: u64,
    /// Allocations made since the device was opened.
    pub allocated: u64,
    /// Allocations freed since the device was opened.
    pub freed: u64,
}

#[derive(Debug, Default)]
struct Scopes {
    open: usize,
    /// What ended the context, once that is known.
    poisoned: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) backend: Box<dyn Backend>,
    scopes: Mutex<Scopes>,
    statistics: Mutex<MemoryStatistics>,
    last_cleanup: Mutex<Option<Error>>,
}

impl Shared {
    pub(crate) fn new(backend: Box<dyn Backend>) -> Self {
        Self {
            backend,
            scopes: Mutex::default(),
            statistics: Mutex::default(),
            last_cleanup: Mutex::default(),
        }
    }

    /// Counts a scope that `open` opens. Fails at once, with the origin, where a fault ended the device for good.
    pub(crate) fn enter<T>(&self, open: impl FnOnce() -> Answer<T>) -> Answer<T> {
        let mut scopes = lock(&self.scopes);
        if let Some(origin) = &scopes.poisoned {
            return Err(ErrorKind::Poisoned { origin: origin.clone() });
        }
        let opened = open()?;
        if scopes.open == 0 {
            *lock(&self.last_cleanup) = None;
        }
        scopes.open += 1;
        Ok(opened)
    }

    /// Ends a scope. After a fault that ended the context, the last one out tries to make the device work again.
    pub(crate) fn leave(&self) {
        let mut scopes = lock(&self.scopes);
        scopes.open = scopes.open.saturating_sub(1);
        let ended =
            matches!(self.backend.memory_info(), Err(ErrorKind::Poisoned { .. } | ErrorKind::Fault(_)));
        if scopes.open == 0 && ended {
            scopes.poisoned = match self.backend.reset() {
                Reset::Recovered => None,
                Reset::Poisoned { origin } => Some(origin),
            };
        }
    }

    /// Resets the backend. The caller has exclusive access to the device, so no scope is open.
    pub(crate) fn reset(&self) -> Reset {
        let mut scopes = lock(&self.scopes);
        let answer = self.backend.reset();
        scopes.poisoned = match &answer {
            Reset::Recovered => None,
            Reset::Poisoned { origin } => Some(origin.clone()),
        };
        let mut statistics = lock(&self.statistics);
        statistics.live = 0;
        statistics.count = 0;
        answer
    }

    pub(crate) fn note_allocated(&self, bytes: usize) {
        let mut statistics = lock(&self.statistics);
        statistics.live += bytes as u64;
        statistics.peak = statistics.peak.max(statistics.live);
        statistics.count += 1;
        statistics.allocated += 1;
    }

    pub(crate) fn note_freed(&self, bytes: usize) {
        let mut statistics = lock(&self.statistics);
        statistics.live = statistics.live.saturating_sub(bytes as u64);
        statistics.count = statistics.count.saturating_sub(1);
        statistics.freed += 1;
    }

    pub(crate) fn live_bytes(&self) -> u64 {
        lock(&self.statistics).live
    }

    pub(crate) fn statistics(&self) -> MemoryStatistics {
        *lock(&self.statistics)
    }

    pub(crate) fn record_cleanup(&self, error: &Error) {
        let mut last = lock(&self.last_cleanup);
        // The fault that did it says more than the calls that it made fail.
        if last.is_none() || !matches!(error.kind(), ErrorKind::Poisoned { .. }) {
            *last = Some(error.duplicate());
        }
    }

    pub(crate) fn last_cleanup(&self) -> Option<Error> {
        lock(&self.last_cleanup).as_ref().map(Error::duplicate)
    }
}
