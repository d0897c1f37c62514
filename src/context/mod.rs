//! The context: the handle through which a closure reaches a device, and the brand that ties everything to it.
//! What can be done with a context is implemented by the modules that add the ability.

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

pub(crate) mod core;
pub(crate) mod ledger;
pub(crate) mod scope;
pub(crate) mod slots;

use std::fmt;
use std::marker::PhantomData;

use self::core::Core;
use crate::backend::{DeviceInfo, MemoryInfo};
use crate::error::{AtCaller, Error};
use crate::fault::Fault;

/// Ties a value to one context (or one allocation scope) and to no other.
///
/// Invariant: `fn(&'b ()) -> &'b ()` can neither be shortened nor lengthened. With a lifetime that could be shortened,
/// two contexts' lifetimes would shrink to a common one and this would compile:
///
/// ```compile_fail
/// use scoped_gpu::{Device, Linear};
/// let (a, b) = (Device::host(), Device::host());
/// a.scope(|one| {
///     b.scope(|two| {
///         one.alloc_linear(4, |x: Linear<f32>| {
///             two.alloc_linear(4, |mut y: Linear<f32>| y.copy_from(&x)) // `x` lives on another device
///         })
///     })
/// }).unwrap();
/// ```
pub(crate) type Brand<'b> = PhantomData<fn(&'b ()) -> &'b ()>;

/// An open context on a device: allocate, load, launch, copy.
///
/// [`Device::with`](crate::Device::with) and [`Device::scope`](crate::Device::scope) hand one to a closure. Everything
/// made from it carries `'ctx` and ends with the closure; when the closure returns, with `Ok`, `Err` or a panic, all
/// queued work has stopped and everything is given back.
///
/// # Lifetimes
/// `'ctx` begins when the closure is called and ends when it returns. It is different for each context, so the
/// compiler refuses a handle of one context where another's is wanted, and any handle after the end:
///
/// ```compile_fail
/// use scoped_gpu::{Device, Buffer};
/// let stale = Device::with(|ctx| ctx.buffer::<f32>(100)).unwrap(); // a buffer cannot leave its context
/// ```
///
/// A function of yours that works on a context borrows it for the call:
///
/// ```
/// use scoped_gpu::{Context, Launch, Linear, Read, Result, Write, kernels};
/// fn add_one<'ctx>(ctx: &Context<'ctx>, x: &Linear<'_, 'ctx, f32>, y: &mut Linear<'_, 'ctx, f32>) -> Result<()> {
///     ctx.alloc_linear(x.len(), |mut ones: Linear<f32>| {
///         ones.fill(1.0)?;
///         let add = ctx.module(kernels::ADD)?.kernel::<(Read<f32>, Read<f32>, Write<f32>, u32)>("add")?;
///         ctx.launch(&add, Launch::cover(x.len()), (x, &ones, y, x.len() as u32))
///     })
/// }
/// # scoped_gpu::Device::host().scope(|ctx| {
/// #     ctx.alloc((scoped_gpu::linear(&[1.0, 2.0]), scoped_gpu::zeros(2)), |(x, mut y)| {
/// #         add_one(ctx, &x, &mut y)?;
/// #         assert_eq!(y.to_vec()?, [2.0, 3.0]);
/// #         scoped_gpu::ok(())
/// #     })
/// # })?;
/// # scoped_gpu::ok(())
/// ```
///
/// # Threads
/// A context may be shared with threads that end before the closure does ([`std::thread::scope`]).
pub struct Context<'ctx> {
    pub(crate) core: &'ctx Core,
    brand: Brand<'ctx>,
}

// `Context` has no `Drop`: dropping it would use `'ctx`, and the closure's borrow of it could then not last for `'ctx`.
// Closing is done by the function that opened it.
impl<'ctx> Context<'ctx> {
    pub(crate) fn new(core: &'ctx Core) -> Self {
        Self { core, brand: PhantomData }
    }

    /// What the device is and allows.
    #[must_use]
    pub fn info(&self) -> &'ctx DeviceInfo {
        self.core.shared.backend.info()
    }

    /// Free and total memory of the device, in bytes.
    ///
    /// # Errors
    /// Those of the driver.
    #[track_caller]
    #[doc(alias = "cudaMemGetInfo")]
    pub fn memory_info(&self) -> Result<MemoryInfo, Error> {
        self.core.backend()?.memory_info().at_caller()
    }

    /// Waits until everything launched and copied on this context (not on streams of its own) is done.
    ///
    /// # Errors
    /// The fault of the first launch that made one since the last wait.
    #[track_caller]
    #[doc(alias = "cudaDeviceSynchronize")]
    pub fn synchronize(&self) -> Result<(), Error> {
        self.core.wait(self.core.stream)
    }

    /// The first fault that launches on any stream have recorded so far, and no wait has returned yet. Does not wait for
    /// them: for finding out why a kernel does not end, on this thread or on one beside the one that waits.
    ///
    /// The fault is also returned by the wait for its launch. `None` says that nothing was recorded yet, not that nothing
    /// went wrong: a CUDA device records a fault when its thread ends, or at once in a launch with
    /// [`Launch::diagnose`](crate::Launch::diagnose); on the host device launches run when something waits for them, and
    /// while they run this is `None`.
    ///
    /// ```
    /// # use scoped_gpu::{Device, Launch, ReadWrite, kernels};
    /// # Device::host().scope(|ctx| {
    /// # let scale = ctx.module(kernels::SCALE)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
    /// # let mut x = ctx.buffer::<f32>(100)?;
    /// ctx.launch(&scale, Launch::cover(101).diagnose(), (&mut x, 2.0, 101))?;
    /// // … and if it takes too long:
    /// if let Some(fault) = ctx.fault_so_far()? {
    ///     println!("{fault}");
    /// }
    /// assert!(ctx.synchronize().is_err());
    /// # scoped_gpu::ok(())
    /// # })?;
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// Those of the driver; [`ErrorKind::Poisoned`](crate::ErrorKind::Poisoned) after a fault that ended the context.
    #[track_caller]
    pub fn fault_so_far(&self) -> Result<Option<Fault>, Error> {
        self.core.backend()?.recorded().at_caller()
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (allocations, bytes) = {
            let ledger = self.core.ledger();
            (ledger.allocations.len(), ledger.allocations.values().map(|a| a.bytes).sum::<usize>())
        };
        f.debug_struct("Context")
            .field("device", &self.info().id)
            .field("allocations", &allocations)
            .field("bytes", &bytes)
            .finish_non_exhaustive()
    }
}
