//! The library under test, found at run time as programs find it, and its calls with results as plain integers. The
//! only file of these tests with `unsafe`.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::ptr;

use libloading::Library;

pub type Code = c_int;
pub type Handle = usize;

/// Another library to test, such as a GPU's own driver.
const LIBRARY: &str = "SCOPED_GPU_SHIM_LIBRARY";

/// The loaded library.
pub struct Driver(Library);

macro_rules! calls {
    ($($(#[$doc:meta])* $method:ident = $name:literal ($($argument:ident: $ty:ty),*);)+) => {
        impl Driver {$(
            $(#[$doc])*
            #[expect(clippy::too_many_arguments, reason = "they are the driver's")]
            pub fn $method(&self, $($argument: $ty),*) -> Code {
                type Function = extern "C" fn($($ty),*) -> Code;
                // SAFETY: the type is the function's declaration in `cuda.h`. Calling it is sound with the pointers
                // that tests give: to variables, or to arrays as long as the lengths beside them, that live until what
                // was queued has been waited for.
                let function = unsafe { self.0.get::<Function>(concat!($name, "\0").as_bytes()) };
                function.expect($name)($($argument),*)
            }
        )+}
    };
}

calls! {
    init = "cuInit" (flags: c_uint);
    context_create = "cuCtxCreate_v2" (context: &mut Handle, flags: c_uint, device: c_int);
    context_destroy = "cuCtxDestroy_v2" (context: Handle);
    context_pop = "cuCtxPopCurrent_v2" (context: &mut Handle);
    context_set = "cuCtxSetCurrent" (context: Handle);
    context_id = "cuCtxGetId" (context: Handle, id: &mut u64);
    synchronize = "cuCtxSynchronize" ();
    primary_retain = "cuDevicePrimaryCtxRetain" (context: &mut Handle, device: c_int);
    primary_reset = "cuDevicePrimaryCtxReset_v2" (device: c_int);
    alloc = "cuMemAlloc_v2" (address: &mut u64, bytes: usize);
    alloc_pitch = "cuMemAllocPitch_v2" (address: &mut u64, pitch: &mut usize, width: usize, height: usize, element: c_uint);
    free = "cuMemFree_v2" (address: u64);
    memory_info = "cuMemGetInfo_v2" (free: &mut usize, total: &mut usize);
    to_device = "cuMemcpyHtoD_v2" (dst: u64, src: *const c_void, bytes: usize);
    to_host = "cuMemcpyDtoH_v2" (dst: *mut c_void, src: u64, bytes: usize);
    to_host_queued = "cuMemcpyDtoHAsync_v2" (dst: *mut c_void, src: u64, bytes: usize, stream: Handle);
    copy_2d = "cuMemcpy2DAsync_v2" (copy: &[usize; 16], stream: Handle);
    set_32 = "cuMemsetD32Async" (address: u64, value: c_uint, count: usize, stream: Handle);
    stream_create = "cuStreamCreate" (stream: &mut Handle, flags: c_uint);
    stream_destroy = "cuStreamDestroy_v2" (stream: Handle);
    stream_synchronize = "cuStreamSynchronize" (stream: Handle);
    stream_query = "cuStreamQuery" (stream: Handle);
    stream_wait = "cuStreamWaitEvent" (stream: Handle, event: Handle, flags: c_uint);
    begin_capture = "cuStreamBeginCapture_v2" (stream: Handle, mode: c_int);
    end_capture = "cuStreamEndCapture" (stream: Handle, graph: &mut Handle);
    is_capturing = "cuStreamIsCapturing" (stream: Handle, status: &mut c_int);
    exchange_capture_mode = "cuThreadExchangeStreamCaptureMode" (mode: &mut c_int);
    graph_destroy = "cuGraphDestroy" (graph: Handle);
    host_function = "cuLaunchHostFunc" (stream: Handle, function: extern "C" fn(*mut c_void), data: *mut c_void);
    event_create = "cuEventCreate" (event: &mut Handle, flags: c_uint);
    event_destroy = "cuEventDestroy_v2" (event: Handle);
    event_record = "cuEventRecord" (event: Handle, stream: Handle);
    event_query = "cuEventQuery" (event: Handle);
    event_elapsed = "cuEventElapsedTime" (milliseconds: &mut f32, from: Handle, to: Handle);
    load = "cuModuleLoadData" (module: &mut Handle, image: *const c_char);
    load_with = "cuModuleLoadDataEx" (module: &mut Handle, image: *const c_char, count: c_uint, names: *const c_uint, values: *mut usize);
    unload = "cuModuleUnload" (module: Handle);
    function = "cuModuleGetFunction" (function: &mut Handle, module: Handle, name: *const c_char);
    global = "cuModuleGetGlobal_v2" (address: &mut u64, bytes: &mut usize, module: Handle, name: *const c_char);
    set_attribute = "cuFuncSetAttribute" (function: Handle, attribute: c_uint, value: c_int);
    launch_raw = "cuLaunchKernel" (function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, parameters: *mut *const c_void, extra: *mut *const c_void);
}

/// Fails the test unless the call answered success.
#[track_caller]
pub fn ok(code: Code) {
    assert_eq!(code, 0);
}

impl Driver {
    /// Loads the library that was built with these tests, and initialises it.
    pub fn open() -> Self {
        let path = std::env::var_os(LIBRARY).map_or_else(built, PathBuf::from);
        // SAFETY: the library's initialisers are Rust's own, or a driver's, which may run at any time.
        let library = unsafe { Library::new(&path) };
        let driver = Self(library.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        ok(driver.init(0));
        driver
    }

    /// A context of its own, current on this thread.
    pub fn with_context() -> (Self, Handle) {
        let driver = Self::open();
        let mut context = 0;
        ok(driver.context_create(&mut context, 0, 0));
        (driver, context)
    }

    /// Loads PTX.
    pub fn module(&self, ptx: &str) -> Handle {
        let text = CString::new(ptx).expect("PTX has no NUL");
        let mut module = 0;
        ok(self.load(&mut module, text.as_ptr()));
        module
    }

    /// A kernel of a module.
    pub fn kernel(&self, module: Handle, name: &str) -> Handle {
        let name = CString::new(name).expect("names have no NUL");
        let mut function = 0;
        ok(self.function(&mut function, module, name.as_ptr()));
        function
    }

    /// Launches with values that lie in memory as the kernel's parameters do.
    pub fn launch(
        &self,
        kernel: Handle,
        grid: u32,
        block: u32,
        shared: u32,
        stream: Handle,
        values: &[&[u8]],
    ) -> Code {
        let mut pointers: Vec<*const c_void> = values.iter().map(|value| value.as_ptr().cast()).collect();
        self.launch_raw(
            kernel,
            grid,
            1,
            1,
            block,
            1,
            1,
            shared,
            stream,
            pointers.as_mut_ptr(),
            ptr::null_mut(),
        )
    }

    /// Copies an array to new device memory.
    pub fn upload(&self, values: &[f32]) -> u64 {
        let mut address = 0;
        ok(self.alloc(&mut address, size_of_val(values)));
        ok(self.to_device(address, values.as_ptr().cast(), size_of_val(values)));
        address
    }

    /// Copies an array back.
    pub fn download(&self, address: u64, len: usize) -> Vec<f32> {
        let mut values = vec![f32::NAN; len];
        ok(self.to_host(values.as_mut_ptr().cast(), address, 4 * len));
        values
    }
}

/// Cargo leaves the library beside the folder of the tests.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.parent().expect("it is in a folder");
    let beside = [folder.join("libcuda.so"), folder.join("../libcuda.so")];
    beside
        .into_iter()
        .find(|path| path.exists())
        .expect("build the library first: cargo build -p scoped-gpu-shim")
}
