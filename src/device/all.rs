//! One scope on several devices.

use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use super::Device;
use crate::context::Context;
use crate::context::core::{Core, Errors};
use crate::error::{AtCaller, Error};

impl Device {
    /// Opens a scope on each of `devices` and runs `f` in all of them at once: one context for each, in their order.
    ///
    /// The contexts share their lifetime, so arrays of one can be copied to another's:
    /// [`copy_from`](crate::Linear::copy_from) goes from device to device, or by way of the host where the devices
    /// cannot. Anything else that mixes them (an array of one context in a launch on another, a kernel, an event) is
    /// [`ErrorKind::Foreign`](crate::ErrorKind::Foreign).
    ///
    /// All are closed, last to first, also where the close of one fails; such an error names its device.
    ///
    /// ```
    /// use scoped_gpu::{Device, linear, zeros};
    /// let devices = [Device::host(), Device::host(), Device::host()];
    /// let all: Vec<&Device> = devices.iter().collect();
    /// let sums = Device::scope_all(&all, |ctxs| {
    ///     // a part of the work on each device, then gathered on the first
    ///     ctxs[0].alloc_linear(3, |mut gathered| {
    ///         for (n, ctx) in ctxs.iter().enumerate() {
    ///             ctx.alloc((linear(&[10.0 * n as f32]),), |(part,)| {
    ///                 gathered.slice_mut(n..n + 1).copy_from(&part)
    ///             })?;
    ///         }
    ///         gathered.to_vec()
    ///     })
    /// })?;
    /// assert_eq!(sums, [0.0, 10.0, 20.0]);
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// As for [`scope`](Self::scope); if a device cannot be opened, `f` is not called.
    ///
    /// # Panics
    /// Goes on with a panic of `f` after everything is given back.
    #[track_caller]
    pub fn scope_all<R, E>(
        devices: &[&Self],
        f: impl for<'ctx> FnOnce(&[&'ctx Context<'ctx>]) -> Result<R, E>,
    ) -> Result<R, E>
    where
        E: From<Error>,
    {
        let here = Location::caller();
        let mut cores: Vec<Core> = Vec::with_capacity(devices.len());
        for device in devices {
            match device.shared.enter(|| Core::open(&device.shared)).at_caller() {
                Ok(core) => cores.push(core),
                Err(error) => {
                    let error = error.on_device(&device.info().id);
                    let closed = close_all(&cores, here);
                    return Err(E::from(with_causes(error, closed)));
                }
            }
        }
        let contexts: Vec<Context<'_>> = cores.iter().map(Context::new).collect();
        let outcome: Result<Result<R, E>, Box<dyn Any + Send>> =
            // After a panic the contexts are only closed.
            catch_unwind(AssertUnwindSafe(|| f(&contexts.iter().collect::<Vec<_>>())));
        let closed = close_all(&cores, here);
        match outcome {
            Ok(Ok(value)) => closed.map(|()| value).map_err(E::from),
            Ok(Err(error)) => Err(error),
            Err(payload) => resume_unwind(payload),
        }
    }
}

/// Closes every context, last to first, whatever the one before answered. Each device keeps its own error.
fn close_all(cores: &[Core], here: &'static Location<'static>) -> Result<(), Error> {
    let mut errors = Errors::default();
    for core in cores.iter().rev() {
        if let Err(error) = super::close(core, here) {
            let error = error.on_device(&core.shared.backend.info().id);
            core.shared.record_cleanup(&error);
            errors.push(error);
        }
    }
    errors.into_result()
}

fn with_causes(mut error: Error, closed: Result<(), Error>) -> Error {
    if let Err(later) = closed {
        error.push(later);
    }
    error
}
