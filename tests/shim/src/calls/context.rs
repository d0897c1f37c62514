//! Contexts: private ones, each device's primary one, and which is current on a thread.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use crate::capture;
use crate::codes::{Answer, Code};
use crate::handle::Handle;
use crate::process::{self, current, device, initialised, lock, ready, with_stack};
use crate::raw::Out;

driver! {
    fn cuCtxCreate_v2(handle: Out<Handle>, flags: c_uint, number: c_int) {
        ready()?;
        let (index, _) = device(number)?;
        let context = process::create_context(index, false, flags)?;
        with_stack(|stack| stack.push(context.handle))?;
        handle.set(context.handle)
    }

    /// Answers success also after a fault, as the driver does.
    fn cuCtxDestroy_v2(handle: Handle) {
        initialised()?;
        if handle.primary_device().is_some() {
            return Err(Code::INVALID_CONTEXT);
        }
        let context = process::context(handle)?;
        process::destroy_context(&context);
        with_stack(|stack| {
            stack.pop_if(|top| *top == handle);
        })
    }

    fn cuCtxSetCurrent(handle: Handle) {
        ready()?;
        if handle != Handle::NULL {
            process::context(handle)?;
        }
        with_stack(|stack| {
            stack.pop();
            if handle != Handle::NULL {
                stack.push(handle);
            }
        })
    }

    fn cuCtxGetCurrent(handle: Out<Handle>) {
        ready()?;
        handle.set(with_stack(|stack| stack.last().copied())?.unwrap_or(Handle::NULL))
    }

    fn cuCtxPushCurrent_v2(handle: Handle) {
        ready()?;
        process::context(handle)?;
        with_stack(|stack| stack.push(handle))
    }

    fn cuCtxPopCurrent_v2(handle: Out<Handle>) {
        ready()?;
        let popped = with_stack(Vec::pop)?.ok_or(Code::INVALID_CONTEXT)?;
        handle.set_if_wanted(popped);
        Ok(())
    }

    fn cuCtxSynchronize() {
        capture::beside()?.synchronize();
        ready()
    }

    fn cuCtxGetId(handle: Handle, id: Out<u64>) {
        ready()?;
        let context = if handle == Handle::NULL { current()? } else { process::context(handle)? };
        id.set(u64::from(context.serial))
    }

    fn cuCtxGetDevice(number: Out<c_int>) {
        number.set(current()?.device as c_int)
    }

    fn cuCtxGetFlags(flags: Out<c_uint>) {
        flags.set(current()?.flags)
    }

    fn cuCtxGetApiVersion(handle: Handle, version: Out<c_uint>) {
        ready()?;
        if handle != Handle::NULL {
            process::context(handle)?;
        }
        version.set(3020)
    }

    fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        current()?;
        least.set_if_wanted(0);
        greatest.set_if_wanted(0);
        Ok(())
    }

    fn cuCtxEnablePeerAccess(peer: Handle, flags: c_uint) {
        current()?;
        process::context(peer)?;
        Err(if flags == 0 { Code::PEER_ACCESS_UNSUPPORTED } else { Code::INVALID_VALUE })
    }

    fn cuDevicePrimaryCtxRetain(handle: Out<Handle>, number: c_int) {
        ready()?;
        let (index, device) = device(number)?;
        let mut primary = lock(&device.primary);
        let context = match &primary.context {
            Some(context) => Arc::clone(context),
            None => process::create_context(index, true, primary.flags)?,
        };
        handle.set(context.handle)?;
        primary.context = Some(context);
        primary.retained += 1;
        Ok(())
    }

    fn cuDevicePrimaryCtxRelease_v2(number: c_int) {
        initialised()?;
        let (_, device) = device(number)?;
        let mut primary = lock(&device.primary);
        primary.retained = primary.retained.checked_sub(1).ok_or(Code::INVALID_CONTEXT)?;
        let last = if primary.retained == 0 { primary.context.take() } else { None };
        drop(primary);
        last.iter().for_each(|context| process::destroy_context(context));
        Ok(())
    }

    /// Answers success also after a fault, as the driver does; what comes next fails.
    fn cuDevicePrimaryCtxReset_v2(number: c_int) {
        initialised()?;
        let (_, device) = device(number)?;
        let mut primary = lock(&device.primary);
        primary.retained = 0;
        let context = primary.context.take();
        drop(primary);
        context.iter().for_each(|context| process::destroy_context(context));
        Ok(())
    }

    fn cuDevicePrimaryCtxGetState(number: c_int, flags: Out<c_uint>, active: Out<c_int>) {
        ready()?;
        let primary = lock(&device(number)?.1.primary);
        flags.set_if_wanted(primary.flags);
        active.set_if_wanted(c_int::from(primary.context.is_some()));
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2(number: c_int, flags: c_uint) {
        ready()?;
        lock(&device(number)?.1.primary).flags = flags;
        Ok(())
    }

    /// A hint, taken and forgotten.
    fn cuCtxSetCacheConfig(_config: c_uint) {
        hint()
    }

    /// A hint, taken and forgotten.
    fn cuCtxSetSharedMemConfig(_config: c_uint) {
        hint()
    }
}

fn hint() -> Answer {
    current().map(drop)
}
