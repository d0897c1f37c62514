//! The host device: device memory and streams in ordinary memory, and kernels that the CPU interprets. This file is
//! the lock and the list of calls; what they do stands in `context` and the files named after CUDA's nouns.

mod context;
mod hostile;
#[expect(clippy::indexing_slicing, reason = "a panic in a kernel's run is caught and is its fault: `launch`")]
pub(crate) mod interp;
mod launch;
mod limits;
mod mark;
pub(crate) mod memory;
mod module;
mod options;
mod pinned;
mod probe;
mod stream;
#[cfg(test)]
mod tests;
mod transfer;
mod written;

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use self::context::Context;
use self::hostile::{Choices, Failures, Turns};
use self::launch::QueuedLaunch;
use self::memory::OutOfMemory;
use self::module::Module;
pub use self::options::{Failure, HostOptions, Probe, Protection};
use self::pinned::Pinned;
use self::stream::Operation;
use self::transfer::QueuedCopy;
use super::{
    Answer, Backend, Copy, DeviceInfo, Fill, FunctionId, HostFunction, LaunchCall, MarkId, MemoryInfo,
    ModuleId, Ownership, Reset, StreamId,
};
use crate::error::ErrorKind;
use crate::fault::Fault;
use crate::ptx::LoadedPtx;

/// One context on the host device.
///
/// Streams are queues that are carried out by the thread that waits, under one lock: a call made meanwhile by
/// another thread waits for it to end. The library above must not call it from inside a kernel, and cannot.
pub(crate) struct HostBackend {
    info: DeviceInfo,
    options: HostOptions,
    failures: Arc<Failures>,
    turns: Turns,
    context: Arc<Mutex<Context>>,
    pinned: Arc<Mutex<Pinned>>,
}

impl HostBackend {
    /// A context on a host device.
    pub(crate) fn new(options: HostOptions) -> Self {
        let memory = options.memory_limit.unwrap_or_else(limits::default_memory);
        let failures = Arc::<Failures>::default();
        if let Some((k, failure)) = options.fails {
            failures.fail_call(k, failure);
        }
        let context = Context::new(memory, options.hostile.map(Choices::new));
        let context = Arc::new(Mutex::new(context));
        let pinned = Arc::<Mutex<Pinned>>::default();
        if let Some(probe) = &options.probe {
            probe.attach(&failures, &context, &pinned, options.without != Some(Protection::NoticeReset));
        }
        let turns = Turns::new(options.hostile);
        Self { info: limits::info(memory), turns, context, options, failures, pinned }
    }

    /// The switch that makes calls fail, to keep while the backend is behind its trait.
    #[cfg(test)]
    pub(crate) fn failures(&self) -> Arc<Failures> {
        Arc::clone(&self.failures)
    }

    /// What the context holds and has done.
    #[cfg(test)]
    pub(crate) fn statistics(&self) -> probe::Statistics {
        let pinned = self.pinned().count();
        probe::Statistics { pinned, calls: self.failures.calls(), ..self.context().statistics() }
    }

    /// The state. A thread that panicked in here left it as complete as an operation that faulted does.
    fn context(&self) -> MutexGuard<'_, Context> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pinned(&self) -> MutexGuard<'_, Pinned> {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, for the call of this name, unless a test wants it to fail.
    fn enter(&self, name: &'static str) -> Answer<MutexGuard<'_, Context>> {
        self.turns.next();
        self.failures.count(name)?;
        Ok(self.context())
    }

    /// As `enter`; nothing where somebody else's reset has taken what is to be given back.
    fn enter_to_release(&self, name: &'static str) -> Answer<Option<MutexGuard<'_, Context>>> {
        Ok(Some(self.enter(name)?).filter(|context| !context.is_lost()))
    }

    /// Loads what `load` places in memory.
    fn load_module(
        &self,
        load: impl FnOnce(&mut memory::Memory) -> Answer<Arc<dyn Module>>,
    ) -> Answer<ModuleId> {
        self.enter("load")?.load(load)
    }
}

impl Backend for HostBackend {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_info(&self) -> Answer<MemoryInfo> {
        let context = self.enter("memory_info")?;
        context.alive()?;
        let usage = context.memory().usage();
        Ok(MemoryInfo { free: usage.free, total: usage.total })
    }

    fn has_ended(&self) -> bool {
        self.context().alive().is_err()
    }

    /// Also on a poisoned context, so that the calls behind it can say what ended it.
    fn make_current(&self) -> Answer<()> {
        self.turns.next();
        self.failures.count("make_current")
    }

    fn allocate(&self, bytes: usize) -> Answer<u64> {
        self.enter("allocate")?.allocate(bytes)
    }

    /// An allocation is a block of its own, so that each has its own address range, guards and contents.
    fn block_bytes(&self) -> Option<usize> {
        None
    }

    unsafe fn free(&self, address: u64) -> Answer<()> {
        self.enter_to_release("free")?.map_or(Ok(()), |mut context| context.free(address))
    }

    fn allocate_pinned(&self, bytes: usize) -> Answer<NonNull<u8>> {
        self.enter("allocate_pinned")?.alive()?;
        self.pinned().allocate(bytes)
    }

    unsafe fn free_pinned(&self, pointer: NonNull<u8>, bytes: usize) -> Answer<()> {
        self.failures.count("free_pinned")?;
        // SAFETY: nothing uses the block any more, as this function's caller vouches (C3).
        unsafe { self.pinned().free(pointer, bytes) }
    }

    fn create_stream(&self) -> Answer<StreamId> {
        self.enter("create_stream")?.create_stream()
    }

    fn destroy_stream(&self, stream: StreamId) -> Answer<()> {
        self.enter_to_release("destroy_stream")?.map_or(Ok(()), |mut context| context.destroy_stream(stream))
    }

    fn wait_stream(&self, stream: StreamId) -> Answer<()> {
        let failed = self.failures.count("wait_stream");
        let mut context = self.context();
        context.run_stream(stream)?;
        failed?;
        context.take_fault(stream)
    }

    fn record(&self, stream: StreamId) -> Answer<MarkId> {
        self.enter("record")?.record(stream)
    }

    fn wait_on(&self, stream: StreamId, mark: MarkId) -> Answer<()> {
        let mut context = self.enter("wait_on")?;
        let point = context.mark(mark)?.point;
        if self.options.without == Some(Protection::Order) {
            return context.alive();
        }
        context.push(stream, Operation::Wait(point))
    }

    fn wait_mark(&self, mark: MarkId) -> Answer<()> {
        let failed = self.failures.count("wait_mark");
        let mut context = self.context();
        let point = context.mark(mark)?.point;
        if self.options.without != Some(Protection::FreeBehindWork) {
            context.advance(point);
        }
        failed?;
        context.alive()
    }

    /// Asking carries out one operation, so that a program which asks until the answer is yes comes to an end.
    fn is_done(&self, mark: MarkId) -> Answer<bool> {
        let mut context = self.enter("is_done")?;
        let point = context.mark(mark)?.point;
        context.nudge(point);
        context.alive()?;
        Ok(context.is_reached(point))
    }

    fn elapsed(&self, from: MarkId, to: MarkId) -> Answer<f32> {
        let context = self.enter("elapsed")?;
        context.alive()?;
        mark::elapsed(context.mark(from)?, context.mark(to)?)
    }

    fn destroy_mark(&self, mark: MarkId) -> Answer<()> {
        self.enter_to_release("destroy_mark")?.map_or(Ok(()), |mut context| context.destroy_mark(mark))
    }

    unsafe fn copy(&self, stream: StreamId, copy: &Copy) -> Answer<()> {
        // SAFETY: this function's caller vouches for C3 until the operation has stopped; it stops, at the latest,
        // when the value is gone.
        let copy = unsafe { QueuedCopy::new(*copy) };
        self.enter("copy")?.push(stream, Operation::Copy(copy))
    }

    unsafe fn fill(&self, stream: StreamId, fill: &Fill) -> Answer<()> {
        self.enter("fill")?.push(stream, Operation::Fill(fill.clone()))
    }

    fn call(&self, stream: StreamId, function: HostFunction) -> Answer<()> {
        self.enter("call")?.push(stream, Operation::Call(function))
    }

    fn load(&self, ptx: &Arc<LoadedPtx>) -> Answer<ModuleId> {
        self.load_module(|memory| module::load(ptx, memory))
    }

    /// Kernels are found by name when they run.
    fn function(&self, _module: ModuleId, _name: &Arc<str>) -> Answer<FunctionId> {
        Ok(FunctionId(0))
    }

    fn unload(&self, module: ModuleId) -> Answer<()> {
        self.enter_to_release("unload")?.map_or(Ok(()), |mut context| context.unload(module))
    }

    unsafe fn launch(&self, stream: StreamId, launch: &LaunchCall<'_>) -> Answer<()> {
        let mut call = launch.to_owned();
        call.strict |= self.options.strict;
        let mut context = self.enter("launch")?;
        context.alive()?;
        let module = Arc::clone(context.module(call.module)?);
        let queued = QueuedLaunch { module, call };
        context.push(stream, Operation::Launch(Box::new(queued)))
    }

    /// Whoever waits holds the state while kernels run, so then nothing is known.
    fn recorded(&self) -> Answer<Option<Fault>> {
        self.failures.count("recorded")?;
        let context = match self.context.try_lock() {
            Ok(context) => context,
            Err(TryLockError::Poisoned(context)) => context.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        context.alive()?;
        Ok(context.kept_fault().map(Fault::alone))
    }

    fn ownership(&self) -> Ownership {
        Ownership::Private
    }

    fn reset(&self) -> Reset {
        #[cfg(test)]
        if self.failures.resets_fail()
            && let Err(ErrorKind::Poisoned { origin }) = self.context().alive()
        {
            return Reset::Poisoned { origin };
        }
        self.context().reset();
        *self.pinned() = Pinned::default();
        Reset::Recovered
    }
}

impl From<OutOfMemory> for ErrorKind {
    fn from(OutOfMemory { asked, free, total, live }: OutOfMemory) -> Self {
        Self::OutOfMemory { asked, free, total, live }
    }
}

impl fmt::Debug for HostBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // without the lock: printing a device must not wait for what it runs
        f.debug_struct("HostBackend").field("options", &self.options).finish_non_exhaustive()
    }
}
