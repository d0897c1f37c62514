//! Modules: PTX handed to the driver's compiler, with its log in the error, and the kernels by name.

use std::ffi::{CString, c_void};
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::checked::CheckedKernel;
use super::context::{Context, driver_error};
use super::driver::{self, Failure, FunctionHandle, ModuleHandle};
use super::limits;
use super::stream::{Unfinished, quiet};
use super::table::Table;
use crate::backend::{Answer, FunctionId, ModuleId};
use crate::error::ErrorKind;
use crate::ptx::LoadedPtx;

/// Bytes for what the compiler has to say.
const LOG_BYTES: usize = 16 << 10;
/// `CU_JIT_ERROR_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;
/// `CUDA_ERROR_INVALID_PTX`, `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`, and others that speak of the text.
const INVALID_IMAGE: i32 = 200;
const NO_BINARY: i32 = 209;
const INVALID_PTX: i32 = 218;
const UNSUPPORTED_PTX_VERSION: i32 = 222;
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const MAX_DYNAMIC_SHARED: i32 = 8;

/// A kernel of a loaded module.
pub(super) struct Function {
    handle: FunctionHandle,
    /// How much dynamic shared memory it was opted in for, in bytes.
    opted: AtomicU32,
    setting: Mutex<()>,
}

// SAFETY: the driver's functions may be called with a kernel from any thread on which its context is current.
unsafe impl Send for Function {}
// SAFETY: as above, also from several threads at once.
unsafe impl Sync for Function {}

/// A module that is loaded.
pub(super) struct Loaded {
    handle: ModuleHandle,
    name: Arc<str>,
}

// SAFETY: as for `Function`.
unsafe impl Send for Loaded {}
// SAFETY: as for `Function`.
unsafe impl Sync for Loaded {}

/// A launch by its names.
pub(super) struct Launched {
    pub(super) kernel: Arc<str>,
    pub(super) module: Arc<str>,
    pub(super) location: &'static Location<'static>,
}

/// A kernel that was asked for.
pub(super) struct Named {
    module: ModuleId,
    module_name: Arc<str>,
    name: Arc<str>,
    function: Function,
    ptx: Arc<LoadedPtx>,
    checked: OnceLock<Answer<CheckedKernel>>,
}

impl Named {
    /// The kernel's proofs and versions with checks, begun with its first checked launch.
    pub(super) fn checked(&self) -> Answer<&CheckedKernel> {
        self.checked.get_or_init(|| CheckedKernel::new(&self.ptx, &self.name)).as_ref().map_err(Clone::clone)
    }

    /// The kernel as it is.
    pub(super) fn function(&self) -> &Function {
        &self.function
    }
}

/// The modules of a context, and their kernels.
#[derive(Default)]
pub(super) struct Modules {
    loaded: Table<(Loaded, Arc<LoadedPtx>)>,
    functions: Table<Named>,
}

impl Modules {
    /// Loads a module under this id.
    pub(super) fn load(&self, id: ModuleId, ptx: &Arc<LoadedPtx>, context: &Context) -> Answer<()> {
        let module = Loaded::new(ptx.source().name(), ptx.source().as_str(), ptx.module().version, context)?;
        self.loaded.insert(id.0, (module, Arc::clone(ptx)));
        Ok(())
    }

    /// The id under which a kernel was looked up before.
    pub(super) fn find_function(&self, module: ModuleId, name: &str) -> Option<FunctionId> {
        let same = |named: &Named| named.module == module && &*named.name == name;
        self.functions.find(same).map(FunctionId)
    }

    /// Looks a kernel up, under this id from now on.
    pub(super) fn add_function(
        &self,
        id: FunctionId,
        module: ModuleId,
        name: &Arc<str>,
        context: &Context,
    ) -> Answer<()> {
        let loaded = self.loaded.get(module.0).ok_or_else(|| ErrorKind::Foreign {
            message: format!("module {} is none of this context's", module.0),
        })?;
        let (loaded, ptx) = &*loaded;
        let named = Named {
            module,
            module_name: Arc::clone(&loaded.name),
            name: Arc::clone(name),
            function: loaded.look_up(name, context)?,
            ptx: Arc::clone(ptx),
            checked: OnceLock::new(),
        };
        self.functions.insert(id.0, named);
        Ok(())
    }

    /// The kernel with this id.
    pub(super) fn get(&self, id: FunctionId) -> Answer<Arc<Named>> {
        self.functions.get(id.0).ok_or_else(|| ErrorKind::Foreign {
            message: format!("kernel {} is none of this context's", id.0),
        })
    }

    /// The names of launches, of those whose modules are still there: a module is unloaded after its launches were
    /// waited for.
    pub(super) fn named(&self, launches: &[Unfinished]) -> Vec<Launched> {
        let name = |launch: &Unfinished| {
            let named = self.functions.get(launch.function.0)?;
            let (kernel, module) = (Arc::clone(&named.name), Arc::clone(&named.module_name));
            Some(Launched { kernel, module, location: launch.location })
        };
        launches.iter().filter_map(name).collect()
    }

    /// Unloads a module.
    pub(super) fn unload(&self, id: ModuleId, context: &Context) -> Answer<()> {
        let Some(removed) = self.loaded.remove(id.0) else { return Ok(()) };
        let mut answer = Ok(());
        for named in self.functions.remove_where(|named| named.module == id) {
            if let Some(Ok(checked)) = named.checked.get() {
                for variant in checked.take_variants() {
                    answer = answer.and(variant.module.unload(context));
                }
            }
        }
        answer.and(removed.0.unload(context))
    }

    /// Forgets everything; the context that held it is gone.
    pub(super) fn clear(&self) {
        self.loaded.clear();
        self.functions.clear();
    }
}

impl Loaded {
    /// Compiles `text` of this PTX version.
    pub(super) fn new(name: &str, text: &str, version: (u32, u32), context: &Context) -> Answer<Self> {
        let handle = compile(name, text, version, context)?;
        Ok(Self { handle, name: Arc::from(name) })
    }

    /// The same with kernels of it; unloaded again where one is not found.
    pub(super) fn with<T>(
        name: &str,
        text: &str,
        version: (u32, u32),
        context: &Context,
        look_up: impl FnOnce(&Self) -> Answer<T>,
    ) -> Answer<(Self, T)> {
        let module = Self::new(name, text, version, context)?;
        match look_up(&module) {
            Ok(kernels) => Ok((module, kernels)),
            Err(error) => {
                // What this answers does not matter beside the error.
                let _ = module.unload(context);
                Err(error)
            }
        }
    }

    /// Unloads it. No launch of it is queued (the contract of `unload`), and nobody uses it again.
    pub(super) fn unload(&self, context: &Context) -> Answer<()> {
        // SAFETY: it was taken out of its table just now, so it is unloaded once, and no launch of it is queued.
        let unloaded = unsafe { driver::module_unload(self.handle) };
        quiet(context, context.answer(unloaded))
    }

    /// A kernel as the driver knows it.
    pub(super) fn look_up(&self, name: &str, context: &Context) -> Answer<Function> {
        let text = CString::new(name).map_err(|_| missing(name))?;
        let mut handle = ptr::null_mut();
        // SAFETY: the module is loaded (C4), `text` ends with a zero byte, `handle` is a place for the answer.
        let found = unsafe { driver::module_function(&mut handle, self.handle, text.as_ptr()) };
        context.answer(found)?;
        Ok(Function { handle, opted: AtomicU32::new(0), setting: Mutex::new(()) })
    }
}

fn missing(name: &str) -> ErrorKind {
    ErrorKind::NotSupported { message: format!("the driver cannot look up the kernel name {name:?}") }
}

impl Function {
    pub(super) fn handle(&self) -> FunctionHandle {
        self.handle
    }

    /// Makes launches with `bytes` of dynamic shared memory possible: above the usual limit, static memory counted, a
    /// kernel has to be opted in, and below it that changes nothing.
    pub(super) fn opt_in(&self, bytes: u32, context: &Context) -> Answer<()> {
        if bytes <= self.opted.load(Ordering::Acquire) {
            return Ok(());
        }
        // One after the other, so that the driver ends with the largest amount, which is the one that is noted.
        let _setting = self.setting.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes <= self.opted.load(Ordering::Acquire) {
            return Ok(());
        }
        // SAFETY: the kernel's module is loaded (C4).
        let set = unsafe { driver::function_set_attribute(self.handle, MAX_DYNAMIC_SHARED, bytes as i32) };
        context.answer(set)?;
        self.opted.store(bytes, Ordering::Release);
        Ok(())
    }
}

/// Compiles PTX; its log is in the error.
fn compile(name: &str, text: &str, version: (u32, u32), context: &Context) -> Answer<ModuleHandle> {
    let image = CString::new(text).map_err(|_| ErrorKind::Ptx {
        message: format!("{name}: the text has a zero byte, where the driver would stop reading"),
    })?;
    let mut log = vec![0_u8; LOG_BYTES];
    let mut options = [ERROR_LOG, ERROR_LOG_BYTES];
    // A size is passed as the pointer's value.
    let mut values: [*mut c_void; 2] =
        [log.as_mut_ptr().cast(), ptr::without_provenance_mut::<c_void>(LOG_BYTES)];
    let mut handle = ptr::null_mut();
    // SAFETY: the image ends with a zero byte; there are as many values as options, the log has the size that is said,
    // and all live until the call returns.
    let loaded = unsafe {
        driver::module_load(
            &mut handle,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    match loaded {
        Err(failure) if speaks_of_text(failure) => Err(refused(name, version, failure, &log)),
        other => context.answer(other).map(|()| handle),
    }
}

fn speaks_of_text(failure: Failure) -> bool {
    matches!(failure.code, INVALID_IMAGE | NO_BINARY | INVALID_PTX | UNSUPPORTED_PTX_VERSION)
}

/// The error of text that the driver's compiler did not take.
fn refused(name: &str, (major, minor): (u32, u32), failure: Failure, log: &[u8]) -> ErrorKind {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    let log = String::from_utf8_lossy(log.get(..end).unwrap_or(log));
    let log = log.trim();
    let mut message = format!("{name}: the driver does not take this PTX: {}", driver_error(failure));
    if failure.code == UNSUPPORTED_PTX_VERSION {
        let driver = limits::version().map_or_else(
            || "of unknown version".to_owned(),
            |(major, minor)| match newest_ptx(major, minor) {
                Some((ptx_major, ptx_minor)) => {
                    format!("for CUDA {major}.{minor}, which takes PTX up to {ptx_major}.{ptx_minor}")
                }
                None => format!("for CUDA {major}.{minor}"),
            },
        );
        message = format!(
            "{name}: the PTX is version {major}.{minor}, the driver is one {driver}; update the driver, or compile \
             with an older toolkit ({})",
            driver_error(failure)
        );
    }
    if !log.is_empty() {
        message.push('\n');
        message.push_str(log);
    }
    ErrorKind::Ptx { message }
}

/// The newest PTX that a driver for this CUDA takes (PTX ISA, "Release Notes"); `None` where that page does not say.
fn newest_ptx(major: u32, minor: u32) -> Option<(u32, u32)> {
    match (major, minor) {
        (12, 0..=5) => Some((8, minor)),
        (12, 6) => Some((8, 5)),
        (12, 7..=9) => Some((8, minor - 1)),
        (13, 0) => Some((9, 0)),
        _ => None,
    }
}
