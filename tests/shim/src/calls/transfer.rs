//! Copies and fills. Those without a stream use the NULL stream and wait.

use std::ffi::{c_uchar, c_uint, c_ushort};

use smallvec::SmallVec;

use crate::backend::{Backend, Copy, Fill, Place, Side};
use crate::codes::{Answer, Code};
use crate::context::Context;
use crate::handle::Handle;
use crate::process::{self, current, lock, ready};
use crate::raw::{Copy2d, Copy3d, HostMemory, In, MemoryType};
use crate::stream::{Operation, flat};

const HOST: MemoryType = 1;
const DEVICE: MemoryType = 2;
const UNIFIED: MemoryType = 4;

/// Where and when: on a stream, or on the NULL stream with a wait.
type When = Option<Handle>;

driver! {
    fn cuMemcpyHtoD_v2(dst: u64, src: HostMemory, bytes: usize) {
        line(None, Memory::Device(dst), Memory::Host(src), bytes)
    }

    fn cuMemcpyHtoDAsync_v2(dst: u64, src: HostMemory, bytes: usize, stream: Handle) {
        line(Some(stream), Memory::Device(dst), Memory::Host(src), bytes)
    }

    fn cuMemcpyDtoH_v2(dst: HostMemory, src: u64, bytes: usize) {
        line(None, Memory::Host(dst), Memory::Device(src), bytes)
    }

    fn cuMemcpyDtoHAsync_v2(dst: HostMemory, src: u64, bytes: usize, stream: Handle) {
        line(Some(stream), Memory::Host(dst), Memory::Device(src), bytes)
    }

    fn cuMemcpyDtoD_v2(dst: u64, src: u64, bytes: usize) {
        line(None, Memory::Device(dst), Memory::Device(src), bytes)
    }

    fn cuMemcpyDtoDAsync_v2(dst: u64, src: u64, bytes: usize, stream: Handle) {
        line(Some(stream), Memory::Device(dst), Memory::Device(src), bytes)
    }

    fn cuMemcpy(dst: u64, src: u64, bytes: usize) {
        line(None, Memory::Unified(dst), Memory::Unified(src), bytes)
    }

    fn cuMemcpyAsync(dst: u64, src: u64, bytes: usize, stream: Handle) {
        line(Some(stream), Memory::Unified(dst), Memory::Unified(src), bytes)
    }

    fn cuMemcpy2D_v2(copy: In<Copy2d>) {
        rectangle(None, &copy.get()?)
    }

    fn cuMemcpy2DUnaligned_v2(copy: In<Copy2d>) {
        rectangle(None, &copy.get()?)
    }

    fn cuMemcpy2DAsync_v2(copy: In<Copy2d>, stream: Handle) {
        rectangle(Some(stream), &copy.get()?)
    }

    fn cuMemcpy3D_v2(copy: In<Copy3d>) {
        cuboid(None, &copy.get()?)
    }

    fn cuMemcpy3DAsync_v2(copy: In<Copy3d>, stream: Handle) {
        cuboid(Some(stream), &copy.get()?)
    }

    /// Through host memory: devices do not reach each other's.
    fn cuMemcpyPeerAsync(dst: u64, to: Handle, src: u64, from: Handle, bytes: usize, stream: Handle) {
        let here = current()?;
        let stream = here.stream(stream)?;
        let (to, from) = (process::context(to)?, process::context(from)?);
        if bytes == 0 {
            return Ok(());
        }
        lock(&to.memory).check(dst, bytes as u64)?;
        lock(&from.memory).check(src, bytes as u64)?;
        let (to, from) = (to.null_stream.clone(), from.null_stream.clone());
        here.queue(&stream, Operation::PeerCopy { to, dst, from, src, bytes }).map(drop)
    }

    fn cuMemsetD8_v2(address: u64, value: c_uchar, count: usize) {
        fill(None, address, 0, &value.to_ne_bytes(), count, 1)
    }

    fn cuMemsetD8Async(address: u64, value: c_uchar, count: usize, stream: Handle) {
        fill(Some(stream), address, 0, &value.to_ne_bytes(), count, 1)
    }

    fn cuMemsetD16_v2(address: u64, value: c_ushort, count: usize) {
        fill(None, address, 0, &value.to_ne_bytes(), count, 1)
    }

    fn cuMemsetD16Async(address: u64, value: c_ushort, count: usize, stream: Handle) {
        fill(Some(stream), address, 0, &value.to_ne_bytes(), count, 1)
    }

    fn cuMemsetD32_v2(address: u64, value: c_uint, count: usize) {
        fill(None, address, 0, &value.to_ne_bytes(), count, 1)
    }

    fn cuMemsetD32Async(address: u64, value: c_uint, count: usize, stream: Handle) {
        fill(Some(stream), address, 0, &value.to_ne_bytes(), count, 1)
    }

    fn cuMemsetD2D8Async(
        address: u64, pitch: usize, value: c_uchar, width: usize, height: usize, stream: Handle,
    ) {
        fill(Some(stream), address, pitch, &value.to_ne_bytes(), width, height)
    }

    fn cuMemsetD2D16Async(
        address: u64, pitch: usize, value: c_ushort, width: usize, height: usize, stream: Handle,
    ) {
        fill(Some(stream), address, pitch, &value.to_ne_bytes(), width, height)
    }

    fn cuMemsetD2D32Async(
        address: u64, pitch: usize, value: c_uint, width: usize, height: usize, stream: Handle,
    ) {
        fill(Some(stream), address, pitch, &value.to_ne_bytes(), width, height)
    }
}

/// Memory as a call names it.
enum Memory {
    Device(u64),
    Host(HostMemory),
    /// Device memory if the address is one of the context's, else host memory.
    Unified(u64),
}

/// One side of a copy as a call describes it, in bytes and rows.
struct Place3d {
    memory: Memory,
    x: usize,
    y: usize,
    z: usize,
    pitch: usize,
    height: usize,
}

/// Bytes, rows and slices of a copy.
type Extent = (usize, usize, usize);

/// Queues an operation, and waits for it if it has no stream of its own.
fn queue(context: &Context, when: When, operation: Operation) -> Answer {
    let stream = context.stream(when.unwrap_or(Handle::NULL))?;
    let point = context.queue(&stream, operation)?;
    if when.is_none() {
        point.wait();
        return ready();
    }
    Ok(())
}

fn line(when: When, dst: Memory, src: Memory, bytes: usize) -> Answer {
    let row = |memory| Place3d { memory, x: 0, y: 0, z: 0, pitch: 0, height: 0 };
    copy(when, row(dst), row(src), (bytes, 1, 1))
}

fn rectangle(when: When, copy2d: &Copy2d) -> Answer {
    let Copy2d { src_x, src_y, src_type, src_host, src_device, src_pitch, .. } = *copy2d;
    let Copy2d { dst_x, dst_y, dst_type, dst_host, dst_device, dst_pitch, width, height, .. } = *copy2d;
    let plane = |memory, x, y, pitch| Place3d { memory, x, y, z: 0, pitch, height: 0 };
    let src = plane(memory(src_type, src_host, src_device)?, src_x, src_y, src_pitch);
    let dst = plane(memory(dst_type, dst_host, dst_device)?, dst_x, dst_y, dst_pitch);
    copy(when, dst, src, (width, height, 1))
}

fn cuboid(when: When, copy3d: &Copy3d) -> Answer {
    let c = copy3d;
    let src = Place3d {
        memory: memory(c.src_type, c.src_host, c.src_device)?,
        x: c.src_x,
        y: c.src_y,
        z: c.src_z,
        pitch: c.src_pitch,
        height: c.src_height,
    };
    let dst = Place3d {
        memory: memory(c.dst_type, c.dst_host, c.dst_device)?,
        x: c.dst_x,
        y: c.dst_y,
        z: c.dst_z,
        pitch: c.dst_pitch,
        height: c.dst_height,
    };
    copy(when, dst, src, (c.width, c.height, c.depth))
}

fn memory(kind: MemoryType, host: usize, device: u64) -> Answer<Memory> {
    match kind {
        HOST => Ok(Memory::Host(HostMemory::from_address(host as u64))),
        DEVICE => Ok(Memory::Device(device)),
        UNIFIED => Ok(Memory::Unified(device)),
        _ => Err(Code::INVALID_VALUE),
    }
}

fn copy(when: When, dst: Place3d, src: Place3d, extent: Extent) -> Answer {
    let context = current()?;
    let (row_bytes, rows, slices) = extent;
    if row_bytes == 0 || rows == 0 || slices == 0 {
        return context.stream(when.unwrap_or(Handle::NULL)).map(drop);
    }
    let (dst, src) = (side(&context, &dst, extent)?, side(&context, &src, extent)?);
    queue(&context, when, Operation::Copy(Copy { dst, src, row_bytes, rows, slices }))
}

/// The side with its place checked: every byte of device memory that is named lies in one allocation.
fn side(context: &Context, place: &Place3d, (row_bytes, rows, slices): Extent) -> Answer<Side> {
    let &Place3d { x, y, z, pitch, height, .. } = place;
    let flat_row = rows == 1 && slices == 1 && y == 0 && z == 0;
    let end_of_row = x.checked_add(row_bytes).ok_or(Code::INVALID_VALUE)?;
    if !flat_row && (pitch < end_of_row || pitch > context.backend.info().limits.max_pitch) {
        return Err(Code::INVALID_VALUE);
    }
    if (slices > 1 || z > 0) && height < y.checked_add(rows).ok_or(Code::INVALID_VALUE)? {
        return Err(Code::INVALID_VALUE);
    }
    let slice_pitch = pitch.checked_mul(height).ok_or(Code::INVALID_VALUE)?;
    let at = |row: usize, slice: usize, column: usize| {
        slice.checked_mul(slice_pitch)?.checked_add(row.checked_mul(pitch)?)?.checked_add(column)
    };
    let start = at(y, z, x).ok_or(Code::INVALID_VALUE)?;
    let end = at(rows - 1, slices - 1, row_bytes).ok_or(Code::INVALID_VALUE)?;
    let on_device = |address: u64| {
        let first = address.checked_add(start as u64).ok_or(Code::INVALID_VALUE)?;
        lock(&context.memory).check(first, end as u64)?;
        Ok(Place::Device(first))
    };
    let place = match place.memory {
        Memory::Device(address) => on_device(address)?,
        Memory::Host(memory) => Place::Host(memory.at(start)?),
        Memory::Unified(address) if lock(&context.memory).around(address).is_some() => on_device(address)?,
        Memory::Unified(address) => Place::Host(HostMemory::from_address(address).at(start)?),
    };
    Ok(if flat_row { flat(place) } else { Side { place, pitch, slice_pitch } })
}

fn fill(when: When, address: u64, pitch: usize, element: &[u8], width: usize, height: usize) -> Answer {
    let context = current()?;
    let stream = when.unwrap_or(Handle::NULL);
    if width == 0 || height == 0 {
        return context.stream(stream).map(drop);
    }
    let row_bytes = width.checked_mul(element.len()).ok_or(Code::INVALID_VALUE)?;
    let misaligned = |number: u64| !number.is_multiple_of(element.len() as u64);
    if misaligned(address) || (height > 1 && (pitch < row_bytes || misaligned(pitch as u64))) {
        return Err(Code::INVALID_VALUE);
    }
    let above = pitch.checked_mul(height - 1).and_then(|above| above.checked_add(row_bytes));
    lock(&context.memory).check(address, above.ok_or(Code::INVALID_VALUE)? as u64)?;
    let element = SmallVec::from_slice(element);
    let fill = Fill { address, pitch, slice_pitch: 0, row_bytes, rows: height, slices: 1, element };
    queue(&context, when, Operation::Fill(fill))
}
