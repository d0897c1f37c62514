//! The driver's result codes, and which of them answers what the host device says.

use std::ffi::{CStr, c_char};

use crate::error::ErrorKind;
use crate::fault::{Fault, FaultKind};

/// `CUresult`: 0, or why a call failed. An open number, so that a name is not needed for each.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub i32);

/// What the body of a call returns.
pub type Answer<T = ()> = Result<T, Code>;

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)+) => {
        impl Code {
            $(pub const $name: Self = Self($number);)+
        }

        /// Name and description of a code, if it is one of those used here.
        fn words(code: Code) -> Option<(&'static CStr, &'static CStr)> {
            match code.0 {
                $($number => {
                    // 0 is the one code that is no error
                    let error = concat!("CUDA_ERROR_", stringify!($name), "\0");
                    let name = if $number == 0 { "CUDA_SUCCESS\0" } else { error };
                    Some((cstr(name), cstr(concat!($text, "\0"))))
                })+
                _ => None,
            }
        }
    };
}

codes! {
    SUCCESS = 0, "success";
    INVALID_VALUE = 1, "an argument is out of its range";
    OUT_OF_MEMORY = 2, "not enough memory";
    NOT_INITIALIZED = 3, "cuInit was not called in this process";
    NO_DEVICE = 100, "there is no device";
    INVALID_DEVICE = 101, "no device has this number";
    INVALID_IMAGE = 200, "this is no module";
    INVALID_CONTEXT = 201, "no context is current on this thread, or this is none";
    NO_BINARY_FOR_GPU = 209, "compiled code: this device runs PTX only";
    PEER_ACCESS_UNSUPPORTED = 217, "devices do not reach each other's memory";
    INVALID_PTX = 218, "the PTX cannot be read";
    UNSUPPORTED_PTX_VERSION = 222, "the PTX is of a newer version than this driver reads";
    FILE_NOT_FOUND = 301, "the file cannot be read";
    OPERATING_SYSTEM = 304, "the operating system refused";
    INVALID_HANDLE = 400, "the handle names nothing of its kind";
    ILLEGAL_STATE = 401, "the call does not fit the state of what it names";
    NOT_FOUND = 500, "the module has nothing of this name";
    NOT_READY = 600, "the work has not ended yet";
    ILLEGAL_ADDRESS = 700, "a kernel used memory that is not its own";
    LAUNCH_TIMEOUT = 702, "a kernel does not end";
    CONTEXT_IS_DESTROYED = 709, "the context was destroyed or reset";
    ASSERT = 710, "an assertion in a kernel failed";
    HARDWARE_STACK_ERROR = 714, "calls in a kernel nest deeper than its stack";
    ILLEGAL_INSTRUCTION = 715, "a kernel met an instruction that this device does not execute";
    MISALIGNED_ADDRESS = 716, "a kernel used an address that is not a multiple of the access's size";
    INVALID_PC = 718, "a kernel called something that is no function";
    LAUNCH_FAILED = 719, "a kernel stopped itself";
    NOT_PERMITTED = 800, "a host function may not call the driver";
    NOT_SUPPORTED = 801, "this library does not do that";
    STREAM_CAPTURE_UNSUPPORTED = 900, "a capture forbids this call";
    STREAM_CAPTURE_INVALIDATED = 901, "a call that it forbids has ended the capture";
    STREAM_CAPTURE_WRONG_THREAD = 908, "the capture was begun on another thread";
    UNKNOWN = 999, "an error of this library";
}

/// A literal that was written with its NUL.
fn cstr(text: &'static str) -> &'static CStr {
    CStr::from_bytes_with_nul(text.as_bytes()).unwrap_or(c"")
}

/// The code's name, as the driver writes it.
pub fn name(code: Code) -> Option<*const c_char> {
    words(code).map(|(name, _)| name.as_ptr())
}

/// The code in words.
pub fn description(code: Code) -> Option<*const c_char> {
    words(code).map(|(_, text)| text.as_ptr())
}

/// The code of an error that is no fault of a kernel's; a fault's is [`of_fault`].
pub fn of_error(error: &ErrorKind) -> Code {
    match error {
        ErrorKind::Fault(fault) => of_fault(fault),
        ErrorKind::OutOfMemory { .. }
        | ErrorKind::OutOfPinnedMemory { .. }
        | ErrorKind::SizeOverflow { .. } => Code::OUT_OF_MEMORY,
        ErrorKind::Ptx { .. } => Code::INVALID_PTX,
        ErrorKind::KernelNotFound { .. } => Code::NOT_FOUND,
        ErrorKind::NotSupported { .. } => Code::NOT_SUPPORTED,
        ErrorKind::ContextLost => Code::CONTEXT_IS_DESTROYED,
        ErrorKind::Driver { code, .. } => Code(*code),
        ErrorKind::Foreign { .. } | ErrorKind::Shape { .. } | ErrorKind::Launch { .. } => Code::INVALID_VALUE,
        _ => Code::UNKNOWN,
    }
}

/// The code with which a GPU's driver reports such a fault.
pub fn of_fault(fault: &Fault) -> Code {
    match &fault.kind {
        FaultKind::OutOfRange
        | FaultKind::ReadOnly
        | FaultKind::Freed
        | FaultKind::Null
        | FaultKind::Stray => Code::ILLEGAL_ADDRESS,
        FaultKind::Misaligned => Code::MISALIGNED_ADDRESS,
        FaultKind::Assert { .. } => Code::ASSERT,
        FaultKind::Unsupported { .. } => Code::ILLEGAL_INSTRUCTION,
        FaultKind::StepLimit { .. } | FaultKind::Deadlock => Code::LAUNCH_TIMEOUT,
        FaultKind::StackOverflow => Code::HARDWARE_STACK_ERROR,
        FaultKind::BadCall => Code::INVALID_PC,
        FaultKind::Internal { .. } => Code::UNKNOWN,
        _ => Code::LAUNCH_FAILED,
    }
}
