//! Copies between the contexts of one `scope_all`: straight from device to device where the backends can, else by way of
//! the host. Both wait: the source belongs to another context, whose ledger does not know of this one's streams.

use crate::backend::{Backend, PeerCopy};
use crate::context::core::Errors;
use crate::element::Element;
use crate::error::{AtCaller, Error, ErrorKind};
use crate::memory::Region;
use crate::transfer::plan;

/// Copies `from`, on one context, to `to`, on another, and waits until it is done.
#[track_caller]
pub(crate) fn copy<T: Element>(to: &Region<'_>, from: &Region<'_>) -> Result<(), Error> {
    plan::same_shape::<T>(to, from)?;
    if to.is_empty() {
        return Ok(());
    }
    // Everything that the source's context has queued comes first, whichever stream may write there.
    from.block.core.wait_all()?;
    match direct(to, from) {
        Err(error) if matches!(error.kind(), ErrorKind::NotSupported { .. }) => through_host::<T>(to, from),
        other => other,
    }
}

#[track_caller]
fn direct(to: &Region<'_>, from: &Region<'_>) -> Result<(), Error> {
    let core = to.block.core;
    let not_supported =
        || ErrorKind::NotSupported { message: "these devices copy by way of the host".to_owned() };
    let peer = from.block.core.shared.backend.peer().ok_or_else(not_supported).at_caller()?;
    let copy = PeerCopy {
        dst: to.block.address,
        dst_pitch: to.pitch,
        src: from.block.address,
        src_pitch: from.pitch,
        row_bytes: to.row_bytes,
        rows: to.rows,
        peer,
    };
    let submitted = core.submit(core.stream, to.block.touch(true), |backend: &dyn Backend| {
        // SAFETY: both regions lie in live allocations, which the caller borrows until this function returns (C1), and
        // the wait below has stopped the copy by then, whatever it answers (B3). The peer's context is open: an array of
        // it is borrowed.
        unsafe { backend.copy_from_peer(core.stream, &copy) }
    });
    // Also where it was refused: of several rows the first ones may have been queued.
    let mut errors = Errors::default();
    errors.extend(submitted);
    errors.extend(core.wait(core.stream));
    errors.into_result()
}

#[track_caller]
fn through_host<T: Element>(to: &Region<'_>, from: &Region<'_>) -> Result<(), Error> {
    let extent = from.extent(size_of::<T>());
    let mut host: Vec<T> = bytemuck::allocation::zeroed_vec(extent.width * extent.height);
    super::blocking::read(from.block.core, from, &mut host)?;
    super::blocking::write(to.block.core, to, &host)
}
