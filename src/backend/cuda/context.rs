//! The context of one CUDA device: whose it is, making it current, what ended it, and making a new one. What a result
//! code means for the context is decided here, for all calls.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cust::sys::CUctx_st;

use super::codes::{Meaning, meaning};
use super::driver::{self, ContextHandle, Driver, Failure};
use super::fork;
use super::module::Launched;
use crate::backend::{Answer, Ownership, Reset};
use crate::error::ErrorKind;
use crate::fault::{Fault, FaultKind};

/// Names the launches that nobody has waited for.
type Unfinished = Box<dyn Fn() -> Vec<Launched> + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// A lock whose holder leaves nothing half done when it panics.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One context, replaced by a new one at each reset.
pub(super) struct Context {
    device: i32,
    ownership: Ownership,
    forks: u64,
    /// Null when there is none: a reset did not bring one.
    handle: AtomicPtr<CUctx_st>,
    /// The driver's own number of it, which changes when somebody resets a primary context.
    id: AtomicU64,
    /// Whether `end` holds something: asked at every call, without a lock.
    ended: AtomicBool,
    end: Mutex<Option<End>>,
    /// Any call may be the first to meet a fault of a launch that was queued before it, and says whose it may be.
    unfinished: OnceLock<Unfinished>,
}

/// Why a context answers nothing more.
#[derive(Debug, Clone)]
enum End {
    /// A fault ended it; its summary.
    Fault(String),
    /// Somebody else's reset.
    Lost,
}

impl Context {
    pub(super) fn open(device: i32, ownership: Ownership) -> Driver<Self> {
        fork::notice();
        let (handle, id) = make(device, ownership)?;
        Ok(Self {
            device,
            ownership,
            forks: fork::generation(),
            handle: AtomicPtr::new(handle),
            id: AtomicU64::new(id),
            ended: AtomicBool::new(false),
            end: Mutex::new(None),
            unfinished: OnceLock::new(),
        })
    }

    /// What names the launches that nobody has waited for. It is called while no lock is held that a call of the driver
    /// is made under.
    pub(super) fn set_unfinished(
        &self,
        unfinished: impl Fn() -> Vec<Launched> + Send + Sync + UnwindSafe + RefUnwindSafe + 'static,
    ) {
        self.unfinished.get_or_init(|| Box::new(unfinished));
    }

    /// The launches that nobody has waited for.
    pub(super) fn unfinished(&self) -> Vec<Launched> {
        self.unfinished.get().map(|unfinished| unfinished()).unwrap_or_default()
    }

    fn set_end(&self, end: Option<End>) {
        self.replace_end(&mut self.end(), end);
    }

    fn replace_end(&self, slot: &mut Option<End>, end: Option<End>) {
        self.ended.store(end.is_some(), Ordering::Release);
        *slot = end;
    }

    fn end(&self) -> MutexGuard<'_, Option<End>> {
        lock(&self.end)
    }

    pub(super) fn ownership(&self) -> Ownership {
        self.ownership
    }

    pub(super) fn handle(&self) -> ContextHandle {
        self.handle.load(Ordering::Acquire)
    }

    /// Whether this is the process that opened it.
    #[inline]
    pub(super) fn is_ours(&self) -> bool {
        fork::generation() == self.forks
    }

    /// An error once something has ended the context, or in a forked process.
    #[inline]
    pub(super) fn alive(&self) -> Answer<()> {
        if self.is_ours() && !self.has_ended() { Ok(()) } else { self.why_not_alive() }
    }

    #[cold]
    fn why_not_alive(&self) -> Answer<()> {
        if !self.is_ours() {
            return Err(ErrorKind::DeviceUnavailable {
                message:
                    "the process was forked: a CUDA device that was opened before the fork cannot be used \
                          after it; open a new one in a process that is started by itself"
                        .to_owned(),
            });
        }
        match &*self.end() {
            None => Ok(()),
            Some(End::Fault(origin)) => Err(ErrorKind::Poisoned { origin: origin.clone() }),
            Some(End::Lost) => Err(ErrorKind::ContextLost),
        }
    }

    /// Whether calls that give something back may reach the driver: in the process that made it, while it is there.
    pub(super) fn is_usable(&self) -> bool {
        let lost = || self.has_ended() && matches!(&*self.end(), Some(End::Lost));
        self.is_ours() && !self.handle().is_null() && !lost()
    }

    /// Whether it was made current to give back what it holds, which it can do no more once it is gone.
    pub(super) fn takes_back(&self) -> bool {
        self.is_usable() && self.make_current().is_ok()
    }

    /// Whether only a reset can make it work again.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether it is current on this thread.
    pub(super) fn is_current(&self) -> bool {
        let mut current = ptr::null_mut();
        // SAFETY: `current` is a place for the answer.
        unsafe { driver::context_current(&mut current) }.is_ok() && current == self.handle()
    }

    /// Makes the context current on this thread, also one that a fault has ended, so that what it holds can be given
    /// back.
    pub(super) fn make_current(&self) -> Answer<()> {
        if !self.is_ours() {
            return self.alive();
        }
        let handle = self.handle();
        if handle.is_null() {
            return self.alive();
        }
        if self.ownership == Ownership::Primary {
            self.notice_reset(handle)?;
        }
        // asking takes a fraction of what setting does
        if self.is_current() {
            return Ok(());
        }
        // SAFETY: the handle is live: it is replaced only by a reset, which has exclusive access (C4).
        let current = unsafe { driver::context_set_current(handle) };
        match current {
            Err(_) if self.has_ended() => Ok(()),
            // A fault answers every call of the process, so also the one that follows, which knows whose it may be.
            Err(failure) if meaning(failure.code) == Meaning::Ended => Ok(()),
            other => self.answer(other),
        }
    }

    /// A reset by somebody else leaves the handle's address as it is and gives the context a new number (measured: H2).
    fn notice_reset(&self, handle: ContextHandle) -> Answer<()> {
        if self.has_ended() && matches!(&*self.end(), Some(End::Lost)) {
            return Err(ErrorKind::ContextLost);
        }
        let mut id = 0;
        // SAFETY: a primary context's handle stays valid to ask about while it is retained, as it is until `drop`.
        let asked = unsafe { driver::context_id(handle, &mut id) };
        let same = asked.is_ok() && id == self.id.load(Ordering::Acquire);
        let faulted = asked.is_err_and(|failure| meaning(failure.code) == Meaning::Ended);
        if same || faulted || matches!(&*self.end(), Some(End::Fault(_))) {
            return Ok(());
        }
        self.set_end(Some(End::Lost));
        Err(ErrorKind::ContextLost)
    }

    /// What a call's result means, for the call and for the context. A fault that it reports may be that of any launch
    /// that nobody has waited for.
    pub(super) fn answer<T>(&self, result: Driver<T>) -> Answer<T> {
        self.answer_after(result, || self.unfinished())
    }

    /// The same where `unfinished` says which launches may have made a fault.
    fn answer_after<T>(&self, result: Driver<T>, unfinished: impl FnOnce() -> Vec<Launched>) -> Answer<T> {
        result.map_err(|failure| self.failed(failure, unfinished))
    }

    #[cold]
    fn failed(&self, failure: Failure, unfinished: impl FnOnce() -> Vec<Launched>) -> ErrorKind {
        if let Err(ended) = self.alive() {
            return ended;
        }
        match meaning(failure.code) {
            Meaning::Refused => driver_error(failure),
            Meaning::Lost => {
                self.set_end(Some(End::Lost));
                ErrorKind::ContextLost
            }
            Meaning::Ended => {
                let fault = fault(failure, &unfinished());
                let mut end = self.end();
                if let Some(End::Fault(origin)) = &*end {
                    // another thread was told meanwhile
                    return ErrorKind::Poisoned { origin: origin.clone() };
                }
                self.replace_end(&mut end, Some(End::Fault(fault.summary())));
                ErrorKind::Fault(Box::new(fault))
            }
        }
    }

    /// What a wait's result means. Memory of the host is given back after it, so a wait that the driver refused, which
    /// shows nothing about the work, ends the process (B3); after a fault, or somebody's reset, the device runs nothing
    /// any more, and what the host still runs is waited for by the callers (`CudaBackend::waited`).
    pub(super) fn stopped(&self, result: Driver<()>) -> Answer<()> {
        self.stopped_after(result, || self.unfinished())
    }

    /// The same where `unfinished` says more closely which launches may have made a fault.
    pub(super) fn stopped_after(
        &self,
        result: Driver<()>,
        unfinished: impl FnOnce() -> Vec<Launched>,
    ) -> Answer<()> {
        if let Err(failure) = result
            && meaning(failure.code) == Meaning::Refused
        {
            eprintln!(
                "scoped-gpu: {} after which work on the device may still use borrowed memory; the process ends here",
                driver_error(failure)
            );
            std::process::abort();
        }
        self.answer_after(result, unfinished)
    }

    /// Throws the context away, makes a new one, and asks whether that works.
    pub(super) fn reset(&self) -> Reset {
        let before = match &*self.end() {
            Some(End::Fault(origin)) => Some(origin.clone()),
            _ => None,
        };
        let poisoned = |failure: Failure| {
            let origin = before.clone().unwrap_or_else(|| driver_error(failure).to_string());
            self.set_end(Some(End::Fault(origin.clone())));
            Reset::Poisoned { origin }
        };
        if !self.is_ours() {
            return Reset::Poisoned { origin: "the process was forked".to_owned() };
        }
        self.give_back();
        match make(self.device, self.ownership) {
            Ok((handle, id)) => {
                self.handle.store(handle, Ordering::Release);
                self.id.store(id, Ordering::Release);
                // SAFETY: `make` has just made it current.
                match unsafe { driver::context_synchronize() } {
                    Ok(()) => {
                        self.set_end(None);
                        Reset::Recovered
                    }
                    Err(failure) => poisoned(failure),
                }
            }
            Err(failure) => poisoned(failure),
        }
    }

    /// Destroys everything in the primary context, whoever uses it; then as [`reset`](Self::reset). A private context is
    /// nobody else's, and so is the primary one of a forked process: there it is that alone.
    pub(super) fn reset_primary(&self) -> Reset {
        if self.ownership == Ownership::Private || !self.is_ours() {
            return self.reset();
        }
        // SAFETY: the ordinal is a device's. That nobody else needs the context is vouched for by the caller of
        // `Device::reset_primary`; nothing of this crate does, as no scope is open.
        let reset = unsafe { driver::primary_reset(self.device) };
        if let Err(failure) = reset
            && meaning(failure.code) != Meaning::Ended
        {
            return Reset::Poisoned { origin: driver_error(failure).to_string() };
        }
        self.reset()
    }

    /// Gives the context back, once.
    fn give_back(&self) {
        let handle = self.handle.swap(ptr::null_mut(), Ordering::AcqRel);
        if !handle.is_null() {
            give_back(handle, self.device, self.ownership);
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_ours() {
            self.give_back();
        }
    }
}

/// A context on `device`, current on this thread, and the driver's number of it.
fn make(device: i32, ownership: Ownership) -> Driver<(ContextHandle, u64)> {
    let mut handle = ptr::null_mut();
    match ownership {
        // SAFETY: `handle` is a place for the answer; the driver was started when devices were counted.
        Ownership::Private => unsafe { driver::context_create(&mut handle, 0, device) }?,
        // SAFETY: as above.
        Ownership::Primary => unsafe { driver::primary_retain(&mut handle, device) }?,
    }
    let made = scopeguard::guard(handle, |handle| give_back(handle, device, ownership));
    if ownership == Ownership::Primary {
        // SAFETY: the handle was retained just now.
        unsafe { driver::context_set_current(*made) }?;
    }
    let mut id = 0;
    // SAFETY: the handle is live and `id` a place for the answer.
    unsafe { driver::context_id(*made, &mut id) }?;
    Ok((scopeguard::ScopeGuard::into_inner(made), id))
}

/// Destroys or releases what [`make`] made. What that answers does not matter: after a fault it is success (H1), and
/// whether the device works is what the next context shows.
fn give_back(handle: ContextHandle, device: i32, ownership: Ownership) {
    let _ = match ownership {
        // SAFETY: made by `make` and given back once, by its only owner, so nobody uses it after this.
        Ownership::Private => unsafe { driver::context_destroy(handle) },
        // SAFETY: retained once by `make`, released once here.
        Ownership::Primary => unsafe { driver::primary_release(device) },
    };
}

/// The error of a call that the driver refused.
pub(super) fn driver_error(failure: Failure) -> ErrorKind {
    ErrorKind::Driver { call: failure.call, code: failure.code, name: failure.name().to_owned() }
}

/// The fault that a result reports, blamed on the oldest launch that may have made it.
fn fault(failure: Failure, unfinished: &[Launched]) -> Fault {
    let kind = FaultKind::Hardware {
        code: failure.code,
        name: failure.name().to_owned(),
        candidates: unfinished.len(),
    };
    let mut fault = match unfinished.first() {
        Some(first) => {
            let mut fault = Fault::new(kind, &*first.module, &*first.kernel);
            fault.launched_at = Some(first.location);
            fault
        }
        None => Fault::new(kind, "unknown", "unknown"),
    };
    fault.contained = false;
    fault
}
