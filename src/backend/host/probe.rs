//! What a test sees and does behind the library's back: what a context still holds, which calls were made to fail, and a
//! reset by somebody else. Nothing of it is for programs.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::context::Context;
use super::hostile::{Failure, Failures};
use super::pinned::Pinned;

/// What a context holds and has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Live allocations, those of module variables among them.
    pub allocations: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Live blocks of pinned memory.
    pub pinned: usize,
    /// Streams that were not destroyed.
    pub streams: usize,
    /// Marks that were not destroyed.
    pub marks: usize,
    /// Modules that are loaded.
    pub modules: usize,
    /// Operations of these streams that have stopped.
    pub stopped: u64,
    /// Calls so far that can fail.
    pub calls: u64,
}

/// A view into one host device from behind: the first that is opened with it (`HostOptions::probe`).
#[derive(Clone, Default)]
pub struct Probe(Arc<OnceLock<Inside>>);

struct Inside {
    failures: Arc<Failures>,
    context: Arc<Mutex<Context>>,
    pinned: Arc<Mutex<Pinned>>,
    notices_resets: bool,
}

impl Probe {
    /// Looks into this device, if the probe has none yet.
    pub(super) fn attach(
        &self,
        failures: &Arc<Failures>,
        context: &Arc<Mutex<Context>>,
        pinned: &Arc<Mutex<Pinned>>,
        notices_resets: bool,
    ) {
        self.0.get_or_init(|| Inside {
            failures: Arc::clone(failures),
            context: Arc::clone(context),
            pinned: Arc::clone(pinned),
            notices_resets,
        });
    }

    /// What the device holds and has done; nothing before it was opened.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let Some(inside) = self.0.get() else { return Statistics::default() };
        let pinned = inside.pinned.lock().unwrap_or_else(PoisonError::into_inner).count();
        let context = inside.context.lock().unwrap_or_else(PoisonError::into_inner).statistics();
        Statistics { pinned, calls: inside.failures.calls(), ..context }
    }

    /// The calls that were made to fail so far, by name, in order.
    #[must_use]
    pub fn failed(&self) -> Vec<&'static str> {
        self.0.get().map(|inside| inside.failures.failed()).unwrap_or_default()
    }

    /// Makes the `k`-th call from now fail, as `HostOptions::fail_call` does from the beginning; 0: none.
    pub fn fail_call(&self, k: u64, failure: Failure) {
        if let Some(inside) = self.0.get() {
            inside.failures.fail_call(k, failure);
        }
    }

    /// Does what a stranger's reset of the device does: everything that its context holds is gone. Page-locked memory
    /// stays until it is given back, since programs still have it borrowed.
    pub fn reset_from_outside(&self) {
        if let Some(inside) = self.0.get() {
            let mut context = inside.context.lock().unwrap_or_else(PoisonError::into_inner);
            context.reset_from_outside(inside.notices_resets);
        }
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // without the lock: printing must not wait for what the device runs
        f.debug_struct("Probe").field("attached", &self.0.get().is_some()).finish()
    }
}
