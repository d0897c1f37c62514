//! Modules and their contents.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::backend::Backend;
use crate::capture;
use crate::codes::{self, Answer, Code};
use crate::context::{self, Object};
use crate::handle::Handle;
use crate::module::{self, Function};
use crate::process::{current, lock, ready};
use crate::raw::{Image, OptionNames, OptionValues, Options, Out, Text};

/// `CU_JIT_INFO_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER`; each one's size is the option after it.
const INFO_LOG: c_uint = 3;
const ERROR_LOG: c_uint = 5;

driver! {
    fn cuModuleLoadData(handle: Out<Handle>, image: Image) {
        load(&handle, image.ptx(), &Options::NONE)
    }

    fn cuModuleLoadDataEx(
        handle: Out<Handle>,
        image: Image,
        count: c_uint,
        names: OptionNames,
        values: OptionValues,
    ) {
        load(&handle, image.ptx(), &Options::new(count, names, values)?)
    }

    fn cuModuleLoad(handle: Out<Handle>, path: Text) {
        current()?;
        let text = std::fs::read(path.get()?).map_err(|_| Code::FILE_NOT_FOUND)?;
        let text = String::from_utf8(text).map_err(|_| Code::NO_BINARY_FOR_GPU)?;
        load(&handle, Ok(&text), &Options::NONE)
    }

    /// Waits for everything that the context has queued.
    fn cuModuleUnload(handle: Handle) {
        capture::beside()?;
        let (context, module) = context::module(handle)?;
        context.synchronize();
        ready()?;
        context.remove(handle);
        context.remove_functions(&module);
        context.backend.unload(module.id).map_err(|error| codes::of_error(&error))?;
        let mut memory = lock(&context.memory);
        for &(address, _) in module.variables.values() {
            memory.remove(address)?;
        }
        memory.give_back(module.bytes);
        Ok(())
    }

    fn cuModuleGetFunction(handle: Out<Handle>, module: Handle, name: Text) {
        current()?;
        let (context, module) = context::module(module)?;
        let name = name.get()?;
        let is_kernel = module.ptx.kernel(name).is_some()
            && module.ptx.module().function(name).is_some_and(|(_, function)| function.defined);
        if !is_kernel {
            return Err(Code::NOT_FOUND);
        }
        let known = context.known_function(&module, name);
        handle.set(known.unwrap_or_else(|| {
            let function = Function { module, name: name.into(), dynamic_limit: OnceLock::new() };
            context.add(Object::Function(Arc::new(function)))
        }))
    }

    fn cuModuleGetGlobal_v2(address: Out<u64>, bytes: Out<usize>, module: Handle, name: Text) {
        current()?;
        let (_, module) = context::module(module)?;
        let &(start, size) = module.variables.get(name.get()?).ok_or(Code::NOT_FOUND)?;
        address.set_if_wanted(start);
        bytes.set_if_wanted(size as usize);
        Ok(())
    }

    fn cuFuncGetAttribute(value: Out<c_int>, attribute: c_uint, handle: Handle) {
        let here = current()?;
        let (_, function) = context::function(handle)?;
        let limits = here.backend.info().limits;
        let (major, minor) = function.module.ptx.module().version;
        let kernel = function.module.ptx.module().function(&function.name).map(|(_, kernel)| kernel);
        let number = match attribute {
            // MAX_THREADS_PER_BLOCK, SHARED_SIZE_BYTES, CONST_SIZE_BYTES, LOCAL_SIZE_BYTES, NUM_REGS
            0 => kernel.and_then(|kernel| most_threads(kernel.bounds.max_ntid)).unwrap_or(limits.threads_per_block),
            1 => function.static_shared(),
            2 => 0,
            3 => kernel.map_or(0, |kernel| kernel.local_bytes),
            4 => 32,
            // PTX_VERSION, BINARY_VERSION, CACHE_MODE_CA
            5 => major * 10 + minor,
            6 => here.backend.info().capability.0 * 10 + here.backend.info().capability.1,
            7 => 0,
            // MAX_DYNAMIC_SHARED_SIZE_BYTES
            8 => function.most_dynamic(limits.shared_per_block),
            _ => return Err(Code::INVALID_VALUE),
        };
        value.set(c_int::try_from(number).map_err(|_| Code::INVALID_VALUE)?)
    }

    fn cuFuncSetAttribute(handle: Handle, attribute: c_uint, value: c_int) {
        let here = current()?;
        let (_, function) = context::function(handle)?;
        match attribute {
            8 => {
                let bytes = u32::try_from(value).map_err(|_| Code::INVALID_VALUE)?;
                let room = here.backend.info().limits.shared_per_block_optin;
                if room.checked_sub(function.static_shared()).is_none_or(|room| bytes > room) {
                    return Err(Code::INVALID_VALUE);
                }
                let limit = function.dynamic_limit.get_or_init(|| AtomicU32::new(bytes));
                limit.store(bytes, Ordering::Relaxed);
                Ok(())
            }
            // PREFERRED_SHARED_MEMORY_CARVEOUT: a hint
            9 => Ok(()),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// A hint, taken and forgotten.
    fn cuFuncSetCacheConfig(handle: Handle, _config: c_uint) {
        current()?;
        context::function(handle).map(drop)
    }

    /// A hint, taken and forgotten.
    fn cuFuncSetSharedMemConfig(handle: Handle, _config: c_uint) {
        current()?;
        context::function(handle).map(drop)
    }
}

fn most_threads(bounds: Option<[u32; 3]>) -> Option<u32> {
    bounds?.into_iter().try_fold(1_u32, u32::checked_mul)
}

/// Loads a module; the log goes where the options say.
fn load(handle: &Out<Handle>, text: Answer<&str>, options: &Options) -> Answer {
    let context = capture::beside()?;
    let mut log = String::new();
    let loaded = module::load(&context, text?, &mut log);
    options.write_log(INFO_LOG, INFO_LOG + 1, "");
    options.write_log(ERROR_LOG, ERROR_LOG + 1, &log);
    handle.set(context.add(Object::Module(loaded?)))
}
