//! Large copies from and to ordinary host memory, where the device has a faster way for them than the driver's own.

use crate::backend::{Backend, Copy, HostPointer, Place};
use crate::context::core::{Core, Errors};
use crate::error::Error;
use crate::memory::Region;

/// Does `copy`, between `region` and ordinary host memory, and waits for it. `false`: it is not one of those, or cannot
/// be done so now; nothing was queued.
///
/// # Safety
/// C3 of [`backend`](crate::backend) for the host memory; `copy` names the bytes of `region`.
#[track_caller]
pub(super) unsafe fn copy(
    core: &Core,
    region: &Region<'_>,
    copy: &Copy,
    is_written: bool,
) -> Result<bool, Error> {
    let backend = &*core.shared.backend;
    if backend.staged_bytes().is_none_or(|least| region.bytes() < least) || is_pinned(core, copy) {
        return Ok(false);
    }
    let here = std::panic::Location::caller();
    // The ledger puts the context's stream behind what the copy must follow; the copy follows this mark. It has stopped
    // before anybody can queue what must follow it: the region is borrowed until this function returns.
    let mut mark = None;
    core.submit(core.stream, region.block.touch(is_written), |backend: &dyn Backend| {
        mark = Some(backend.record(core.stream)?);
        Ok(())
    })?;
    let Some(mark) = mark else { return Ok(false) };
    // SAFETY: the region lies in a live allocation, which the caller borrows (C1); C3 is the caller's.
    let copied = unsafe { backend.copy_staged(mark, copy) };
    let destroyed = backend.destroy_mark(mark);
    let mut errors = Errors::default();
    let is_done = copied.unwrap_or_else(|kind| {
        errors.push(Error::at(kind, here));
        true
    });
    errors.add(destroyed, here);
    if is_done {
        // For the faults of earlier launches, which this stream's wait returns.
        errors.extend(core.wait_at(core.stream, here));
    }
    errors.into_result().map(|()| is_done)
}

/// Whether the host's side is page-locked memory of this context, which needs no other way.
fn is_pinned(core: &Core, copy: &Copy) -> bool {
    let hosts = [copy.src.place, copy.dst.place];
    let Some(start) = hosts.iter().find_map(|place| match place {
        Place::Host(HostPointer(pointer)) => Some(pointer.addr().get()),
        Place::Device(_) => None,
    }) else {
        return false;
    };
    core.ledger().pinned.values().any(|block| {
        let first = block.pointer.0.addr().get();
        (first..first + block.bytes).contains(&start)
    })
}
