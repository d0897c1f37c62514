//! How a scope ends, whatever happened in it: close, then the closure's own outcome first, cleanup's second.

use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use smallvec::SmallVec;

use crate::context::core::{Core, Errors};
use crate::context::ledger::EntryId;
use crate::device::Shared;
use crate::error::Error;

type Outcome<R, E> = Result<Result<R, E>, Box<dyn Any + Send>>;

/// Runs `body`, then `close`, also after a panic; the panic goes on when everything is closed.
///
/// The body's own `Err` or panic stays as it is, and what `close` met is kept with the device; if the body succeeded,
/// that is the result. `close` is told where the scope was opened, for what goes wrong with no other call to name.
#[track_caller]
pub(crate) fn run<S, R, E: From<Error>>(
    shared: &Shared,
    mut state: S,
    body: impl FnOnce(&mut S) -> Result<R, E>,
    close: impl FnOnce(S, &'static Location<'static>) -> Result<(), Error>,
) -> Result<R, E> {
    let here = Location::caller();
    // After a panic `state` is only closed, which is what it is for; nothing else looks at it.
    let outcome: Outcome<R, E> = catch_unwind(AssertUnwindSafe(|| body(&mut state)));
    let closed = close(state, here);
    match (outcome, closed) {
        (Ok(Ok(value)), Ok(())) => Ok(value),
        (Ok(Ok(_)), Err(error)) => {
            shared.record_cleanup(&error);
            Err(E::from(error))
        }
        (Ok(Err(error)), closed) => {
            if let Err(cleanup) = closed {
                shared.record_cleanup(&cleanup);
            }
            Err(error)
        }
        (Err(payload), closed) => {
            if let Err(cleanup) = closed {
                shared.record_cleanup(&cleanup);
            }
            resume_unwind(payload)
        }
    }
}

/// The allocations of one `alloc` call, given back together, newest first.
#[derive(Debug)]
pub(crate) struct Frame<'c> {
    pub(crate) core: &'c Core,
    entries: SmallVec<[EntryId; 8]>,
}

impl<'c> Frame<'c> {
    pub(crate) fn new(core: &'c Core) -> Self {
        Self { core, entries: SmallVec::new() }
    }

    pub(crate) fn keep(&mut self, entry: EntryId) {
        self.entries.push(entry);
    }

    /// Ends the work of the context's own stream that uses these arrays, returns its fault, and frees them.
    pub(crate) fn close(self, here: &'static Location<'static>) -> Result<(), Error> {
        let mut errors = Errors::default();
        let own = self.core.stream;
        let busy = {
            let ledger = self.core.ledger();
            self.entries
                .iter()
                .filter_map(|&entry| ledger.allocations.get(entry))
                .any(|allocation| ledger.pending(allocation).iter().any(|pending| pending.stream == own))
        };
        if busy && let Err(error) = self.core.wait_at(own, here) {
            errors.push(error);
        }
        for entry in self.entries.into_iter().rev() {
            // The call that allocated is the one that opened the frame.
            errors.extend(self.core.release(entry).map_err(|error| error.moved_to(here)));
        }
        errors.into_result()
    }
}
