//! The calls of the CUDA driver that a launch needs, found at run time in `libcuda.so.1`. The only file of this
//! program with `unsafe`. Every call's result is compared with 0; a job leaves nothing allocated.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::ptr;
use std::rc::Rc;

use libloading::Library;

use crate::job::{Argument, Job};

type Code = c_int;
/// Handles of the driver: opaque pointers.
type Handle = *mut c_void;
type Address = u64;

/// `CU_JIT_ERROR_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES` of `CUjit_option` in `cuda.h`.
const ERROR_LOG: c_uint = 5;
const ERROR_LOG_BYTES: c_uint = 6;

/// What the driver answered, or that there is none.
#[derive(Debug)]
pub enum Failure {
    /// No library, or a function is missing in it.
    Absent(String),
    /// A call failed; the log is the assembler's.
    Call { call: &'static str, code: Code, name: String, log: String },
}

impl Failure {
    /// Whether the context is lost: what a kernel did wrong makes every later call fail.
    pub fn ends_context(&self) -> bool {
        matches!(self, Self::Call { call: "cuCtxSynchronize", .. })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(what) => write!(f, "no CUDA driver: {what}"),
            Self::Call { call, code, name, log } => write!(f, "{call}: {name} ({code}) {}", log.trim()),
        }
    }
}

impl std::error::Error for Failure {}

macro_rules! functions {
    ($($field:ident = $name:literal ($($ty:ty),*);)+) => {
        /// The functions, as `cuda.h` declares them, with plain integers as results: a newer driver has codes that an
        /// older list of them does not.
        struct Functions { $($field: unsafe extern "C" fn($($ty),*) -> Code,)+ }

        impl Functions {
            fn find(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: each type above is the function's declaration in `cuda.h`, which the driver keeps for
                    // the name with its version suffix.
                    $($field: *unsafe { library.get(concat!($name, "\0").as_bytes()) }?,)+
                })
            }
        }
    };
}

functions! {
    init = "cuInit" (c_uint);
    version = "cuDriverGetVersion" (*mut c_int);
    device = "cuDeviceGet" (*mut c_int, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
    context = "cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    current = "cuCtxSetCurrent" (Handle);
    reset = "cuDevicePrimaryCtxReset_v2" (c_int);
    error_name = "cuGetErrorName" (Code, *mut *const c_char);
    load = "cuModuleLoadDataEx" (*mut Handle, *const c_void, c_uint, *mut c_uint, *mut *mut c_void);
    unload = "cuModuleUnload" (Handle);
    function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    alloc = "cuMemAlloc_v2" (*mut Address, usize);
    free = "cuMemFree_v2" (Address);
    to_device = "cuMemcpyHtoD_v2" (Address, *const c_void, usize);
    to_host = "cuMemcpyDtoH_v2" (*mut c_void, Address, usize);
    launch = "cuLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );
    synchronize = "cuCtxSynchronize" ();
}

/// A GPU with its primary context current on this thread.
pub struct Gpu {
    functions: Functions,
    device: c_int,
    /// The module of the latest job, kept because jobs of one file follow each other.
    loaded: Option<(Rc<str>, Handle)>,
    /// What the GPU and its driver are called.
    pub name: String,
    /// Keeps the functions' code in memory.
    _library: Library,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu {{ {} }}", self.name)
    }
}

impl Gpu {
    /// GPU number 0.
    pub fn open() -> Result<Self, Failure> {
        let absent = |error: libloading::Error| Failure::Absent(error.to_string());
        // SAFETY: the driver's initialisers may run at any time, and nothing of it is in use yet.
        let library = unsafe { Library::new("libcuda.so.1") }.map_err(absent)?;
        let functions = Functions::find(&library).map_err(absent)?;
        let (mut device, mut version) = (0, 0);
        let mut name = [0; 128];
        // SAFETY: takes no pointer.
        functions.check("cuInit", unsafe { (functions.init)(0) })?;
        // SAFETY: the pointer is to an integer that lives until the call returns.
        functions.check("cuDriverGetVersion", unsafe { (functions.version)(&mut version) })?;
        // SAFETY: the same.
        functions.check("cuDeviceGet", unsafe { (functions.device)(&mut device, 0) })?;
        // SAFETY: the length given is the array's, and the driver ends the name with 0 within it.
        let code = unsafe { (functions.device_name)(name.as_mut_ptr(), 128, device) };
        functions.check("cuDeviceGetName", code)?;
        // SAFETY: the name ends with 0 inside the array, which was zeroed.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let name = format!("{name}, CUDA driver {}.{}", version / 1000, version % 1000 / 10);
        let mut gpu = Self { functions, device, loaded: None, name, _library: library };
        gpu.enter()?;
        Ok(gpu)
    }

    fn enter(&mut self) -> Result<(), Failure> {
        let mut context = ptr::null_mut();
        // SAFETY: the pointer is to a handle that lives until the call returns.
        self.functions.check("cuDevicePrimaryCtxRetain", unsafe {
            (self.functions.context)(&mut context, self.device)
        })?;
        // SAFETY: the context was retained above and is never released.
        self.functions.check("cuCtxSetCurrent", unsafe { (self.functions.current)(context) })
    }

    /// Starts afresh after a kernel's fault.
    pub fn recover(&mut self) -> Result<(), Failure> {
        self.loaded = None;
        // SAFETY: no handle or address of the context is used after this: the module was forgotten, and a job's
        // arrays do not outlive it.
        self.functions.check("cuDevicePrimaryCtxReset", unsafe { (self.functions.reset)(self.device) })?;
        self.enter()
    }

    /// What each output holds after the launch, in the order of the arguments.
    pub fn run(&mut self, job: &Job) -> Result<Vec<Vec<u8>>, Failure> {
        let module = self.module(&job.module)?;
        let functions = &self.functions;
        let name = CString::new(job.kernel.as_str()).unwrap_or_default();
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends with 0, and both live until the call returns.
        functions.check("cuModuleGetFunction", unsafe {
            (functions.function)(&mut function, module, name.as_ptr())
        })?;
        let mut arrays = Vec::new();
        let mut values = Vec::new();
        for argument in &job.arguments {
            values.push(match argument {
                Argument::U8(value) => u64::from(*value),
                Argument::U16(value) => u64::from(*value),
                Argument::U32(value) => u64::from(*value),
                Argument::U64(value) => *value,
                Argument::F32(value) => u64::from(value.to_bits()),
                Argument::F64(value) => value.to_bits(),
                Argument::Input(bytes) | Argument::Output(bytes) => {
                    let array = Array::new(functions, bytes)?;
                    let address = array.address;
                    arrays.push(array);
                    address
                }
            });
        }
        // Little-endian: a value's low bytes are the narrower parameter.
        let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|v| ptr::from_mut(v).cast()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (job.grid, job.block);
        // SAFETY: there is a pointer for each parameter, to 8 bytes, and no parameter of a job's kernel is larger; the
        // same job runs on the host device first, which compares the arguments with the PTX and every access with the
        // arrays, so the kernel reaches nothing else.
        let code = unsafe {
            (functions.launch)(
                function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                job.shared,
                ptr::null_mut(),
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        functions.check("cuLaunchKernel", code)?;
        // SAFETY: takes no pointer.
        functions.check("cuCtxSynchronize", unsafe { (functions.synchronize)() })?;
        let passed = job.arguments.iter().filter(|a| matches!(a, Argument::Input(_) | Argument::Output(_)));
        let outputs = passed.zip(&arrays).filter(|(argument, _)| matches!(argument, Argument::Output(_)));
        outputs.map(|(_, array)| array.read()).collect()
    }

    fn module(&mut self, text: &Rc<str>) -> Result<Handle, Failure> {
        if let Some((loaded, module)) = &self.loaded {
            if loaded == text {
                return Ok(*module);
            }
            // SAFETY: the module is loaded, and its kernels have all been waited for.
            self.functions.check("cuModuleUnload", unsafe { (self.functions.unload)(*module) })?;
        }
        self.loaded = None;
        let source = CString::new(text.as_bytes()).unwrap_or_default();
        let mut log = vec![0_u8; 8192];
        let mut options = [ERROR_LOG, ERROR_LOG_BYTES];
        // The size is passed in the place of a pointer, as the driver's manual says.
        let mut settings = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(log.len() - 1)];
        let mut module = ptr::null_mut();
        // SAFETY: the text ends with 0; two options with their settings; the log has the size it is given, less one
        // byte that stays 0. All live until the call returns.
        let code = unsafe {
            (self.functions.load)(
                &mut module,
                source.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                settings.as_mut_ptr(),
            )
        };
        if code != 0 {
            let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned();
            return Err(self.functions.failure("cuModuleLoadDataEx", code, log));
        }
        self.loaded = Some((Rc::clone(text), module));
        Ok(module)
    }
}

impl Functions {
    fn check(&self, call: &'static str, code: Code) -> Result<(), Failure> {
        if code == 0 { Ok(()) } else { Err(self.failure(call, code, String::new())) }
    }

    fn failure(&self, call: &'static str, code: Code, log: String) -> Failure {
        let mut name = ptr::null();
        // SAFETY: the pointer is to a pointer that lives until the call returns.
        let known = unsafe { (self.error_name)(code, &mut name) } == 0 && !name.is_null();
        // SAFETY: the driver's names are constants that end with 0.
        let name = if known { unsafe { CStr::from_ptr(name) }.to_string_lossy() } else { "unknown".into() };
        Failure::Call { call, code, name: name.into_owned(), log }
    }
}

/// Memory of the GPU for one argument.
struct Array<'f> {
    functions: &'f Functions,
    address: Address,
    len: usize,
}

impl<'f> Array<'f> {
    fn new(functions: &'f Functions, bytes: &[u8]) -> Result<Self, Failure> {
        let mut address = 0;
        // SAFETY: the pointer is to an address that lives until the call returns.
        functions.check("cuMemAlloc", unsafe { (functions.alloc)(&mut address, bytes.len()) })?;
        let array = Self { functions, address, len: bytes.len() };
        // SAFETY: the array was allocated with this length, and the call returns when the bytes have been read.
        functions.check("cuMemcpyHtoD", unsafe {
            (functions.to_device)(address, bytes.as_ptr().cast(), bytes.len())
        })?;
        Ok(array)
    }

    fn read(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![0_u8; self.len];
        // SAFETY: array and vector have this length, and the call returns when the bytes have been written.
        self.functions.check("cuMemcpyDtoH", unsafe {
            (self.functions.to_host)(bytes.as_mut_ptr().cast(), self.address, self.len)
        })?;
        Ok(bytes)
    }
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        // SAFETY: allocated once, freed once; kernels that used it have been waited for. After a kernel's fault the
        // call fails and the context's reset frees the memory.
        let _ = unsafe { (self.functions.free)(self.address) };
    }
}
