//! Launches: their shape, the checks against the device's limits, and queueing them.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::backend::{AccessRule, Backend, Contents, LaunchCall, Limits, StreamId};
use crate::context::Context;
use crate::context::core::Core;
use crate::dim::Dim3;
use crate::error::{AtCaller, Error, ErrorKind};
use crate::kernel::argument::{Arguments, Binder};
use crate::kernel::module::{Entry, Kernel};
use crate::kernel::signature::Signature;
use crate::statistics::LaunchStatistics;

/// Threads of a block where [`Launch::cover`] chooses.
const COVER_BLOCK: u32 = 256;
/// Threads per axis of a block where [`Launch::cover_2d`] chooses.
const COVER_BLOCK_2D: (u32, u32) = (32, 8);

/// How many threads a launch starts, and what it may use.
///
/// ```
/// use scoped_gpu::Launch;
/// let a = Launch::cover(1_000_000);                 // one thread for each element, and a few more
/// let b = Launch::grid((16, 16), (32, 8));          // blocks, threads in a block
/// let c = Launch::grid(100, 256).shared_bytes(4096).max_steps(1_000_000);
/// # let _ = (a, b, c);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    shape: Shape,
    shared_bytes: usize,
    max_steps: Option<u64>,
    strict: bool,
    check_all: bool,
    diagnose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// As many blocks as elements need; none for none.
    Cover { elements: [usize; 3], block: Dim3 },
    /// As the caller says.
    Grid { grid: Dim3, block: Dim3 },
}

impl Launch {
    fn new(shape: Shape) -> Self {
        Self { shape, shared_bytes: 0, max_steps: None, strict: false, check_all: false, diagnose: false }
    }

    /// At least one thread for each of `elements` elements, in blocks of 256.
    ///
    /// The last block is full, so the kernel compares its index with the length. With no elements nothing is launched.
    #[must_use]
    pub fn cover(elements: usize) -> Self {
        Self::new(Shape::Cover { elements: [elements, 1, 1], block: COVER_BLOCK.into() })
    }

    /// At least one thread for each of `width × height` elements, in blocks of 32 × 8.
    #[must_use]
    pub fn cover_2d(width: usize, height: usize) -> Self {
        Self::new(Shape::Cover { elements: [width, height, 1], block: COVER_BLOCK_2D.into() })
    }

    /// `grid` blocks of `block` threads.
    #[must_use]
    pub fn grid(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self::new(Shape::Grid { grid: grid.into(), block: block.into() })
    }

    /// The same elements or blocks with `block` threads in a block.
    #[must_use]
    pub fn block(mut self, threads: impl Into<Dim3>) -> Self {
        match &mut self.shape {
            Shape::Cover { block, .. } | Shape::Grid { block, .. } => *block = threads.into(),
        }
        self
    }

    /// Bytes of dynamic shared memory for each block. Above the device's usual limit the launch opts in by itself.
    #[must_use]
    pub fn shared_bytes(mut self, bytes: usize) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// Ends a kernel that takes too long, with an error. Off by default.
    ///
    /// The host device counts instructions of a warp, a CUDA device each thread's jumps back: a kernel that ends at all
    /// within `steps` instructions ends within `steps` jumps.
    #[must_use]
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = Some(steps);
        self
    }

    /// Makes the host device report also what hardware lets pass: reads of memory and registers that nothing has
    /// written, data races, barriers and shuffles that some lanes miss, division by zero. Slower.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Checks every access, also those that are proved to be in range: to measure what the proofs save. The host device
    /// checks every access anyway.
    #[must_use]
    pub fn check_all(mut self) -> Self {
        self.check_all = true;
        self
    }

    /// Records a wrong access when it happens, for kernels that do not end after it, so that
    /// [`Context::fault_so_far`](crate::Context::fault_so_far) can tell of it while the kernel runs.
    ///
    /// Otherwise a CUDA device records it when the thread that made it ends, which costs less; the host device always
    /// does at once. The first fault is the same either way, and so is what a wait returns. A kernel that never ends is
    /// ended by [`max_steps`](Self::max_steps), which returns a thread's first wrong access with or without this.
    #[must_use]
    pub fn diagnose(mut self) -> Self {
        self.diagnose = true;
        self
    }

    /// Grid and block within the device's limits; `None` where there is nothing to launch.
    #[track_caller]
    pub(super) fn resolve(&self, kernel: &str, limits: &Limits) -> Result<Option<(Dim3, Dim3)>, Error> {
        let (Shape::Cover { block, .. } | Shape::Grid { block, .. }) = self.shape;
        if !fits_block(block, limits) {
            return Err(block_refused(block, kernel, limits));
        }
        let grid = match self.shape {
            Shape::Grid { grid, .. } => grid,
            Shape::Cover { elements, .. } if elements.contains(&0) => return Ok(None),
            Shape::Cover { elements: [x, y, z], .. } => {
                let blocks = [(x, block.x), (y, block.y), (z, block.z)]
                    .map(|(elements, threads)| (elements as u64).div_ceil(threads.into()));
                match blocks.map(u32::try_from) {
                    [Ok(x), Ok(y), Ok(z)] => Dim3::new(x, y, z),
                    _ => return Err(grid_refused(blocks, kernel, limits)),
                }
            }
        };
        if !fits(grid, limits.grid) {
            return Err(grid_refused([grid.x, grid.y, grid.z].map(u64::from), kernel, limits));
        }
        Ok(Some((grid, block)))
    }
}

/// Whether each axis has one at least and `most` at most.
#[inline]
fn fits(size: Dim3, most: Dim3) -> bool {
    let fits = |size: u32, most: u32| size.wrapping_sub(1) < most;
    fits(size.x, most.x) & fits(size.y, most.y) & fits(size.z, most.z)
}

#[inline]
fn fits_block(block: Dim3, limits: &Limits) -> bool {
    // two axes always fit
    let threads = (u64::from(block.x) * u64::from(block.y)).saturating_mul(block.z.into());
    fits(block, limits.block) && threads <= limits.threads_per_block.into()
}

/// Why a block is refused, which it is.
#[cold]
#[track_caller]
fn block_refused(block: Dim3, kernel: &str, limits: &Limits) -> Error {
    let axes = block.axes().into_iter().zip(limits.block.axes());
    let axis = axes.into_iter().find_map(|((axis, threads), (_, most))| match threads {
        0 => Some(format!("block.{axis} is 0")),
        _ if threads > most => Some(format!("block.{axis} of {threads} threads, device allows {most}")),
        _ => None,
    });
    let what = axis.unwrap_or_else(|| {
        let (count, most) = (block.count(), limits.threads_per_block);
        format!("block of {count} threads {block}, device allows {most}")
    });
    Error::new(ErrorKind::Launch { message: format!("kernel `{kernel}`: {what}") })
}

/// Why a grid is refused, which it is.
#[cold]
#[track_caller]
fn grid_refused(grid: [u64; 3], kernel: &str, limits: &Limits) -> Error {
    let axes = limits.grid.axes().into_iter().zip(grid);
    let refused = axes.into_iter().find_map(|((axis, most), count)| match count {
        0 => Some(format!("grid.{axis} is 0")),
        _ if count > u64::from(most) => Some(format!("grid.{axis} of {count} blocks, device allows {most}")),
        _ => None,
    });
    let what = refused.unwrap_or_default();
    Error::new(ErrorKind::Launch { message: format!("kernel `{kernel}`: {what}") })
}

impl<'ctx> Context<'ctx> {
    /// Launches a kernel, checked.
    ///
    /// Arguments were compared with the PTX when the kernel was taken and are borrowed for the call. Each access that
    /// the kernel makes is checked to lie in the buffers it was given. The launch is queued: its fault, if it makes
    /// one, is the error of the next call that waits (a copy to the host, [`synchronize`](Self::synchronize), the end
    /// of the scope). A wrong access costs that error and nothing else: memory outside is untouched, the context goes
    /// on.
    ///
    /// ```
    /// use scoped_gpu::{Device, Launch, Read, ReadWrite, kernels, linear};
    /// Device::host().scope(|ctx| {
    ///     let module = ctx.module(kernels::SAXPY)?;
    ///     let saxpy = module.kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
    ///     let (x, y) = ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]);
    ///     ctx.alloc((linear(&x), linear(&y)), |(x, mut y)| {
    ///         ctx.launch(&saxpy, Launch::cover(3), (2.0, &x, &mut y, 3))?;
    ///         assert_eq!(y.to_vec()?, [12.0, 24.0, 36.0]);
    ///         scoped_gpu::ok(())
    ///     })
    /// })?;
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// On a CUDA device most accesses are proved in range before the launch, and cost nothing; the others are checked by
    /// instructions that are inserted into the kernel, once for each kind of launch. A thread goes on after a wrong
    /// access, with zeros for what it could not load. With several faults, the one of the first thread in the grid is
    /// reported.
    ///
    /// # Errors
    /// [`ErrorKind::Launch`] for a grid, block or shared memory that the device does not allow;
    /// [`ErrorKind::NotSupported`] for a kernel that a CUDA device cannot run checked.
    #[track_caller]
    #[doc(alias = "cudaLaunchKernel")]
    pub fn launch<S: Signature, A: Arguments<'ctx, S>>(
        &self,
        kernel: &Kernel<'ctx, S>,
        launch: Launch,
        arguments: A,
    ) -> Result<(), Error> {
        self.queue_checked(kernel, launch, arguments, None)
    }

    /// Launches a kernel, checked, waits for it, and returns what it did in numbers: instructions by opcode,
    /// divergence, bytes. Much slower than [`launch`](Self::launch); results and faults are the same.
    ///
    /// ```
    /// use scoped_gpu::{Device, Launch, ReadWrite};
    /// Device::host().scope(|ctx| {
    ///     let module = ctx.module(include_str!("../../ptx/scale.ptx"))?;
    ///     let scale = module.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
    ///     let mut x = ctx.buffer::<f32>(1000)?;
    ///     let counts = ctx.launch_counted(&scale, Launch::cover(1000), (&mut x, 2.0, 1000))?;
    ///     assert_eq!((counts.blocks, counts.opcodes["st"]), (4, 1000));
    ///     scoped_gpu::ok(())
    /// })?;
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// As for [`launch`](Self::launch); the fault of this launch, or of an earlier one that nobody waited for;
    /// [`ErrorKind::NotSupported`] on a device that cannot count.
    #[track_caller]
    pub fn launch_counted<S: Signature, A: Arguments<'ctx, S>>(
        &self,
        kernel: &Kernel<'ctx, S>,
        launch: Launch,
        arguments: A,
    ) -> Result<LaunchStatistics, Error> {
        let counts = Arc::new(OnceLock::new());
        self.queue_checked(kernel, launch, arguments, Some(Arc::clone(&counts)))?;
        self.synchronize()?;
        // empty where there was nothing to launch
        Ok(counts.get().cloned().unwrap_or_default())
    }

    #[track_caller]
    fn queue_checked<S: Signature, A: Arguments<'ctx, S>>(
        &self,
        kernel: &Kernel<'ctx, S>,
        launch: Launch,
        arguments: A,
        counts: Option<Arc<OnceLock<LaunchStatistics>>>,
    ) -> Result<(), Error> {
        // SAFETY: the launch is checked, which needs no proof of the caller's.
        unsafe { queue(self.core, self.core.stream, kernel, launch, arguments, AccessRule::Checked, counts) }
    }

    /// Launches a kernel without checks: the raw speed of the device.
    ///
    /// # Safety
    /// Every access of the kernel lies in the buffers that it was given, only those given for writing are written, and
    /// no shared, local or constant access is out of range. Otherwise other memory of the device is read or written, or
    /// the context ends with a fault that names no place.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    #[track_caller]
    pub unsafe fn launch_unchecked<S: Signature, A: Arguments<'ctx, S>>(
        &self,
        kernel: &Kernel<'ctx, S>,
        launch: Launch,
        arguments: A,
    ) -> Result<(), Error> {
        // SAFETY: C5 is the caller's.
        unsafe { queue(self.core, self.core.stream, kernel, launch, arguments, AccessRule::Unchecked, None) }
    }
}

/// Queues a launch on `stream`; what it did goes to `counts`.
///
/// # Safety
/// C5 of [`backend`](crate::backend) if `access` is unchecked.
#[track_caller]
pub(crate) unsafe fn queue<'ctx, S: Signature, A: Arguments<'ctx, S>>(
    core: &'ctx Core,
    stream: StreamId,
    kernel: &Kernel<'ctx, S>,
    launch: Launch,
    arguments: A,
    access: AccessRule,
    counts: Option<Arc<OnceLock<LaunchStatistics>>>,
) -> Result<(), Error> {
    let queued = bind(core, &kernel.entry, &launch, arguments, access, |binder| {
        binder.call.counts = counts;
        if access == AccessRule::Checked && core.shared.backend.wants_contents() {
            binder.call.contents = known_contents(binder);
        }
        let touches = binder.touches.iter().map(|&(_, touch)| touch);
        core.submit_from_anywhere(binder.call.location, stream, touches, |backend: &dyn Backend| {
            // SAFETY: each buffer is a region of an array that the caller borrows for this call, so it is live (C1), and
            // the ledger keeps it until the launch has stopped (C2); C5 is the caller's.
            unsafe { backend.launch(stream, &binder.call) }
        })
    });
    queued.map(Option::unwrap_or_default)
}

/// What `use_it` makes of the launch as the backend takes it, with its arguments; `None` if there is nothing to launch.
/// It is lent, not returned: it is large, and moving it would take longer than making it.
#[inline]
#[track_caller]
pub(super) fn bind<'ctx, S: Signature, A: Arguments<'ctx, S>, R>(
    core: &Core,
    kernel: &Entry<'ctx>,
    launch: &Launch,
    arguments: A,
    access: AccessRule,
    use_it: impl FnOnce(&mut Binder<'_>) -> Result<R, Error>,
) -> Result<Option<R>, Error> {
    let Some((grid, block)) = launch.resolve(&kernel.name, &core.limits)? else {
        return Ok(None);
    };
    let dynamic_shared = shared_memory(launch, kernel, &core.limits)?;
    core.own("a kernel", kernel.core).at_caller()?;
    let mut binder = Binder {
        kernel,
        offsets: &kernel.layout.offsets,
        next: 0,
        foreign: None,
        call: LaunchCall {
            module: kernel.module,
            function: kernel.function,
            kernel: Cow::Borrowed(&kernel.name),
            grid,
            block,
            dynamic_shared,
            params: zeros(kernel.layout.bytes),
            buffers: SmallVec::new(),
            contents: Vec::new(),
            access,
            strict: launch.strict,
            max_steps: launch.max_steps,
            check_all: launch.check_all,
            diagnose: launch.diagnose,
            counts: None,
            location: std::panic::Location::caller(),
        },
        touches: SmallVec::new(),
    };
    arguments.bind_all(&mut binder).at_caller()?;
    if let Some(foreign) = binder.foreign.take() {
        return Err(*foreign).at_caller();
    }
    use_it(&mut binder).map(Some)
}

/// A parameter block with nothing in it yet.
#[inline]
fn zeros(bytes: usize) -> SmallVec<[u8; 64]> {
    if bytes <= 64 { SmallVec::from_buf_and_len([0; 64], bytes) } else { SmallVec::from_vec(vec![0; bytes]) }
}

/// What is known of the elements of arguments that are only read, and that no other argument writes.
pub(super) fn known_contents(binder: &Binder<'_>) -> Vec<(usize, Contents)> {
    let ledger = binder.kernel.core.ledger();
    let written = |entry| binder.touches.iter().any(|(_, touch)| touch.write && touch.entry == entry);
    let unwritten = binder.touches.iter().filter(|(_, touch)| !written(touch.entry));
    unwritten.filter_map(|&(argument, touch)| Some((argument, ledger.contents(touch.entry)?))).collect()
}

/// Dynamic shared memory in bytes, static and dynamic together within the device's limit.
#[track_caller]
pub(super) fn shared_memory(launch: &Launch, kernel: &Entry<'_>, limits: &Limits) -> Result<u32, Error> {
    let fixed = kernel.static_shared;
    let most = limits.shared_per_block_optin;
    let dynamic = u32::try_from(launch.shared_bytes).ok();
    match dynamic.filter(|dynamic| dynamic.checked_add(fixed).is_some_and(|sum| sum <= most)) {
        Some(dynamic) => Ok(dynamic),
        None => Err(Error::new(ErrorKind::Launch {
            message: format!(
                "kernel `{}`: {} bytes of dynamic and {fixed} of static shared memory, device allows {most}",
                kernel.name, launch.shared_bytes
            ),
        })),
    }
}
