//! Calls beside graphs that others capture. A capture forbids calls that might disturb it, on other threads too if its mode
//! is the global one, and whatever stream they are about, unless their thread is in the relaxed mode (CUDA Driver API,
//! `cuThreadExchangeStreamCaptureMode`). Streams of this crate are never captured, and its calls are about nothing else, so
//! one that is refused for a capture's sake is made again in that mode; the program's own calls keep the mode that it chose.

use std::ffi::c_int;

use super::driver;

/// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED`: nothing was done, since a capture forbids it.
pub(super) const FORBIDS: c_int = 900;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: c_int = 2;

/// Makes a call while its thread is in the relaxed mode; its result.
pub(super) fn beside(call: impl Fn() -> c_int) -> c_int {
    let Some(before) = exchange(RELAXED) else { return FORBIDS };
    let code = call();
    exchange(before);
    code
}

/// Puts this thread in a mode; returns the one that it was in, unless the driver refuses.
fn exchange(mut mode: c_int) -> Option<c_int> {
    // SAFETY: `mode` holds a mode, and is a place for the answer.
    let code = unsafe { driver::exchange_capture_mode(&mut mode) };
    (code == 0).then_some(mode)
}
