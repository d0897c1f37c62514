//! How a host device behaves, as its opener chooses.

pub use super::hostile::{Failure, Protection};
pub use super::probe::Probe;

/// Options of the host device.
///
/// ```
/// use scoped_gpu::{Device, HostOptions};
///
/// let small = Device::host_with(HostOptions::new().memory_limit(1 << 20));
/// assert!(small.scope(|ctx| ctx.buffer::<u8>(2 << 20).map(drop)).is_err());
/// ```
#[derive(Debug, Clone, Default)]
pub struct HostOptions {
    pub(super) memory_limit: Option<u64>,
    /// The seed.
    pub(super) hostile: Option<u64>,
    pub(super) strict: bool,
    /// The number of the call, from 1.
    pub(super) fails: Option<(u64, Failure)>,
    pub(super) without: Option<Protection>,
    pub(super) probe: Option<Probe>,
}

impl HostOptions {
    /// The options of an ordinary host device.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that allocations may take together; by default half of the machine's memory.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Runs work early or late and in an order between streams that `seed` decides, as far as streams and events leave
    /// it open; makes some streams slow, so that they run only when somebody waits for them; fills new memory with
    /// garbage, keeps freed addresses out of use so that each use of them is recognised, and hands the same addresses
    /// out again after a reset; lets other threads go first now and then. For tests that want to know whether a program
    /// relies on what nothing promises.
    #[must_use]
    pub fn hostile(mut self, seed: u64) -> Self {
        self.hostile = Some(seed);
        self
    }

    /// Makes each launch report also what the hardware would let pass.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Makes the `k`-th call to the device fail, counted from 1, once or from then on. For tests of cleanup: a program
    /// run with `k` = 1, 2, 3, … until it meets no failure has met each one it can meet.
    ///
    /// Calls are what a driver would be asked for: several for each call of this library. One that fails has done
    /// nothing, except that a wait has waited. The error is a [`Driver`](crate::ErrorKind::Driver) one with code 999.
    ///
    /// ```
    /// use scoped_gpu::{Device, Failure, HostOptions};
    ///
    /// let failed = (1..).take_while(|&k| {
    ///     let device = Device::host_with(HostOptions::new().fail_call(k, Failure::Once));
    ///     device.scope(|ctx| ctx.buffer::<f32>(8)?.to_vec()).is_err()
    /// });
    /// assert!(failed.count() > 0);
    /// ```
    #[must_use]
    pub fn fail_call(mut self, k: u64, failure: Failure) -> Self {
        self.fails = Some((k, failure));
        self
    }

    /// Switches a protection of this library's off. For tests that show that a test of it can fail.
    #[doc(hidden)]
    #[must_use]
    pub fn without(mut self, protection: Protection) -> Self {
        self.without = Some(protection);
        self
    }

    /// Lets a test look, and act, behind the library's back.
    #[doc(hidden)]
    #[must_use]
    pub fn probe(mut self, probe: &Probe) -> Self {
        self.probe = Some(probe.clone());
        self
    }
}
