//! What the scopes of one device share: the backend, the count of open scopes, statistics, the last cleanup's error.

use std::panic::Location;
use std::sync::Mutex;
use std::thread;

use crate::backend::{Answer, Backend, Reset};
use crate::context::core::lock;
use crate::device::leaks::LeakReport;
use crate::error::{Error, ErrorKind};
use crate::pool::{Pool, Standing};

/// Bytes and number of a device's allocations, over all its open scopes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStatistics {
    /// Bytes in live allocations.
    pub live: u64,
    /// The most bytes that were live at once since the device was opened.
    pub peak: u64,
    /// Bytes that the device's pool took from the driver and that no allocation uses now.
    pub cached: u64,
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
    pub(crate) pool: Pool,
    scopes: Mutex<Scopes>,
    statistics: Mutex<MemoryStatistics>,
    last_cleanup: Mutex<Option<Error>>,
    last_leaks: Mutex<LeakReport>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let give_back = || {
            // SAFETY: the device is gone, and with it every scope that could use its memory.
            unsafe { self.clear_pool() };
            self.backend.close();
        };
        // A device in a thread's local storage goes when its thread does, and the driver may have put away by then what
        // it keeps for the thread. Another thread can give back; a context that others use would keep it all.
        if !matches!(self.backend.make_current(), Err(ErrorKind::Driver { .. })) {
            return give_back();
        }
        thread::scope(|threads| {
            // Where no thread can be had, what is left goes with its context.
            let _ = thread::Builder::new().spawn_scoped(threads, give_back);
        });
    }
}

impl Shared {
    pub(crate) fn new(backend: Box<dyn Backend>) -> Self {
        Self {
            backend,
            pool: Pool::default(),
            scopes: Mutex::default(),
            statistics: Mutex::default(),
            last_cleanup: Mutex::default(),
            last_leaks: Mutex::default(),
        }
    }

    /// Counts a scope that `open` opens. Fails at once, with the origin, where a fault ended the device for good.
    pub(crate) fn enter<T>(&self, open: impl Fn() -> Answer<T>) -> Answer<T> {
        let mut scopes = lock(&self.scopes);
        if let Some(origin) = &scopes.poisoned {
            return Err(ErrorKind::Poisoned { origin: origin.clone() });
        }
        let opened = match open() {
            // Somebody else reset or broke the device between two scopes: nobody is in one, so it is made anew.
            Err(kind) if scopes.open == 0 && self.backend.has_ended() => {
                self.renew(&mut scopes, |backend| backend.reset());
                if scopes.poisoned.is_some() {
                    return Err(kind);
                }
                open()?
            }
            other => other?,
        };
        if scopes.open == 0 {
            *lock(&self.last_cleanup) = None;
            *lock(&self.last_leaks) = LeakReport::default();
        }
        scopes.open += 1;
        Ok(opened)
    }

    /// Ends a scope that was opened at `here`. After a fault that ended the context, the last one out tries to make the
    /// device work again.
    pub(crate) fn leave(&self, here: &'static Location<'static>) -> Result<(), Error> {
        let mut left = Ok(());
        let mut scopes = lock(&self.scopes);
        scopes.open = scopes.open.saturating_sub(1);
        if scopes.open == 0 && !self.backend.has_ended() {
            // No stream is left, so no work is pending on anything that is cached.
            let trimmed = self
                .backend
                .make_current()
                .and_then(|()| self.pool.trim(&*self.backend, None, &|_| Standing::Stopped));
            left = trimmed.map(drop).map_err(|kind| Error::at(kind, here));
        }
        if scopes.open == 0 && self.backend.has_ended() {
            self.renew(&mut scopes, |backend| backend.reset());
        }
        left
    }

    /// Makes the device anew; no scope is open.
    fn renew(&self, scopes: &mut Scopes, how: impl FnOnce(&dyn Backend) -> Reset) -> Reset {
        // SAFETY: no scope is open (this function's condition), so nobody uses the device's memory.
        unsafe { self.clear_pool() };
        let answer = how(&*self.backend);
        scopes.poisoned = match &answer {
            Reset::Recovered => None,
            Reset::Poisoned { origin } => Some(origin.clone()),
        };
        answer
    }

    /// Resets the backend. The caller has exclusive access to the device, so no scope is open.
    pub(crate) fn reset(&self, how: impl FnOnce(&dyn Backend) -> Reset) -> Reset {
        let answer = self.renew(&mut lock(&self.scopes), how);
        let mut statistics = lock(&self.statistics);
        statistics.live = 0;
        statistics.count = 0;
        answer
    }

    /// Gives all memory back before the context goes.
    ///
    /// # Safety
    /// Nothing of the device's memory is used any more.
    unsafe fn clear_pool(&self) {
        if self.pool.held().cached == 0 {
            return;
        }
        // What cannot be given back one by one goes with its context.
        if self.backend.make_current().is_ok() {
            // SAFETY: this function's own condition.
            unsafe { self.pool.clear(&*self.backend) };
        } else {
            self.pool.forget();
        }
    }

    /// Gives cached memory without pending work back to the driver.
    pub(crate) fn trim(&self) -> Answer<u64> {
        if self.pool.held().cached == 0 {
            return Ok(0);
        }
        self.backend.make_current()?;
        // Only the scopes know how their work stands; what they have not finished with stays. The lock keeps new ones away.
        let scopes = lock(&self.scopes);
        let standing = if scopes.open > 0 { Standing::Unknown } else { Standing::Stopped };
        self.pool.trim(&*self.backend, Some(0), &|_| standing)
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
        MemoryStatistics { cached: self.pool.held().cached, ..*lock(&self.statistics) }
    }

    pub(crate) fn record_cleanup(&self, error: &Error) {
        let mut last = lock(&self.last_cleanup);
        // The fault that did it says more than the calls that it made fail.
        if last.is_none() || !matches!(error.kind(), ErrorKind::Poisoned { .. }) {
            *last = Some(error.duplicate());
        }
    }

    /// Keeps what the scope opened at `scope` found forgotten.
    pub(crate) fn record_leaks(&self, leaks: &LeakReport, scope: &'static Location<'static>) {
        leaks.print(&self.backend.info().id, scope);
        lock(&self.last_leaks).extend(leaks);
    }

    pub(crate) fn last_leaks(&self) -> LeakReport {
        lock(&self.last_leaks).clone()
    }

    pub(crate) fn last_cleanup(&self) -> Option<Error> {
        lock(&self.last_cleanup).as_ref().map(Error::duplicate)
    }
}
