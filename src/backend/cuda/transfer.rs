//! Copies and fills as driver calls: the fewest that the layout allows. Which bytes a transfer names was decided, and
//! checked, above the backend.

use std::ffi::c_void;
use std::mem;
use std::ptr;

use cust::sys::CUmemorytype;

use super::context::Context;
use super::driver::{self, ContextHandle, Driver, Memcpy2d, Memcpy3d, StreamHandle};
use super::fill;
use crate::backend::{Answer, Copy, Fill, HostPointer, Peer, PeerCopy, Place, Side};

/// The same bytes as one row where nothing lies between the rows on both sides.
pub(super) fn dense(copy: Copy) -> Copy {
    let Copy { dst, src, mut row_bytes, mut rows, mut slices } = copy;
    let both = |layout: &dyn Fn(&Side) -> bool| layout(&dst) && layout(&src);
    if rows > 1 && both(&|side| side.pitch == row_bytes) {
        (row_bytes, rows) = (row_bytes * rows, 1);
    }
    if rows == 1 && slices > 1 && both(&|side| side.slice_pitch == row_bytes) {
        (row_bytes, slices) = (row_bytes * slices, 1);
    }
    Copy { dst, src, row_bytes, rows, slices }
}

/// Queues the calls of a copy.
///
/// # Safety
/// C1, C3.
#[inline]
pub(super) unsafe fn queue(copy: &Copy, max_pitch: usize, stream: StreamHandle) -> Driver<()> {
    if copy.rows == 1 && copy.slices == 1 {
        // SAFETY: as this function's caller vouches.
        return unsafe { queue_row(&copy.dst, &copy.src, copy.row_bytes, stream) };
    }
    // SAFETY: as above; `dense` names the same bytes.
    unsafe { queue_rows(&dense(*copy), max_pitch, stream) }
}

/// # Safety
/// C1, C3.
#[inline(never)]
unsafe fn queue_rows(copy: &Copy, max_pitch: usize, stream: StreamHandle) -> Driver<()> {
    let &Copy { dst, src, row_bytes, rows, slices } = copy;
    let wide = |side: &Side| rows > 1 && side.pitch > max_pitch;
    if wide(&dst) || wide(&src) {
        // Rows farther apart than the driver's copies of rows allow go one by one.
        for (slice, row) in (0..slices).flat_map(|slice| (0..rows).map(move |row| (slice, row))) {
            let one = Copy {
                dst: advanced(&dst, slice, row),
                src: advanced(&src, slice, row),
                row_bytes,
                rows: 1,
                slices: 1,
            };
            // SAFETY: a row of the copy that the caller vouches for.
            unsafe { queue_rows(&one, max_pitch, stream) }?;
        }
        return Ok(());
    }
    if slices == 1 && rows == 1 {
        // SAFETY: as this function's caller vouches.
        return unsafe { queue_row(&dst, &src, row_bytes, stream) };
    }
    if slices == 1 {
        let request = rows_of(copy);
        // SAFETY: the request says what the copy says, which the caller vouches for; it is read before the call returns.
        return unsafe { driver::copy_2d(&request, stream) };
    }
    // The driver counts slices in rows.
    let in_rows = |side: &Side| side.pitch != 0 && side.slice_pitch.is_multiple_of(side.pitch);
    if rows > 1 && in_rows(&dst) && in_rows(&src) {
        let request = slices_of(copy);
        // SAFETY: as above.
        return unsafe { driver::copy_3d(&request, stream) };
    }
    if rows == 1 {
        // One row in each slice: the slices are the rows.
        let rows_ = |side: Side| Side { pitch: side.slice_pitch, ..side };
        let flat = Copy { dst: rows_(dst), src: rows_(src), row_bytes, rows: slices, slices: 1 };
        // SAFETY: the same bytes, named otherwise.
        return unsafe { queue_rows(&flat, max_pitch, stream) };
    }
    for slice in 0..slices {
        let one =
            Copy { dst: advanced(&dst, slice, 0), src: advanced(&src, slice, 0), row_bytes, rows, slices: 1 };
        // SAFETY: a slice of the copy that the caller vouches for.
        unsafe { queue_rows(&one, max_pitch, stream) }?;
    }
    Ok(())
}

/// The side from a row of a slice on.
pub(super) fn advanced(side: &Side, slice: usize, row: usize) -> Side {
    let offset = slice * side.slice_pitch + row * side.pitch;
    let place = match side.place {
        Place::Device(address) => Place::Device(address + offset as u64),
        // The row lies in the same host memory (C3), so its address is not null either.
        Place::Host(HostPointer(pointer)) => {
            let moved = pointer.as_ptr().wrapping_add(offset);
            Place::Host(HostPointer(ptr::NonNull::new(moved).unwrap_or(pointer)))
        }
    };
    Side { place, ..*side }
}

/// # Safety
/// C1, C3.
#[inline]
#[expect(
    clippy::unreachable,
    reason = "nothing that closes queues a copy, and no copy has two sides on the host"
)]
unsafe fn queue_row(dst: &Side, src: &Side, bytes: usize, stream: StreamHandle) -> Driver<()> {
    match (dst.place, src.place) {
        (Place::Device(to), Place::Device(from)) => {
            // SAFETY: as the caller vouches.
            unsafe { driver::copy_within(to, from, bytes, stream) }
        }
        (Place::Device(to), Place::Host(HostPointer(from))) => {
            // SAFETY: as the caller vouches; the host memory stays as it is until the copy has stopped (C3).
            unsafe { driver::copy_to_device(to, from.as_ptr().cast(), bytes, stream) }
        }
        (Place::Host(HostPointer(to)), Place::Device(from)) => {
            // SAFETY: as above.
            unsafe { driver::copy_to_host(to.as_ptr().cast(), from, bytes, stream) }
        }
        (Place::Host(_), Place::Host(_)) => unreachable!("a copy has a side in device memory"),
    }
}

/// A side as the driver's structures name it: kind, host pointer, device address.
fn named(side: &Side) -> (CUmemorytype, *mut c_void, u64) {
    match side.place {
        Place::Device(address) => (CUmemorytype::CU_MEMORYTYPE_DEVICE, ptr::null_mut(), address),
        Place::Host(HostPointer(pointer)) => (CUmemorytype::CU_MEMORYTYPE_HOST, pointer.as_ptr().cast(), 0),
    }
}

fn rows_of(copy: &Copy) -> Memcpy2d {
    let (dst, src) = (named(&copy.dst), named(&copy.src));
    Memcpy2d {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: src.0,
        srcHost: src.1,
        srcDevice: src.2,
        srcArray: ptr::null_mut(),
        srcPitch: copy.src.pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: dst.0,
        dstHost: dst.1,
        dstDevice: dst.2,
        dstArray: ptr::null_mut(),
        dstPitch: copy.dst.pitch,
        WidthInBytes: copy.row_bytes,
        Height: copy.rows,
    }
}

fn slices_of(copy: &Copy) -> Memcpy3d {
    let (dst, src) = (named(&copy.dst), named(&copy.src));
    Memcpy3d {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: src.0,
        srcHost: src.1,
        srcDevice: src.2,
        srcArray: ptr::null_mut(),
        reserved0: ptr::null_mut(),
        srcPitch: copy.src.pitch,
        srcHeight: copy.src.slice_pitch / copy.src.pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: dst.0,
        dstHost: dst.1,
        dstDevice: dst.2,
        dstArray: ptr::null_mut(),
        reserved1: ptr::null_mut(),
        dstPitch: copy.dst.pitch,
        dstHeight: copy.dst.slice_pitch / copy.dst.pitch,
        WidthInBytes: copy.row_bytes,
        Height: copy.rows,
        Depth: copy.slices,
    }
}

/// Queues a copy from another context's memory. The driver goes by way of the host where the devices cannot reach each
/// other.
///
/// # Safety
/// C1 on both sides; the peer's context stays until the copy has stopped.
pub(super) unsafe fn copy_from_peer(
    copy: &PeerCopy,
    max_pitch: usize,
    stream: StreamHandle,
    context: &Context,
) -> Answer<()> {
    let &PeerCopy { dst, dst_pitch, src, src_pitch, row_bytes, rows, peer: Peer(peer) } = copy;
    let dense = rows == 1 || (dst_pitch == row_bytes && src_pitch == row_bytes);
    let (row_bytes, rows) = if dense { (row_bytes * rows, 1) } else { (row_bytes, rows) };
    // The peer is a backend of this kind, so the number is its context's handle.
    let theirs: ContextHandle = ptr::with_exposed_provenance_mut(peer as usize);
    if theirs == context.handle() {
        // Two devices in one primary context: nothing is between them.
        let side = |address, pitch| Side { place: Place::Device(address), pitch, slice_pitch: 0 };
        let within =
            Copy { dst: side(dst, dst_pitch), src: side(src, src_pitch), row_bytes, rows, slices: 1 };
        // SAFETY: the same bytes, which the caller vouches for; two live arrays do not overlap.
        return context.answer(unsafe { queue(&within, max_pitch, stream) });
    }
    for row in 0..rows {
        let (to, from) = (dst + (row * dst_pitch) as u64, src + (row * src_pitch) as u64);
        // SAFETY: a row of the copy that the caller vouches for; both contexts are open.
        let queued = unsafe { driver::copy_peer(to, context.handle(), from, theirs, row_bytes, stream) };
        context.answer(queued)?;
    }
    Ok(())
}

/// Queues a fill, slice after slice.
///
/// # Safety
/// C1.
pub(super) unsafe fn fill(
    fill: &Fill,
    stream: StreamHandle,
    kernels: &fill::Kernels,
    context: &Context,
) -> Answer<()> {
    for slice in 0..fill.slices {
        let address = fill.address + (slice * fill.slice_pitch) as u64;
        let rows = fill::Rows {
            address,
            pitch: if fill.rows == 1 { fill.row_bytes } else { fill.pitch },
            row_bytes: fill.row_bytes,
            rows: fill.rows,
        };
        // SAFETY: a slice of the fill that the caller vouches for (C1).
        unsafe { fill::queue(rows, &fill.element, stream, kernels, context) }?;
    }
    Ok(())
}

const _: () = assert!(mem::size_of::<Memcpy2d>() == 128 && mem::size_of::<Memcpy3d>() == 200);
