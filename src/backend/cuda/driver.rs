//! The CUDA driver's functions, declared once: integer results, so that a code of a newer driver is a number and not an
//! invalid value of an enum. Types are those of `cust`. What a call means for the context is decided in `context`.
//!
//! The names, arguments and their order are those of the CUDA Driver API reference, which also says what each demands.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cust::sys;

use super::{capture, codes};

pub(super) use sys::{
    CUDA_MEMCPY2D_v2 as Memcpy2d, CUDA_MEMCPY3D_v2 as Memcpy3d, CUcontext as ContextHandle,
    CUevent as EventHandle, CUfunction as FunctionHandle, CUmodule as ModuleHandle, CUstream as StreamHandle,
};

/// A driver call that did not answer `CUDA_SUCCESS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failure {
    /// The driver function.
    pub(super) call: &'static str,
    /// Its result.
    pub(super) code: i32,
}

impl Failure {
    /// The name of the code.
    pub(super) fn name(self) -> &'static str {
        codes::name(self.code)
    }
}

/// What a driver call answers.
pub(super) type Driver<T> = Result<T, Failure>;

/// What a call answers that was not done at once: it is made again beside a capture that forbids it.
#[cold]
fn not_at_once(call: &'static str, code: c_int, again: impl Fn() -> c_int) -> Driver<()> {
    let code = if code == capture::FORBIDS { capture::beside(again) } else { code };
    if code == 0 { Ok(()) } else { Err(Failure { call, code }) }
}

macro_rules! driver {
    ($($(#[$doc:meta])* $name:ident = $symbol:ident($($argument:ident: $type:ty),* $(,)?);)+) => {
        mod symbols {
            use super::*;
            // `cust` tells the linker where libcuda is
            unsafe extern "C" {
                $(pub(super) fn $symbol($($argument: $type),*) -> c_int;)+
            }
        }
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// Handles are live, pointers are valid for what the driver reads and writes, as the driver's reference
            /// demands for this function.
            pub(super) unsafe fn $name($($argument: $type),*) -> Driver<()> {
                // SAFETY: this function's caller vouches for the arguments, which a refused call has not used.
                let call = || unsafe { symbols::$symbol($($argument),*) };
                match call() {
                    0 => Ok(()),
                    code => not_at_once(stringify!($symbol), code, call),
                }
            }
        )+
    };
}

driver! {
    /// Starts the driver in this process.
    start = cuInit(flags: c_uint);
    /// 1000 · major + 10 · minor of the newest CUDA that the driver knows.
    version = cuDriverGetVersion(version: *mut c_int);
    /// How many devices there are.
    device_count = cuDeviceGetCount(count: *mut c_int);
    /// The handle of a device.
    device_get = cuDeviceGet(device: *mut c_int, ordinal: c_int);
    /// An attribute of a device.
    device_attribute = cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int);
    /// The name of a device, with a NUL at its end, cut where the room ends.
    device_name = cuDeviceGetName(name: *mut c_char, room: c_int, device: c_int);
    /// Bytes of memory of a device.
    device_memory = cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int);

    /// A new context, current on this thread.
    context_create = cuCtxCreate_v2(context: *mut ContextHandle, flags: c_uint, device: c_int);
    /// Destroys a context and everything in it.
    context_destroy = cuCtxDestroy_v2(context: ContextHandle);
    /// Makes a context current on this thread.
    context_set_current = cuCtxSetCurrent(context: ContextHandle);
    /// The context that is current on this thread.
    context_current = cuCtxGetCurrent(context: *mut ContextHandle);
    /// A number that no other context of the process has or had.
    context_id = cuCtxGetId(context: ContextHandle, id: *mut u64);
    /// Waits for everything in the current context.
    context_synchronize = cuCtxSynchronize();
    /// The device's primary context, shared with whoever else retains it.
    primary_retain = cuDevicePrimaryCtxRetain(context: *mut ContextHandle, device: c_int);
    /// Gives the primary context back.
    primary_release = cuDevicePrimaryCtxRelease_v2(device: c_int);
    /// Destroys everything in the primary context, whoever uses it.
    primary_reset = cuDevicePrimaryCtxReset_v2(device: c_int);

    /// Device memory.
    memory_allocate = cuMemAlloc_v2(address: *mut u64, bytes: usize);
    /// Device memory in rows; the element size is 4, 8 or 16.
    memory_allocate_pitch = cuMemAllocPitch_v2(
        address: *mut u64, pitch: *mut usize, row_bytes: usize, rows: usize, element: c_uint,
    );
    /// Frees device memory, after waiting for all kernels of the context.
    memory_free = cuMemFree_v2(address: u64);
    /// Free and total bytes.
    memory_info = cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    /// Page-locked host memory.
    host_allocate = cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    /// Frees page-locked host memory.
    host_free = cuMemFreeHost(pointer: *mut c_void);

    /// Queues a copy from host memory.
    copy_to_device = cuMemcpyHtoDAsync_v2(dst: u64, src: *const c_void, bytes: usize, stream: StreamHandle);
    /// Queues a copy to host memory.
    copy_to_host = cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: u64, bytes: usize, stream: StreamHandle);
    /// Queues a copy within the device.
    copy_within = cuMemcpyDtoDAsync_v2(dst: u64, src: u64, bytes: usize, stream: StreamHandle);
    /// Queues a copy of rows.
    copy_2d = cuMemcpy2DAsync_v2(copy: *const Memcpy2d, stream: StreamHandle);
    /// Queues a copy of slices of rows.
    copy_3d = cuMemcpy3DAsync_v2(copy: *const Memcpy3d, stream: StreamHandle);
    /// Queues a copy between contexts.
    copy_peer = cuMemcpyPeerAsync(
        dst: u64, dst_context: ContextHandle, src: u64, src_context: ContextHandle, bytes: usize,
        stream: StreamHandle,
    );
    /// Queues a fill with a byte.
    fill_8 = cuMemsetD8Async(dst: u64, value: u8, count: usize, stream: StreamHandle);
    /// Queues a fill with 16 bits.
    fill_16 = cuMemsetD16Async(dst: u64, value: u16, count: usize, stream: StreamHandle);
    /// Queues a fill with 32 bits.
    fill_32 = cuMemsetD32Async(dst: u64, value: u32, count: usize, stream: StreamHandle);
    /// Queues a fill of rows with a byte.
    fill_2d_8 = cuMemsetD2D8Async(
        dst: u64, pitch: usize, value: u8, width: usize, rows: usize, stream: StreamHandle,
    );
    /// Queues a fill of rows with 16 bits.
    fill_2d_16 = cuMemsetD2D16Async(
        dst: u64, pitch: usize, value: u16, width: usize, rows: usize, stream: StreamHandle,
    );
    /// Queues a fill of rows with 32 bits.
    fill_2d_32 = cuMemsetD2D32Async(
        dst: u64, pitch: usize, value: u32, width: usize, rows: usize, stream: StreamHandle,
    );

    /// A new stream.
    stream_create = cuStreamCreate(stream: *mut StreamHandle, flags: c_uint);
    /// Destroys a stream.
    stream_destroy = cuStreamDestroy_v2(stream: StreamHandle);
    /// Waits for a stream.
    stream_synchronize = cuStreamSynchronize(stream: StreamHandle);
    /// Makes what is queued from now on run after the event.
    stream_wait_event = cuStreamWaitEvent(stream: StreamHandle, event: EventHandle, flags: c_uint);
    /// Queues a function of the host.
    launch_host_function = cuLaunchHostFunc(
        stream: StreamHandle, function: extern "C" fn(*mut c_void), data: *mut c_void,
    );
    /// A new event.
    event_create = cuEventCreate(event: *mut EventHandle, flags: c_uint);
    /// Destroys an event.
    event_destroy = cuEventDestroy_v2(event: EventHandle);
    /// Records an event.
    event_record = cuEventRecord(event: EventHandle, stream: StreamHandle);
    /// Waits for an event.
    event_synchronize = cuEventSynchronize(event: EventHandle);
    /// Asks whether an event has passed.
    event_query = cuEventQuery(event: EventHandle);
    /// Milliseconds between two events.
    event_elapsed = cuEventElapsedTime(milliseconds: *mut f32, from: EventHandle, to: EventHandle);

    /// Loads a module with options of the JIT compiler.
    module_load = cuModuleLoadDataEx(
        module: *mut ModuleHandle, image: *const c_void, count: c_uint, options: *mut c_uint,
        values: *mut *mut c_void,
    );
    /// Unloads a module.
    module_unload = cuModuleUnload(module: ModuleHandle);
    /// A kernel of a module.
    module_function = cuModuleGetFunction(
        function: *mut FunctionHandle, module: ModuleHandle, name: *const c_char,
    );
    /// Sets an attribute of a kernel.
    function_set_attribute = cuFuncSetAttribute(function: FunctionHandle, attribute: c_int, value: c_int);
    #[expect(clippy::too_many_arguments, reason = "the driver's arguments")]
    /// Queues a launch.
    launch_kernel = cuLaunchKernel(
        function: FunctionHandle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint,
        block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: StreamHandle,
        params: *mut *mut c_void, extra: *mut *mut c_void,
    );
}

unsafe extern "C" {
    /// Puts this thread in another mode towards captures of graphs, and writes the one that it was in. Not above, since it
    /// is what a call that is made again is made in.
    #[link_name = "cuThreadExchangeStreamCaptureMode"]
    pub(super) fn exchange_capture_mode(mode: *mut c_int) -> c_int;

    /// Registers functions that run around `fork` (POSIX).
    pub(super) fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
}
