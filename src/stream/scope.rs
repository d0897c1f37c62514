//! The scope of streams: opening, joining, and what a stream is. What can be queued on one is in `queued`.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{Location, resume_unwind};
use std::sync::{Arc, Mutex};

use crate::backend::{DeviceInfo, StreamId};
use crate::context::core::{Core, Errors, lock};
use crate::context::{Brand, Context, scope};
use crate::error::{AtCaller, Error};

/// The payload of a panic in a function of the host.
type Panics = Arc<Mutex<Option<Box<dyn Any + Send>>>>;

/// A scope of streams, like [`std::thread::scope`].
///
/// # Lifetimes
/// `'scope` begins when the closure of [`Context::streams`] is called and ends when all its streams have joined, which
/// is before `streams` returns. `'env` is the time for which host memory that queued copies use is borrowed; it
/// contains `'scope`, so the borrow checker lets nobody touch that memory, or end it, before the copies are done:
///
/// ```compile_fail
/// use scoped_gpu::{Device, Linear};
/// Device::host().scope(|ctx| {
///     ctx.alloc_linear(8, |mut x: Linear<f32>| {
///         ctx.streams(|s| {
///             let host = vec![1.0; 8];                        // ends inside the scope
///             s.stream()?.copy_from_host(&mut x, &host)?;     // but the copy may still run then
///             scoped_gpu::ok(())
///         })
///     })
/// }).unwrap();
/// ```
///
/// Device arrays are borrowed for the call only: their memory lives until the scope has joined, and where an array goes
/// from one stream to another, the library makes the second wait for the first.
pub struct Streams<'scope, 'env: 'scope, 'ctx> {
    pub(crate) core: &'ctx Core,
    streams: Mutex<Vec<StreamId>>,
    /// What the first function of the host that panicked panicked with.
    pub(crate) panics: Panics,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
    brand: Brand<'ctx>,
}

/// A queue of work on the device. Operations of one stream run in order; two streams run side by side.
#[doc(alias = "cudaStream_t")]
pub struct Stream<'scope, 'env, 'ctx> {
    pub(crate) streams: &'scope Streams<'scope, 'env, 'ctx>,
    pub(crate) id: StreamId,
}

impl<'ctx> Context<'ctx> {
    /// Opens a scope of streams and runs `f` in it; all streams have joined when it returns.
    ///
    /// ```
    /// use scoped_gpu::{Device, linear, zeros};
    /// let input = [1.0f32, 2.0, 3.0, 4.0];
    /// let mut output = [0.0f32; 4];
    /// Device::host().scope(|ctx| {
    ///     ctx.alloc((zeros::<f32>(4), zeros::<f32>(4)), |(mut x, mut y)| {
    ///         ctx.streams(|s| {
    ///             let (a, b) = (s.stream()?, s.stream()?);
    ///             a.copy_from_host(&mut x, &input)?;
    ///             b.copy_from(&mut y, &x)?; // waits for `a`, since `x` comes from there
    ///             let copied = b.copy_to_host(&y, &mut output)?.wait()?;
    ///             assert_eq!(copied, &input);
    ///             scoped_gpu::ok(())
    ///         })
    ///     })
    /// })?;
    /// assert_eq!(output, input);
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// What `f` returns; else the first fault of work queued on the streams that nobody waited for.
    ///
    /// # Panics
    /// Goes on with a panic of `f` after all streams have joined.
    #[track_caller]
    pub fn streams<'env, R, E: From<Error>>(
        &self,
        f: impl for<'scope> FnOnce(&'scope Streams<'scope, 'env, 'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        let streams = Streams {
            core: self.core,
            streams: Mutex::default(),
            panics: Panics::default(),
            scope: PhantomData,
            env: PhantomData,
            brand: PhantomData,
        };
        let panics = Arc::clone(&streams.panics);
        let result = scope::run(&self.core.shared, (), |()| f(&streams), |(), here| streams.join(here));
        let panicked = lock(&panics).take();
        match panicked {
            Some(payload) => resume_unwind(payload),
            None => result,
        }
    }
}

impl<'scope, 'env, 'ctx> Streams<'scope, 'env, 'ctx> {
    /// A new stream.
    ///
    /// # Errors
    /// Those of the driver.
    #[track_caller]
    #[doc(alias = "cudaStreamCreate")]
    pub fn stream(&'scope self) -> Result<Stream<'scope, 'env, 'ctx>, Error> {
        let id = self.core.backend()?.create_stream().at_caller()?;
        self.core.ledger().add_stream(id);
        lock(&self.streams).push(id);
        Ok(Stream { streams: self, id })
    }

    /// Waits for every stream and ends it. All are waited for, whatever the one before answered.
    fn join(&self, here: &'static Location<'static>) -> Result<(), Error> {
        let mut errors = Errors::default();
        let streams = std::mem::take(&mut *lock(&self.streams));
        for &stream in &streams {
            errors.extend(self.core.wait_at(stream, here));
        }
        for &stream in streams.iter().rev() {
            errors.add(self.core.end_stream(stream), here);
        }
        errors.into_result()
    }
}

impl<'ctx> Stream<'_, '_, 'ctx> {
    /// What the stream's device is and allows.
    #[must_use]
    pub fn info(&self) -> &'ctx DeviceInfo {
        self.streams.core.shared.backend.info()
    }
}

impl fmt::Debug for Streams<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Streams {{ {} open }}", lock(&self.streams).len())
    }
}

impl fmt::Debug for Stream<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Stream {{ number {}, {} operations queued }}",
            self.id.number,
            self.streams.core.ledger().moment(self.id)
        )
    }
}
