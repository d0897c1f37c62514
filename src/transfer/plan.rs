//! What a copy or fill is, before anybody queues it: shapes checked, sides laid out. Nothing here waits.

use std::panic::Location;
use std::ptr::NonNull;

use smallvec::SmallVec;

use crate::backend::{Backend, Copy, Fill, HostPointer, Place, Side, StreamId};
use crate::context::core::Core;
use crate::context::ledger::Touch;
use crate::element::Element;
use crate::error::{AtCaller, Error, ErrorKind};
use crate::memory::Region;

/// Host memory of a copy: its first byte and its length in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostSide {
    pointer: HostPointer,
    bytes: usize,
}

impl HostSide {
    pub(crate) fn reading<T: Element>(host: &[T]) -> Self {
        Self { pointer: HostPointer(NonNull::from(host).cast()), bytes: size_of_val(host) }
    }

    pub(crate) fn writing<T: Element>(host: &mut [T]) -> Self {
        Self { bytes: size_of_val(host), pointer: HostPointer(NonNull::from(host).cast()) }
    }
}

#[inline]
#[track_caller]
fn same_size(what: &str, device: usize, host: usize, size: usize) -> Result<(), Error> {
    if device == host { Ok(()) } else { Err(other_size(what, device, host, size)) }
}

#[cold]
#[track_caller]
fn other_size(what: &str, device: usize, host: usize, size: usize) -> Error {
    let elements = |bytes: usize| bytes.checked_div(size).unwrap_or(0);
    Error::new(ErrorKind::Shape {
        message: format!(
            "{what}: {} elements on the device, {} on the host",
            elements(device),
            elements(host)
        ),
    })
}

fn device_side(region: &Region<'_>) -> Side {
    Side { place: Place::Device(region.block.address), pitch: region.pitch, slice_pitch: 0 }
}

fn host_side(host: &HostSide, row_bytes: usize) -> Side {
    Side { place: Place::Host(host.pointer), pitch: row_bytes, slice_pitch: 0 }
}

/// The copy of host memory, row after row without gaps, to a region of as many bytes.
#[inline]
#[track_caller]
pub(crate) fn upload<T: Element>(to: &Region<'_>, host: &HostSide) -> Result<Copy, Error> {
    same_size("copy from the host", to.bytes(), host.bytes, size_of::<T>())?;
    Ok(Copy {
        dst: device_side(to),
        src: host_side(host, to.row_bytes),
        row_bytes: to.row_bytes,
        rows: to.rows,
        slices: 1,
    })
}

/// The copy of a region to host memory of as many bytes, row after row without gaps.
#[inline]
#[track_caller]
pub(crate) fn download<T: Element>(from: &Region<'_>, host: &HostSide) -> Result<Copy, Error> {
    same_size("copy to the host", from.bytes(), host.bytes, size_of::<T>())?;
    Ok(Copy {
        dst: host_side(host, from.row_bytes),
        src: device_side(from),
        row_bytes: from.row_bytes,
        rows: from.rows,
        slices: 1,
    })
}

/// Queues a copy from host memory, row after row without gaps on the host.
///
/// # Safety
/// C3 of [`backend`](crate::backend) for the host memory.
#[track_caller]
pub(crate) unsafe fn from_host<T: Element>(
    core: &Core,
    stream: StreamId,
    to: &Region<'_>,
    host: HostSide,
) -> Result<(), Error> {
    let copy = upload::<T>(to, &host)?;
    core.own("an array", to.block.core).at_caller()?;
    // SAFETY: C3 is the caller's; `to` holds C1 for the device side, and the sizes agree.
    unsafe { queue(core, stream, &copy, to.block.touch(true)) }
}

/// Queues a copy to host memory, row after row without gaps on the host.
///
/// # Safety
/// C3 of [`backend`](crate::backend) for the host memory.
#[track_caller]
pub(crate) unsafe fn to_host<T: Element>(
    core: &Core,
    stream: StreamId,
    from: &Region<'_>,
    host: HostSide,
) -> Result<(), Error> {
    let copy = download::<T>(from, &host)?;
    core.own("an array", from.block.core).at_caller()?;
    // SAFETY: C3 is the caller's; `from` holds C1 for the device side, and the sizes agree.
    unsafe { queue(core, stream, &copy, from.block.touch(false)) }
}

/// Refuses a copy between regions of different shapes.
#[track_caller]
pub(crate) fn same_shape<T: Element>(to: &Region<'_>, from: &Region<'_>) -> Result<(), Error> {
    let (there, here) = (to.extent(size_of::<T>()), from.extent(size_of::<T>()));
    if there == here {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Shape { message: format!("copy on the device: {here} elements into {there}") }))
}

/// Queues a copy within the device. Both sides have the same rows and elements per row.
#[track_caller]
pub(crate) fn within<T: Element>(
    core: &Core,
    stream: StreamId,
    to: &Region<'_>,
    from: &Region<'_>,
) -> Result<(), Error> {
    same_shape::<T>(to, from)?;
    core.own("an array", to.block.core).at_caller()?;
    core.own("an array", from.block.core).at_caller()?;
    let copy = Copy {
        dst: device_side(to),
        src: device_side(from),
        row_bytes: to.row_bytes,
        rows: to.rows,
        slices: 1,
    };
    let touches = to.block.touch(true).into_iter().chain(from.block.touch(false));
    // SAFETY: no host memory takes part; both regions hold C1 and have the same rows and bytes per row.
    unsafe { queue(core, stream, &copy, touches) }
}

/// # Safety
/// C1 for the device sides, C3 for the host sides of `copy`.
#[inline]
#[track_caller]
unsafe fn queue(
    core: &Core,
    stream: StreamId,
    copy: &Copy,
    touches: impl IntoIterator<Item = Touch>,
) -> Result<(), Error> {
    if copy.row_bytes == 0 || copy.rows == 0 {
        return Ok(());
    }
    core.submit_from_anywhere(Location::caller(), stream, touches, |backend: &dyn Backend| {
        // SAFETY: C1 and C3 are this function's own conditions.
        unsafe { backend.copy(stream, copy) }
    })
}

/// Queues a fill of every element of `region`; padding is not written.
#[track_caller]
pub(crate) fn fill<T: Element>(
    core: &Core,
    stream: StreamId,
    region: &Region<'_>,
    value: T,
) -> Result<(), Error> {
    core.own("an array", region.block.core).at_caller()?;
    if region.is_empty() {
        return Ok(());
    }
    let fill = Fill {
        address: region.block.address,
        pitch: region.pitch,
        slice_pitch: 0,
        row_bytes: region.row_bytes,
        rows: region.rows,
        slices: 1,
        element: SmallVec::from_slice(bytemuck::bytes_of(&value)),
    };
    core.submit(stream, region.block.touch(true), |backend: &dyn Backend| {
        // SAFETY: the region lies in a live allocation (C1): the array it came from is borrowed by the caller.
        unsafe { backend.fill(stream, &fill) }
    })
}
