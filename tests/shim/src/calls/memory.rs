//! Device memory and page-locked host memory.

use std::ffi::c_uint;

use crate::backend::Backend;
use crate::backend_calls;
use crate::capture;
use crate::codes::{self, Answer, Code};
use crate::context::Context;
use crate::process::{self, current, lock, pinned_limit, ready};
use crate::raw::{HostMemory, Out};

/// `CU_MEMHOSTALLOC_PORTABLE`, `CU_MEMHOSTALLOC_DEVICEMAP` and `CU_MEMHOSTALLOC_WRITECOMBINED` together.
const HOST_FLAGS: c_uint = 7;

driver! {
    fn cuMemAlloc_v2(address: Out<u64>, bytes: usize) {
        let context = capture::beside()?;
        address.set(allocate(&context, bytes)?)
    }

    /// Rows begin as far apart as on a GPU.
    fn cuMemAllocPitch_v2(address: Out<u64>, pitch: Out<usize>, width: usize, height: usize, element: c_uint) {
        let context = capture::beside()?;
        if width == 0 || height == 0 || !matches!(element, 4 | 8 | 16) {
            return Err(Code::INVALID_VALUE);
        }
        let row = context.backend.pitch(width).map_err(|error| codes::of_error(&error))?;
        let bytes = row.checked_mul(height).ok_or(Code::OUT_OF_MEMORY)?;
        pitch.set(row)?;
        address.set(allocate(&context, bytes)?)
    }

    /// Waits for everything that the context has queued, as the driver does.
    fn cuMemFree_v2(address: u64) {
        let context = capture::beside()?;
        if address == 0 {
            return Ok(());
        }
        let bytes = lock(&context.memory).remove(address)?;
        context.synchronize();
        ready()?;
        backend_calls::free(&context.backend, address).map_err(|error| codes::of_error(&error))?;
        lock(&context.memory).give_back(bytes);
        Ok(())
    }

    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let context = capture::beside()?;
        free.set(lock(&context.memory).free_bytes() as usize)?;
        total.set(context.backend.info().memory as usize)
    }

    fn cuMemGetAddressRange_v2(base: Out<u64>, size: Out<usize>, address: u64) {
        let context = current()?;
        let (start, bytes) = lock(&context.memory).around(address).ok_or(Code::NOT_FOUND)?;
        base.set_if_wanted(start);
        size.set_if_wanted(bytes as usize);
        Ok(())
    }

    fn cuMemHostAlloc(pointer: Out<HostMemory>, bytes: usize, flags: c_uint) {
        pinned(&pointer, bytes, flags)
    }

    fn cuMemAllocHost_v2(pointer: Out<HostMemory>, bytes: usize) {
        pinned(&pointer, bytes, 0)
    }

    /// Of whichever context: pinned memory is the process's.
    fn cuMemFreeHost(pointer: HostMemory) {
        capture::beside()?;
        for context in process::contexts() {
            let block = lock(&context.memory).remove_pinned(pointer.address());
            if let Some((block, bytes)) = block {
                process::contexts().iter().for_each(|context| context.synchronize());
                let freed = backend_calls::free_pinned(&context.backend, block, bytes);
                freed.map_err(|error| codes::of_error(&error))?;
                return ready();
            }
        }
        Err(Code::INVALID_VALUE)
    }
}

fn allocate(context: &Context, bytes: usize) -> Answer<u64> {
    if bytes == 0 {
        return Err(Code::INVALID_VALUE);
    }
    let mut memory = lock(&context.memory);
    memory.take(bytes as u64)?;
    let allocated = context.backend.allocate(bytes).map_err(|error| codes::of_error(&error));
    let address = allocated.inspect_err(|_| memory.give_back(bytes as u64))?;
    memory.add(address, bytes as u64);
    Ok(address)
}

fn pinned(pointer: &Out<HostMemory>, bytes: usize, flags: c_uint) -> Answer {
    let context = capture::beside()?;
    if bytes == 0 || flags & !HOST_FLAGS != 0 {
        return Err(Code::INVALID_VALUE);
    }
    let mut memory = lock(&context.memory);
    if memory.pinned_bytes().saturating_add(bytes as u64) > pinned_limit() {
        return Err(Code::OUT_OF_MEMORY);
    }
    let block = context.backend.allocate_pinned(bytes).map_err(|error| codes::of_error(&error))?;
    memory.add_pinned(block, bytes);
    pointer.set(HostMemory::new(block))
}
