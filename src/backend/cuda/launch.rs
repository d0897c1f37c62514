//! Launches: parameters handed over as one block, as the kernel's signature lays them out.

use std::ffi::c_void;
use std::ptr;

use super::driver::{self, Driver};
use super::stream::Handles;
use crate::dim::Dim3;

/// `CU_LAUNCH_PARAM_BUFFER_POINTER`, `CU_LAUNCH_PARAM_BUFFER_SIZE` and `CU_LAUNCH_PARAM_END`: numbers in place of
/// pointers.
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;
const END: usize = 0;

/// A kernel's shape and parameters, as the driver takes them.
pub(super) struct Request<'a> {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) dynamic_shared: u32,
    /// The parameter block.
    pub(super) params: &'a [u8],
}

/// Queues a kernel, which was opted in for the shared memory that is asked for.
///
/// # Safety
/// C1 for its buffers, and C5: the kernel only touches memory that the program may touch. The parameter block is the one
/// that the kernel's signature asks for.
pub(super) unsafe fn queue((stream, function): Handles, request: &Request<'_>) -> Driver<()> {
    let Request { grid, block, dynamic_shared, params } = *request;
    let mut bytes = params.len();
    let mut extra: [*mut c_void; 5] = [
        ptr::without_provenance_mut(BUFFER_POINTER),
        params.as_ptr().cast_mut().cast(),
        ptr::without_provenance_mut(BUFFER_SIZE),
        (&raw mut bytes).cast(),
        ptr::without_provenance_mut(END),
    ];
    // SAFETY: function and stream are live (C4); the block of parameters has the size that is said and is read before
    // the call returns; what the kernel does is vouched for by the caller.
    unsafe {
        driver::launch_kernel(
            function,
            grid.x,
            grid.y,
            grid.z,
            block.x,
            block.y,
            block.z,
            dynamic_shared,
            stream,
            ptr::null_mut(),
            extra.as_mut_ptr(),
        )
    }
}
