//! Events: a moment of a stream that others can wait for, and the time between two of them.

use std::fmt;
use std::panic::Location;

use crate::backend::MarkId;
use crate::context::Brand;
use crate::context::core::Core;
use crate::context::ledger::EntryId;
use crate::error::{AtCaller, Error, ErrorKind};
use crate::stream::Stream;

/// A moment of a stream: everything that was queued on it before.
///
/// Between streams that use the same arrays the library orders by itself; events are for timing, and for order that no
/// array shows.
#[doc(alias = "cudaEvent_t")]
pub struct Event<'ctx> {
    core: &'ctx Core,
    mark: MarkId,
    entry: EntryId,
    brand: Brand<'ctx>,
}

impl<'ctx> Stream<'_, '_, 'ctx> {
    /// The moment after all that is queued on this stream now.
    ///
    /// # Errors
    /// Those of the driver.
    #[track_caller]
    #[doc(alias = "cudaEventRecord")]
    pub fn record(&self) -> Result<Event<'ctx>, Error> {
        let core = self.streams.core;
        let mark = core.backend()?.record(self.id).at_caller()?;
        let entry = core.ledger().marks.insert((mark, Location::caller()));
        Ok(Event { core, mark, entry, brand: std::marker::PhantomData })
    }

    /// Makes everything queued on this stream from now on run after `event`. Does not block.
    ///
    /// # Errors
    /// Those of the driver.
    #[track_caller]
    #[doc(alias = "cudaStreamWaitEvent")]
    pub fn wait_for(&self, event: &Event<'ctx>) -> Result<(), Error> {
        let core = self.streams.core;
        core.own("an event", event.core).at_caller()?;
        core.backend()?.wait_on(self.id, event.mark).at_caller()
    }
}

impl Event<'_> {
    /// Waits until the moment has come. A fault of the stream stays with the stream.
    ///
    /// # Errors
    /// Those of the driver; [`ErrorKind::Poisoned`] after a fault that ended the context.
    #[track_caller]
    #[doc(alias = "cudaEventSynchronize")]
    pub fn wait(&self) -> Result<(), Error> {
        self.core.backend()?.wait_mark(self.mark).at_caller()
    }

    /// Whether the moment has come.
    ///
    /// # Errors
    /// Those of the driver.
    #[track_caller]
    #[doc(alias = "cudaEventQuery")]
    pub fn is_done(&self) -> Result<bool, Error> {
        self.core.backend()?.is_done(self.mark).at_caller()
    }

    /// Time from this event to `later`, in milliseconds of the device. Waits for both.
    ///
    /// # Errors
    /// As for [`wait`](Self::wait).
    #[track_caller]
    #[doc(alias = "cudaEventElapsedTime")]
    pub fn elapsed_ms(&self, later: &Self) -> Result<f32, Error> {
        self.core.own("an event", later.core).at_caller()?;
        self.wait()?;
        later.wait()?;
        self.core.backend()?.elapsed(self.mark, later.mark).at_caller()
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        let removed = self.core.ledger().marks.remove(self.entry);
        if let Some((mark, location)) = removed
            && let Err(kind) = self.core.shared.backend.destroy_mark(mark)
            && !matches!(kind, ErrorKind::Poisoned { .. })
        {
            self.core.record(Error::at(kind, location));
        }
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event {{ number {} }}", self.mark.0)
    }
}
