//! The calls to the host device that owe it a proof. Its invariants stand at `backend`; those of the caller's pointers
//! in `raw`.

use std::ptr::NonNull;

use crate::backend::host::HostBackend;
use crate::backend::{Answer, Backend, Copy, Fill, LaunchCall, StreamId};

/// Carries a copy out, and waits for it.
pub fn copy(backend: &HostBackend, stream: StreamId, copy: &Copy) -> Answer<()> {
    // SAFETY: C1: the device side was found in an allocation when the copy was queued, and memory is freed only after
    // all streams of its context have been waited for; the host device recognises an address that breaks this. C3: the
    // driver's caller leaves host memory alone until the copy has stopped, by the documentation of each copying call.
    unsafe { backend.copy(stream, copy) }?;
    backend.wait_stream(stream)
}

/// Carries a fill out, and waits for it.
pub fn fill(backend: &HostBackend, stream: StreamId, fill: &Fill) -> Answer<()> {
    // SAFETY: C1, as for a copy.
    unsafe { backend.fill(stream, fill) }?;
    backend.wait_stream(stream)
}

/// Carries a launch out, and waits for it.
pub fn launch(backend: &HostBackend, stream: StreamId, call: LaunchCall<'static>) -> Answer<()> {
    // SAFETY: C1: no buffers are named. C5: the caller of `cuLaunchKernel` vouches for what its kernel touches; the
    // host device's memory is its own, and it looks up each address that a kernel uses, so one that is wrong is a fault.
    unsafe { backend.launch(stream, &call) }?;
    backend.wait_stream(stream)
}

/// Frees device memory, which the caller took out of its table of live allocations.
pub fn free(backend: &HostBackend, address: u64) -> Answer<()> {
    // SAFETY: C1: the address was in the table. C2: every stream of the context was waited for.
    unsafe { backend.free(address) }
}

/// Frees pinned memory, which the caller took out of its table of live blocks.
pub fn free_pinned(backend: &HostBackend, pointer: NonNull<u8>, bytes: usize) -> Answer<()> {
    // SAFETY: the table holds what `allocate_pinned(bytes)` returned; every stream was waited for, and the caller of
    // `cuMemFreeHost` uses it no more (C3).
    unsafe { backend.free_pinned(pointer, bytes) }
}
