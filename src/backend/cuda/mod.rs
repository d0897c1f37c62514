//! The CUDA device: memory, streams and launches on an NVIDIA GPU, through `cust` and its driver. This file is the list
//! of calls; what they do stands in the files named after CUDA's nouns, which are those of the host device.
//!
//! `cust` brings the driver's types and the way to link to it. Its functions are not called: their results are a closed
//! enum, and a newer driver may answer a code that the enum does not have, from any call after a fault, or when it is
//! started; so every call is declared in `driver`, with an integer as result. Nothing here uses the NULL stream.

mod call;
mod capture;
mod checked;
mod codes;
mod context;
mod driver;
mod fill;
mod fork;
mod launch;
mod limits;
mod mark;
mod memory;
mod module;
mod records;
mod report;
mod staging;
mod stream;
mod table;
mod transfer;

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::call::Calls;
use self::checked::Plan;
use self::codes::{Meaning, meaning};
use self::context::{Context, driver_error};
use self::driver::{Driver, Failure};
use self::launch::Request;
use self::mark::Marks;
use self::module::Modules;
use self::records::Spares;
use self::report::Checked;
use self::staging::Staging;
use self::stream::{Streams, Unfinished};
use super::{
    AccessRule, Answer, Backend, Copy, DeviceInfo, Fill, FunctionId, HostFunction, LaunchCall, MarkId,
    MemoryInfo, ModuleId, Ownership, Peer, PeerCopy, Reset, StreamId,
};
use crate::error::ErrorKind;
use crate::fault::Fault;
use crate::ptx::LoadedPtx;

/// One context on a CUDA device.
pub(crate) struct CudaBackend {
    info: DeviceInfo,
    context: Context,
    streams: Arc<Streams>,
    marks: Marks,
    calls: Arc<Calls>,
    modules: Arc<Modules>,
    fill: fill::Kernels,
    spares: Spares,
    staging: Staging,
    /// Bytes of page-locked memory that was handed out.
    pinned: AtomicU64,
    /// Ids given out so far, of all sorts together.
    ids: AtomicU64,
}

/// How many CUDA devices there are, or why there are none.
pub(crate) fn count() -> Result<u32, String> {
    limits::count()
}

impl CudaBackend {
    /// Opens device number `ordinal`.
    pub(crate) fn open(ordinal: u32, ownership: Ownership) -> Answer<Self> {
        let unavailable =
            |why: String| ErrorKind::DeviceUnavailable { message: format!("cuda:{ordinal}: {why}") };
        let count = limits::count().map_err(unavailable)?;
        if ordinal >= count {
            return Err(unavailable(match count {
                0 => "the driver finds no device".to_owned(),
                1 => "there is one device, cuda:0".to_owned(),
                _ => format!("there are {count} devices, cuda:0 to cuda:{}", count - 1),
            }));
        }
        let without = |what| move |failure| unavailable(format!("no {what}: {}", driver_error(failure)));
        let device = limits::device(ordinal).map_err(without("context"))?;
        let context = Context::open(device, ownership).map_err(without("context"))?;
        let (streams, modules) = (Arc::<Streams>::default(), Arc::<Modules>::default());
        let named = (Arc::clone(&streams), Arc::clone(&modules));
        context.set_unfinished(move || named.1.named(&named.0.unfinished()));
        let pitch_alignment = memory::pitch_alignment(&context)?;
        Ok(Self {
            info: limits::info(device, ordinal, pitch_alignment).map_err(without("description"))?,
            context,
            streams,
            marks: Marks::default(),
            calls: Arc::default(),
            modules,
            fill: fill::Kernels::default(),
            spares: Spares::default(),
            staging: Staging::default(),
            pinned: AtomicU64::new(0),
            ids: AtomicU64::new(0),
        })
    }

    fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Queues a checked launch: the kernel as it is, if every access was proved, else its version with checks.
    ///
    /// # Safety
    /// C1 for its buffers.
    unsafe fn launch_checked(&self, stream: StreamId, launch: &LaunchCall<'_>) -> Answer<()> {
        let kernel = self.modules.get(launch.function)?;
        let variant = match kernel.checked()?.plan(launch, &self.context)? {
            // SAFETY: C1 is the caller's. Every access was proved to lie in the buffers and variables of this launch,
            // writes in those that may be written (C5).
            Plan::Proved => return unsafe { self.launch_as_it_is(stream, launch) },
            Plan::Checked(variant) => variant,
        };
        variant.function.opt_in(launch.dynamic_shared, &self.context)?;
        let on = self.streams.get(stream)?;
        let (slot, record) = on.records().take(on.handle(), &self.spares, &self.context)?;
        let params = variant.params(launch, record);
        let handles = (on.handle(), variant.function.handle());
        // SAFETY: C1 is the caller's. This version does no access that it has not compared with the limits it is given,
        // which are those of the launch's buffers, except where that was proved (C5); its parameters are laid out as it
        // says.
        let queued = unsafe { launch::queue(handles, &request(launch, &params)) };
        let checked = Checked {
            variant,
            grid: launch.grid,
            block: launch.block,
            buffers: launch.buffers.clone(),
            max_steps: launch.max_steps,
            location: launch.location,
        };
        on.records().note(slot, queued.is_ok().then_some(checked));
        self.context.answer(queued)?;
        self.streams.remember(stream, unfinished(launch));
        Ok(())
    }

    /// Queues a launch of the kernel as it is.
    ///
    /// # Safety
    /// C1 for its buffers, C5.
    unsafe fn launch_as_it_is(&self, stream: StreamId, launch: &LaunchCall<'_>) -> Answer<()> {
        let Self { streams, modules, context, .. } = self;
        let begun = unfinished(launch);
        let handles = streams.begin(stream, begun, launch.dynamic_shared, modules, context)?;
        let queue = || {
            // SAFETY: C1, C5 are the caller's. The parameter block was laid out by the kernel's own signature.
            unsafe { launch::queue(handles, &request(launch, &launch.params)) }
        };
        // forgotten before anybody asks whose fault it may be that the call met
        self.queue_from_anywhere(queue, || streams.forget(stream, begun))
    }

    /// Makes a call that queues a launch or a copy, also where another context is current on this thread.
    ///
    /// Drivers queue these by their stream's context, or refuse a launch where that is not current (CUDA C++ Programming
    /// Guide, "Stream and Event Behavior"), so which one is current is asked only after a refusal.
    ///
    /// `undo` is called where nothing was queued.
    fn queue_from_anywhere(&self, call: impl Fn() -> Driver<()>, undo: impl Fn()) -> Answer<()> {
        if self.context.ownership() == Ownership::Primary {
            // somebody may have reset it, and its handles with it
            self.context.make_current().inspect_err(|_| undo())?;
        }
        match call() {
            Ok(()) => Ok(()),
            Err(failure) => self.queue_again(failure, &call, &undo),
        }
    }

    /// Once more where what the driver missed may be the current context. What it refused was not queued; of a copy in
    /// several calls, bytes that were copied are copied again.
    #[cold]
    fn queue_again(&self, failure: Failure, call: &dyn Fn() -> Driver<()>, undo: &dyn Fn()) -> Answer<()> {
        let mut queued = Err(failure);
        if meaning(failure.code) == Meaning::Refused && !self.context.is_current() {
            self.context.make_current().inspect_err(|_| undo())?;
            queued = call();
        }
        self.context.answer(queued.inspect_err(|_| undo()))
    }

    /// What a wait answers. In a context that has ended it is a wait for the functions of the host, too (B3); in a forked
    /// process there are none.
    fn waited(&self, wait: impl FnOnce() -> Answer<()>) -> Answer<()> {
        let waited = if self.context.is_usable() { wait() } else { self.context.alive() };
        if self.context.has_ended() && self.context.is_ours() {
            self.calls.end();
        }
        waited
    }

    /// Forgets the handles of a context that is about to go.
    fn forget(&self) {
        self.streams.clear();
        self.marks.clear(&self.context);
        self.modules.clear();
        self.fill.clear(&self.context);
        self.spares.clear(&self.context);
        self.staging.clear(&self.context);
    }
}

impl Backend for CudaBackend {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_info(&self) -> Answer<MemoryInfo> {
        self.context.alive()?;
        memory::info(&self.context)
    }

    fn has_ended(&self) -> bool {
        self.context.has_ended()
    }

    fn wants_contents(&self) -> bool {
        true
    }

    fn make_current(&self) -> Answer<()> {
        self.context.make_current()
    }

    fn allocate(&self, bytes: usize) -> Answer<u64> {
        self.context.alive()?;
        memory::allocate(bytes, &self.context)
    }

    fn block_bytes(&self) -> Option<usize> {
        Some(memory::BLOCK_BYTES)
    }

    unsafe fn free(&self, address: u64) -> Answer<()> {
        if !self.context.is_usable() {
            return Ok(());
        }
        // SAFETY: C1, C2 are the caller's.
        unsafe { memory::free(address, &self.context) }
    }

    fn allocate_pinned(&self, bytes: usize) -> Answer<NonNull<u8>> {
        self.context.alive()?;
        match memory::allocate_pinned(bytes, &self.context) {
            Ok(pointer) => {
                self.pinned.fetch_add(bytes as u64, Ordering::Relaxed);
                Ok(pointer)
            }
            Err(ErrorKind::OutOfPinnedMemory { asked, .. }) => {
                let held = self.pinned.load(Ordering::Relaxed);
                Err(ErrorKind::OutOfPinnedMemory { asked, held })
            }
            Err(other) => Err(other),
        }
    }

    unsafe fn free_pinned(&self, pointer: NonNull<u8>, bytes: usize) -> Answer<()> {
        self.pinned.fetch_sub(bytes as u64, Ordering::Relaxed);
        if !self.context.is_usable() {
            return Ok(());
        }
        // SAFETY: C3 is the caller's.
        unsafe { memory::free_pinned(pointer, &self.context) }
    }

    fn create_stream(&self) -> Answer<StreamId> {
        self.context.alive()?;
        self.streams.create(self.next_id(), &self.context)
    }

    fn destroy_stream(&self, stream: StreamId) -> Answer<()> {
        if !self.context.is_usable() {
            return Ok(());
        }
        self.streams.destroy(stream, &self.spares, &self.context)
    }

    fn wait_stream(&self, stream: StreamId) -> Answer<()> {
        self.waited(|| self.streams.wait(stream, &self.modules, &self.context))
    }

    fn record(&self, stream: StreamId) -> Answer<MarkId> {
        self.context.alive()?;
        let stream = stream::handle(stream);
        let id = MarkId(self.next_id());
        self.marks.record(id, stream, &self.context)?;
        Ok(id)
    }

    fn wait_on(&self, stream: StreamId, mark: MarkId) -> Answer<()> {
        self.context.alive()?;
        let stream = stream::handle(stream);
        self.marks.wait_on(stream, mark, &self.context)
    }

    fn wait_mark(&self, mark: MarkId) -> Answer<()> {
        self.waited(|| self.marks.wait(mark, &self.context))
    }

    fn is_done(&self, mark: MarkId) -> Answer<bool> {
        self.context.alive()?;
        self.marks.is_done(mark, &self.context)
    }

    fn elapsed(&self, from: MarkId, to: MarkId) -> Answer<f32> {
        self.context.alive()?;
        self.marks.elapsed(from, to, &self.context)
    }

    fn destroy_mark(&self, mark: MarkId) -> Answer<()> {
        if !self.context.is_usable() {
            return Ok(());
        }
        self.marks.destroy(mark, &self.context)
    }

    unsafe fn copy(&self, stream: StreamId, copy: &Copy) -> Answer<()> {
        self.context.alive()?;
        let stream = stream::handle(stream);
        let queue = || {
            // SAFETY: C1, C3 are the caller's.
            unsafe { transfer::queue(copy, self.info.limits.max_pitch, stream) }
        };
        self.queue_from_anywhere(queue, || ())
    }

    fn staged_bytes(&self) -> Option<usize> {
        Some(staging::LEAST_BYTES)
    }

    unsafe fn copy_staged(&self, after: MarkId, copy: &Copy) -> Answer<bool> {
        self.context.alive()?;
        let after = self.marks.get(after)?;
        // SAFETY: C1, C3, C4 are the caller's.
        unsafe { self.staging.copy(copy, after, self.info.limits.max_pitch, &self.context) }
    }

    fn peer(&self) -> Option<Peer> {
        let handle = self.context.handle();
        (!handle.is_null()).then(|| Peer(handle.expose_provenance() as u64))
    }

    unsafe fn copy_from_peer(&self, stream: StreamId, copy: &PeerCopy) -> Answer<()> {
        self.context.alive()?;
        let stream = stream::handle(stream);
        // SAFETY: as this function's caller vouches.
        unsafe { transfer::copy_from_peer(copy, self.info.limits.max_pitch, stream, &self.context) }
    }

    unsafe fn fill(&self, stream: StreamId, fill: &Fill) -> Answer<()> {
        self.context.alive()?;
        let stream = stream::handle(stream);
        // SAFETY: C1 is the caller's.
        unsafe { transfer::fill(fill, stream, &self.fill, &self.context) }
    }

    fn call(&self, stream: StreamId, function: HostFunction) -> Answer<()> {
        self.context.alive()?;
        self.calls.queue(function, stream::handle(stream), &self.context)
    }

    fn load(&self, ptx: &Arc<LoadedPtx>) -> Answer<ModuleId> {
        self.context.alive()?;
        let id = ModuleId(self.next_id());
        self.modules.load(id, ptx, &self.context)?;
        Ok(id)
    }

    fn function(&self, module: ModuleId, name: &Arc<str>) -> Answer<FunctionId> {
        self.context.alive()?;
        if let Some(known) = self.modules.find_function(module, name) {
            return Ok(known);
        }
        let id = FunctionId(self.next_id());
        self.modules.add_function(id, module, name, &self.context)?;
        Ok(id)
    }

    fn unload(&self, module: ModuleId) -> Answer<()> {
        if !self.context.is_usable() {
            return Ok(());
        }
        self.modules.unload(module, &self.context)
    }

    unsafe fn launch(&self, stream: StreamId, launch: &LaunchCall<'_>) -> Answer<()> {
        self.context.alive()?;
        refuse(launch)?;
        if launch.access == AccessRule::Checked {
            self.context.make_current()?;
            // SAFETY: C1 is the caller's.
            return unsafe { self.launch_checked(stream, launch) };
        }
        // SAFETY: C1 and, as only unchecked launches come here, C5 are the caller's.
        unsafe { self.launch_as_it_is(stream, launch) }
    }

    fn close(&self) {
        self.forget();
    }

    fn recorded(&self) -> Answer<Option<Fault>> {
        self.context.alive()?;
        self.streams.recorded(&self.context)
    }

    fn ownership(&self) -> Ownership {
        self.context.ownership()
    }

    fn reset(&self) -> Reset {
        self.forget();
        self.context.reset()
    }

    fn reset_for_all(&self) -> Reset {
        self.forget();
        self.context.reset_primary()
    }
}

/// A launch with this parameter block.
fn request<'a>(launch: &LaunchCall<'_>, params: &'a [u8]) -> Request<'a> {
    Request { grid: launch.grid, block: launch.block, dynamic_shared: launch.dynamic_shared, params }
}

fn unfinished(launch: &LaunchCall<'_>) -> Unfinished {
    let checked = launch.access != AccessRule::Unchecked;
    Unfinished { function: launch.function, location: launch.location, checked }
}

/// What this device does not do.
fn refuse(launch: &LaunchCall<'_>) -> Answer<()> {
    let what = if launch.counts.is_some() {
        "a CUDA device does not count instructions; the host device does"
    } else if launch.access == AccessRule::Unchecked && launch.max_steps.is_some() {
        "an unchecked launch on a CUDA device cannot be ended after a number of steps; the host device can"
    } else {
        return Ok(());
    };
    Err(ErrorKind::NotSupported { message: format!("kernel `{}`: {what}", launch.kernel) })
}

#[cfg(test)]
mod tests;

impl Drop for CudaBackend {
    fn drop(&mut self) {
        self.forget();
    }
}

impl fmt::Debug for CudaBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaBackend").field("device", &self.info.id).finish_non_exhaustive()
    }
}
