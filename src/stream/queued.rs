//! What can be queued on a stream: copies that borrow host memory for the scope, fills, launches; and waiting.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::backend::{AccessRule, HostFunction, StreamId};
use crate::context::core::{Core, lock};
use crate::element::Element;
use crate::error::Error;
use crate::kernel::{Arguments, Kernel, Launch, Signature};
use crate::memory::{Readable, Writable};
use crate::stream::Stream;
use crate::transfer::contents;
use crate::transfer::plan::{self, HostSide};

/// A queued copy to host memory, which is borrowed until the scope ends; [`wait`](Self::wait) gives it back earlier.
///
/// Dropping it (`let _ = …`) is fine: the copy goes on, and the memory is usable again after the scope. It cannot leave
/// the scope, whose end is the end of its stream.
#[must_use = "dropping it leaves the host memory borrowed until the scope of streams ends"]
pub struct Pending<'scope, 'env, 'ctx, T: ?Sized> {
    core: &'ctx Core,
    stream: StreamId,
    host: &'env mut T,
    scope: PhantomData<&'scope ()>,
}

impl<'scope, 'env, 'ctx> Stream<'scope, 'env, 'ctx> {
    fn core(&self) -> &'ctx Core {
        self.streams.core
    }

    /// Queues a copy of all elements of `from`, row after row, into `host`.
    ///
    /// `host` is borrowed for `'env`: until the scope of streams has ended, or until the [`Pending`] gave it back.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when `host` has another length.
    #[track_caller]
    #[doc(alias = "cudaMemcpyAsync")]
    pub fn copy_to_host<T: Element>(
        &self,
        from: &impl Readable<'ctx, T>,
        host: &'env mut [T],
    ) -> Result<Pending<'scope, 'env, 'ctx, [T]>, Error> {
        let side = HostSide::writing(host);
        // SAFETY: `host` is borrowed mutably for `'env`, which outlasts the scope of streams, and that ends only after
        // this stream was waited for (B3). `Pending` hands it out earlier only after such a wait (C3).
        unsafe { plan::to_host::<T>(self.core(), self.id, &from.region(), side)? };
        Ok(Pending { core: self.core(), stream: self.id, host, scope: PhantomData })
    }

    /// Queues a copy of `host` into all elements of `to`, row after row. `host` is borrowed until the scope of streams
    /// has ended.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when `host` has another length.
    #[track_caller]
    #[doc(alias = "cudaMemcpyAsync")]
    pub fn copy_from_host<T: Element>(
        &self,
        to: &mut impl Writable<'ctx, T>,
        host: &'env [T],
    ) -> Result<(), Error> {
        // SAFETY: `host` is borrowed for `'env`, which outlasts the scope of streams, and that ends only after this
        // stream was waited for (B3); nobody can write it in between (C3).
        unsafe { plan::from_host::<T>(self.core(), self.id, &to.region(), HostSide::reading(host)) }?;
        contents::note(self.core(), &to.region(), host);
        Ok(())
    }

    /// Queues a copy on the device. Both have the same rows and columns.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when the shapes differ.
    #[track_caller]
    pub fn copy_from<T: Element>(
        &self,
        to: &mut impl Writable<'ctx, T>,
        from: &impl Readable<'ctx, T>,
    ) -> Result<(), Error> {
        plan::within::<T>(self.core(), self.id, &to.region(), &from.region())
    }

    /// Queues a fill of every element.
    ///
    /// # Errors
    /// Those of the driver.
    #[track_caller]
    #[doc(alias = "cudaMemsetAsync")]
    pub fn fill<T: Element>(&self, to: &mut impl Writable<'ctx, T>, value: T) -> Result<(), Error> {
        plan::fill(self.core(), self.id, &to.region(), value)
    }

    /// Queues a checked launch; see [`Context::launch`](crate::Context::launch).
    ///
    /// # Errors
    /// As for [`Context::launch`](crate::Context::launch).
    #[track_caller]
    pub fn launch<S: Signature, A: Arguments<'ctx, S>>(
        &self,
        kernel: &Kernel<'ctx, S>,
        launch: Launch,
        arguments: A,
    ) -> Result<(), Error> {
        // SAFETY: the launch is checked, which needs no proof of the caller's.
        unsafe {
            crate::kernel::queue(self.core(), self.id, kernel, launch, arguments, AccessRule::Checked, None)
        }
    }

    /// Queues a launch without checks.
    ///
    /// # Safety
    /// As for [`Context::launch_unchecked`](crate::Context::launch_unchecked); and what the kernel touches beyond its
    /// arguments is not used by another stream meanwhile.
    ///
    /// # Errors
    /// As for [`Context::launch`](crate::Context::launch).
    #[track_caller]
    pub unsafe fn launch_unchecked<S: Signature, A: Arguments<'ctx, S>>(
        &self,
        kernel: &Kernel<'ctx, S>,
        launch: Launch,
        arguments: A,
    ) -> Result<(), Error> {
        // SAFETY: C5 is the caller's.
        unsafe {
            crate::kernel::queue(self.core(), self.id, kernel, launch, arguments, AccessRule::Unchecked, None)
        }
    }

    /// Queues a function of the host: it runs, on some thread, when everything queued on this stream before is done, and
    /// the stream goes on when it returns.
    ///
    /// It must not use this device, which waits for it: a call from inside it may never return. After a fault that ended
    /// the context it is not run. A panic in it goes on when the scope of streams ends.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use scoped_gpu::{Device, Linear};
    /// let seen = AtomicU32::new(0);
    /// Device::host().scope(|ctx| {
    ///     ctx.alloc_linear(8, |mut x: Linear<f32>| {
    ///         ctx.streams(|s| {
    ///             let stream = s.stream()?;
    ///             stream.fill(&mut x, 1.0)?;
    ///             stream.call(|| seen.store(1, Ordering::Release))
    ///         })
    ///     })
    /// })?;
    /// assert_eq!(seen.load(Ordering::Acquire), 1);
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// Those of the driver.
    #[track_caller]
    #[doc(alias = "cudaLaunchHostFunc")]
    pub fn call(&self, function: impl FnOnce() + Send + 'env) -> Result<(), Error> {
        let panics = Arc::clone(&self.streams.panics);
        let function: Box<dyn FnOnce() + Send + 'env> = Box::new(move || {
            // What the function left half done is seen by nobody before the panic goes on.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(function)) {
                lock(&panics).get_or_insert(payload);
            }
        });
        // SAFETY: only the lifetime changes. The function borrows what lives for `'env`, which outlasts the scope of
        // streams; that ends only after this stream was waited for, and then the function has run or never will (B3).
        let function: HostFunction = unsafe { std::mem::transmute(function) };
        self.core().submit(self.id, None, |backend| backend.call(self.id, function))
    }

    /// Waits until everything queued on this stream is done.
    ///
    /// # Errors
    /// The fault of the first launch that made one since the last wait.
    #[track_caller]
    #[doc(alias = "cudaStreamSynchronize")]
    pub fn synchronize(&self) -> Result<(), Error> {
        self.core().wait(self.id)
    }
}

impl<'env, T: ?Sized> Pending<'_, 'env, '_, T> {
    /// Waits for the copy, and what was queued on its stream by now, and gives the host memory back.
    ///
    /// Where an earlier operation of the stream made a fault, that is returned instead, and the memory stays borrowed
    /// until the scope ends.
    ///
    /// # Errors
    /// The fault of the first launch of the stream that made one since the last wait.
    #[track_caller]
    pub fn wait(self) -> Result<&'env mut T, Error> {
        self.core.wait(self.stream)?;
        Ok(self.host)
    }
}

impl<T: ?Sized> fmt::Debug for Pending<'_, '_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pending {{ stream {} }}", self.stream.number)
    }
}
