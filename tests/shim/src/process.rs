//! What the process has one of: the devices, the contexts by their serial number, which context is current on a thread,
//! and the fault that ended it all.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::backend::host::{HostBackend, HostOptions};
use crate::backend::{Backend, DeviceInfo};
use crate::codes::{Answer, Code};
use crate::context::Context;
use crate::handle::Handle;

/// What `cuInit` answers instead of starting.
const START: &str = "SCOPED_GPU_SHIM_START";
/// The number of devices.
const DEVICES: &str = "SCOPED_GPU_SHIM_DEVICES";
/// Bytes of memory of each device.
const MEMORY: &str = "SCOPED_GPU_SHIM_MEMORY";

/// Bytes of page-locked memory that each context may hold.
const PINNED: &str = "SCOPED_GPU_SHIM_PINNED";

/// One device.
#[derive(Debug)]
pub struct Device {
    pub info: DeviceInfo,
    /// Bytes that the contexts on it hold.
    pub used: Arc<AtomicU64>,
    pub primary: Mutex<Primary>,
}

/// A device's primary context.
#[derive(Debug, Default)]
pub struct Primary {
    pub context: Option<Arc<Context>>,
    pub retained: u32,
    pub flags: u32,
}

/// The contexts of this process.
#[derive(Debug, Default)]
struct Contexts {
    live: HashMap<u32, Arc<Context>>,
    /// The serial number given last.
    last: u32,
}

static DEVICE_LIST: LazyLock<Vec<Device>> = LazyLock::new(devices_of_environment);
static CONTEXTS: LazyLock<Mutex<Contexts>> = LazyLock::new(Mutex::default);
/// The process that called `cuInit`; a fork is another one.
static INITIALISED: AtomicU32 = AtomicU32::new(0);
/// The code of the fault that ended this process's use of its devices, 0 before.
static FAULT: AtomicI32 = AtomicI32::new(0);

thread_local! {
    static CURRENT: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
    static CARRIES_OUT: Cell<bool> = const { Cell::new(false) };
}

/// A lock whose holder cannot leave it half done.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.trim().parse().ok())
}

/// Bytes of page-locked memory that each context may hold.
pub fn pinned_limit() -> u64 {
    number(PINNED).unwrap_or(u64::MAX)
}

fn devices_of_environment() -> Vec<Device> {
    let options = match number(MEMORY) {
        Some(bytes) => HostOptions::new().memory_limit(bytes),
        None => HostOptions::new(),
    };
    let info = HostBackend::new(options).info().clone();
    let device = |_| Device { info: info.clone(), used: Arc::default(), primary: Mutex::default() };
    (0..number(DEVICES).unwrap_or(1).min(64)).map(device).collect()
}

/// `cuInit`.
pub fn initialise() -> Answer {
    if let Some(code) = number(START) {
        return Err(Code(i32::try_from(code).unwrap_or(i32::MAX)));
    }
    if DEVICE_LIST.is_empty() {
        return Err(Code::NO_DEVICE);
    }
    let process = std::process::id();
    match INITIALISED.compare_exchange(0, process, Ordering::AcqRel, Ordering::Acquire) {
        Err(other) if other != process => Err(Code::NOT_INITIALIZED),
        _ => alive(),
    }
}

/// Refuses every call of a process that has not called `cuInit`, or of a thread that runs a host function.
pub fn initialised() -> Answer {
    if INITIALISED.load(Ordering::Acquire) != std::process::id() {
        return Err(Code::NOT_INITIALIZED);
    }
    if CARRIES_OUT.try_with(Cell::get).unwrap_or(true) {
        return Err(Code::NOT_PERMITTED);
    }
    Ok(())
}

/// The code of the fault that ended everything, if one did.
pub fn alive() -> Answer {
    match FAULT.load(Ordering::Acquire) {
        0 => Ok(()),
        code => Err(Code(code)),
    }
}

/// Both: what every call but those that clean up begins with.
pub fn ready() -> Answer {
    initialised()?;
    alive()
}

/// Ends the use of the devices with a fault; the first one stays.
pub fn end(code: Code) {
    let _ = FAULT.compare_exchange(0, code.0, Ordering::AcqRel, Ordering::Acquire);
}

/// Makes this a thread that carries out what streams have queued.
pub fn carries_out() {
    CARRIES_OUT.set(true);
}

/// All devices.
pub fn devices() -> &'static [Device] {
    &DEVICE_LIST
}

/// The device with this number.
pub fn device(number: i32) -> Answer<(usize, &'static Device)> {
    let index = usize::try_from(number).map_err(|_| Code::INVALID_DEVICE)?;
    devices().get(index).map(|device| (index, device)).ok_or(Code::INVALID_DEVICE)
}

/// Makes a context on a device; of a primary one the handle is the device's.
pub fn create_context(device: usize, primary: bool, flags: u32) -> Answer<Arc<Context>> {
    let mut contexts = lock(&CONTEXTS);
    contexts.last += 1;
    let serial = contexts.last;
    let handle = if primary { Handle::primary(device) } else { Handle::new(serial, 0) };
    let context = Arc::new(Context::new(serial, handle, device, flags)?);
    contexts.live.insert(serial, Arc::clone(&context));
    Ok(context)
}

/// Forgets a context, and lets its work end.
pub fn destroy_context(context: &Context) {
    lock(&CONTEXTS).live.remove(&context.serial);
    context.close();
}

/// The live context with this serial number, or why there is none.
pub fn context_of_serial(serial: u32) -> Answer<Arc<Context>> {
    let contexts = lock(&CONTEXTS);
    match contexts.live.get(&serial) {
        Some(context) => Ok(Arc::clone(context)),
        None if (1..=contexts.last).contains(&serial) => Err(Code::CONTEXT_IS_DESTROYED),
        None => Err(Code::INVALID_HANDLE),
    }
}

/// Every live context.
pub fn contexts() -> Vec<Arc<Context>> {
    lock(&CONTEXTS).live.values().cloned().collect()
}

/// The live context with this handle.
pub fn context(handle: Handle) -> Answer<Arc<Context>> {
    if let Some(device) = handle.primary_device() {
        let device = devices().get(device).ok_or(Code::INVALID_CONTEXT)?;
        return lock(&device.primary).context.clone().ok_or(Code::CONTEXT_IS_DESTROYED);
    }
    if handle.number() != 0 {
        return Err(Code::INVALID_CONTEXT);
    }
    context_of_serial(handle.serial()).map_err(|code| match code {
        Code::INVALID_HANDLE => Code::INVALID_CONTEXT,
        code => code,
    })
}

/// Works on this thread's stack of contexts; a thread that is ending has none.
pub fn with_stack<R>(work: impl FnOnce(&mut Vec<Handle>) -> R) -> Answer<R> {
    CURRENT.try_with(|stack| work(&mut stack.borrow_mut())).map_err(|_| Code::INVALID_CONTEXT)
}

/// The context that is current on this thread. What every call that needs one begins with.
pub fn current() -> Answer<Arc<Context>> {
    ready()?;
    let handle = with_stack(|stack| stack.last().copied())?.ok_or(Code::INVALID_CONTEXT)?;
    context(handle)
}
