//! Devices: which there are, opening scopes on one, resetting it. What a scope can do is in `context`.

// What runs when something is closed does not panic: `tests/structure/closing.rs`.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable
    )
)]

mod all;
mod choice;
mod leaks;
mod shared;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use scopeguard::{ScopeGuard, guard};

pub use leaks::{Leak, LeakKind, LeakReport};
pub use shared::MemoryStatistics;
pub(crate) use shared::Shared;

pub use crate::backend::host::{Failure, HostOptions};
#[doc(hidden)]
pub use crate::backend::host::{Probe, Protection};
use crate::backend::{DeviceInfo, Ownership, Reset};
use crate::context::Context;
use crate::context::core::{Core, Errors};
use crate::context::scope;
use crate::error::{AtCaller, Error, ErrorKind};

/// A device with a context of its own.
///
/// `Device` owns its context: two `Device` values never share one, also when both were opened on the same GPU, and
/// nothing of one can be used with the other. That is what makes [`reset`](Self::reset) safe.
///
/// ```
/// use scoped_gpu::{Device, Linear};
///
/// let device = Device::host();
/// let copied = device.scope(|ctx| {
///     ctx.alloc_linear(3, |mut x: Linear<f32>| {
///         x.copy_from_host(&[1.0, 2.0, 3.0])?;
///         x.to_vec()
///     })
/// })?;
/// assert_eq!(copied, [1.0, 2.0, 3.0]);
/// # scoped_gpu::ok(())
/// ```
pub struct Device {
    shared: Arc<Shared>,
}

impl Device {
    pub(crate) fn from_shared(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Opens a scope on the default device and runs `f` in it.
    ///
    /// The default device is opened once per process: `SCOPED_GPU_DEVICE=host` or `cuda:N` where that is set, else the
    /// first CUDA device if the feature `cuda` is built in and a GPU is there, else the host device.
    ///
    /// # Errors
    /// What `f` returns; [`ErrorKind::DeviceUnavailable`] if the device that `SCOPED_GPU_DEVICE` names is not there;
    /// the fault of a launch that nobody waited for; an error of the cleanup.
    ///
    /// # Panics
    /// Goes on with a panic of `f` after everything is given back.
    #[track_caller]
    pub fn with<R, E>(f: impl for<'ctx> FnOnce(&'ctx Context<'ctx>) -> Result<R, E>) -> Result<R, E>
    where
        E: From<Error>,
    {
        Self::default_device()?.scope(f)
    }

    /// Opens a scope on this device and runs `f` in it.
    ///
    /// When `f` returns, with `Ok`, `Err` or a panic: queued work is waited for, then arrays and buffers are freed,
    /// newest first, then events and streams, then modules are unloaded; every step is tried whatever the one before
    /// returned. Scopes nest, also on the same device, and may be open on several threads at once.
    ///
    /// Nothing of the context can leave:
    ///
    /// ```compile_fail
    /// use scoped_gpu::{Buffer, Device};
    /// let device = Device::host();
    /// let mut kept: Option<Buffer<f32>> = None;
    /// device.scope(|ctx| { kept = Some(ctx.buffer(8)?); scoped_gpu::ok(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As for [`with`](Self::with). `f`'s own error comes back unchanged; what the cleanup met beside it is kept in
    /// [`last_cleanup`](Self::last_cleanup).
    ///
    /// # Panics
    /// Goes on with a panic of `f` after everything is given back.
    #[track_caller]
    pub fn scope<R, E>(&self, f: impl for<'ctx> FnOnce(&'ctx Context<'ctx>) -> Result<R, E>) -> Result<R, E>
    where
        E: From<Error>,
    {
        let core = self.shared.enter(|| Core::open(&self.shared)).at_caller()?;
        let context = Context::new(&core);
        scope::run(&self.shared, (), |()| f(&context), |(), here| close(&core, here))
    }

    /// Throws away everything the device holds and makes it work again if it can.
    ///
    /// It needs the device exclusively, so the compiler refuses it while a scope is open, and no handle of before can
    /// exist after it:
    ///
    /// ```compile_fail
    /// use scoped_gpu::Device;
    /// let mut device = Device::host();
    /// device.scope(|ctx| {
    ///     let x = ctx.buffer::<f32>(100)?;
    ///     device.reset()?; // error[E0502]: `device` is borrowed by the open scope
    ///     x.to_vec()
    /// }).unwrap();
    /// ```
    ///
    /// Resetting between scopes is fine:
    ///
    /// ```
    /// use scoped_gpu::{Device, Reset};
    /// let mut device = Device::host();
    /// device.scope(|ctx| ctx.buffer::<f32>(100)?.to_vec())?;
    /// assert_eq!(device.reset()?, Reset::Recovered);
    /// device.scope(|ctx| ctx.buffer::<f32>(100)?.to_vec())?;
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotSupported`] on a [`cuda_primary`](Self::cuda_primary) device, where it would harm others. What
    /// the device answers is in [`Reset`].
    #[track_caller]
    #[doc(alias = "cudaDeviceReset")]
    pub fn reset(&mut self) -> Result<Reset, Error> {
        if self.shared.backend.ownership() == Ownership::Primary {
            let message = format!(
                "{}: this is the primary context, which others may use; `reset_primary` resets it for all of them",
                self.info().id
            );
            return Err(Error::new(ErrorKind::NotSupported { message }));
        }
        Ok(self.shared.reset(|backend| backend.reset()))
    }

    /// Resets the device also for everybody else who uses its primary context. On a device with a context of its own
    /// this is [`reset`](Self::reset).
    ///
    /// # Safety
    /// Nobody in the process uses a handle of that context any more: no memory, stream, event or library handle that
    /// was made in it (cuBLAS, cuFFT, …), in no thread.
    #[doc(alias = "cuDevicePrimaryCtxReset")]
    pub unsafe fn reset_primary(&mut self) -> Reset {
        self.shared.reset(|backend| backend.reset_for_all())
    }

    /// What the device is and allows.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        self.shared.backend.info()
    }

    /// Live and peak bytes of this device's allocations, and how many there are.
    ///
    /// ```
    /// use scoped_gpu::Device;
    /// let device = Device::host();
    /// device.scope(|ctx| {
    ///     let _x = ctx.buffer::<f32>(100)?;
    ///     assert_eq!((device.memory().live, device.memory().count), (400, 1));
    ///     scoped_gpu::ok(())
    /// })?;
    /// assert_eq!((device.memory().live, device.memory().peak), (0, 400)); // as after every scope
    /// assert_eq!(device.memory().allocated, device.memory().freed);
    /// # scoped_gpu::ok(())
    /// ```
    #[must_use]
    pub fn memory(&self) -> MemoryStatistics {
        self.shared.statistics()
    }

    /// Lets the allocations of this device hold `bytes` at most, all scopes together; `None`: what the device has.
    ///
    /// An allocation beyond it is [`ErrorKind::OutOfMemory`]; what is live already stays.
    pub fn set_memory_limit(&self, bytes: Option<u64>) {
        self.shared.pool.set_limit(bytes);
    }

    /// Keeps up to `bytes` of unused memory for later when the last open scope ends, and gives the rest back to the
    /// driver. 256 MiB unless set; the host device keeps nothing.
    pub fn set_memory_retention(&self, bytes: u64) {
        self.shared.pool.set_retention(bytes);
    }

    /// Gives unused memory back to the driver, and returns how many bytes that were. On a CUDA device this waits for
    /// every kernel that runs there.
    ///
    /// # Errors
    /// Those of the driver.
    #[track_caller]
    #[doc(alias = "cudaMemPoolTrimTo")]
    pub fn trim(&self) -> Result<u64, Error> {
        self.shared.trim().at_caller()
    }

    /// The error of the latest scope's cleanup, if that met one. A scope that is opened while no other is clears it.
    ///
    /// The place to look after a closure's own error or a panic, which are never replaced by cleanup's.
    ///
    /// ```
    /// use scoped_gpu::{Device, Launch, ReadWrite, kernels, zeros};
    /// let device = Device::host();
    /// let result: anyhow::Result<()> = device.scope(|ctx| {
    ///     let scale = ctx.module(kernels::SCALE)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
    ///     ctx.alloc((zeros::<f32>(4),), |(mut x,)| {
    ///         ctx.launch(&scale, Launch::cover(8), (&mut x, 2.0, 8))?; // 8 elements of 4: a fault
    ///         anyhow::bail!("stopped before anybody waited for the launch")
    ///     })
    /// });
    /// assert_eq!(result.unwrap_err().to_string(), "stopped before anybody waited for the launch");
    /// assert!(device.last_cleanup().is_some_and(|error| error.fault().is_some()));
    /// # scoped_gpu::ok(())
    /// ```
    #[must_use]
    pub fn last_cleanup(&self) -> Option<Error> {
        self.shared.last_cleanup()
    }

    /// The handles that were forgotten ([`std::mem::forget`], a cycle of `Rc`) in scopes that have closed, by the place
    /// that made them. Their scopes gave everything back; in one that stays open for long, they are what fills the
    /// memory. Cleared like [`last_cleanup`](Self::last_cleanup).
    ///
    /// With `SCOPED_GPU_LEAKS=1` in the environment, each scope that closes with such handles says so on standard error.
    ///
    /// ```
    /// use scoped_gpu::Device;
    /// let device = Device::host();
    /// device.scope(|ctx| {
    ///     for _ in 0..3 {
    ///         std::mem::forget(ctx.buffer::<f32>(100)?);
    ///     }
    ///     ctx.buffer::<f32>(100)?.to_vec() // dropped: no leak
    /// })?;
    /// let report = device.last_leaks();
    /// assert_eq!((report.count(), report.bytes()), (3, 1200));
    /// assert_eq!(report.leaks().len(), 1); // one place
    /// println!("{report}"); // 3 forgotten handles (1200 bytes), and the line that made them
    /// # scoped_gpu::ok(())
    /// ```
    #[must_use]
    pub fn last_leaks(&self) -> LeakReport {
        self.shared.last_leaks()
    }
}

/// Closes a context and counts its scope out.
fn close(core: &Core, here: &'static Location<'static>) -> Result<(), Error> {
    // The scope is counted out also if closing panicked, which would be a mistake of this crate.
    let leaving = guard((), |()| drop(core.shared.leave(here)));
    let mut errors = Errors::default();
    errors.extend(core.close(here));
    ScopeGuard::into_inner(leaving);
    errors.extend(core.shared.leave(here));
    errors.into_result()
}

#[cfg(test)]
mod tests;

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        f.debug_struct("Device").field("id", &info.id).field("name", &info.name).finish_non_exhaustive()
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        write!(f, "{} ({}, {:.1} GiB)", info.name, info.id, info.memory as f64 / f64::from(1 << 30))
    }
}
