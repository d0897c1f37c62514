//! Captures of graphs, as far as calls about other streams meet them. What is queued on a captured stream would become a
//! graph's, which this library does not carry out: 801.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use crate::codes::{Answer, Code};
use crate::context::Context;
use crate::handle::Handle;
use crate::process::{current, lock};

/// `CUstreamCaptureMode`, both of a capture and of a thread.
const GLOBAL: c_int = 0;
const THREAD_LOCAL: c_int = 1;
const RELAXED: c_int = 2;

/// `CUstreamCaptureStatus`.
pub const NONE: c_int = 0;
const ACTIVE: c_int = 1;
const INVALIDATED: c_int = 2;

struct Capture {
    stream: Handle,
    mode: c_int,
    thread: ThreadId,
    status: c_int,
}

/// Those that were begun and not ended, of all contexts.
static CAPTURES: Mutex<Vec<Capture>> = Mutex::new(Vec::new());

thread_local! {
    static MODE: Cell<c_int> = const { Cell::new(GLOBAL) };
}

fn is_mode(mode: c_int) -> Answer {
    if (GLOBAL..=RELAXED).contains(&mode) { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

/// Puts this thread in a mode; returns the one before.
pub fn exchange(mode: c_int) -> Answer<c_int> {
    is_mode(mode)?;
    Ok(MODE.replace(mode))
}

/// Begins to capture a stream.
pub fn begin(stream: Handle, mode: c_int) -> Answer {
    is_mode(mode)?;
    let mut captures = lock(&CAPTURES);
    if captures.iter().any(|capture| capture.stream == stream) {
        return Err(Code::ILLEGAL_STATE);
    }
    captures.push(Capture { stream, mode, thread: std::thread::current().id(), status: ACTIVE });
    Ok(())
}

/// Ends it; only a relaxed one ends on another thread than it began on.
pub fn end(stream: Handle) -> Answer {
    let mut captures = lock(&CAPTURES);
    let at = captures.iter().position(|capture| capture.stream == stream).ok_or(Code::ILLEGAL_STATE)?;
    let here = captures[at].mode == RELAXED || captures[at].thread == std::thread::current().id();
    if !here {
        return Err(Code::STREAM_CAPTURE_WRONG_THREAD);
    }
    match captures.swap_remove(at).status {
        ACTIVE => Ok(()),
        _ => Err(Code::STREAM_CAPTURE_INVALIDATED),
    }
}

/// The status of a stream's capture.
pub fn status(stream: Handle) -> c_int {
    let captures = lock(&CAPTURES);
    captures.iter().find(|capture| capture.stream == stream).map_or(NONE, |capture| capture.status)
}

/// The current context, for a call that might disturb a capture: one that a capture in this context forbids is refused, and
/// makes that capture invalid.
pub fn beside() -> Answer<Arc<Context>> {
    let (mode, here, context) = (MODE.get(), std::thread::current().id(), current()?);
    let forbids = |capture: &Capture| match mode {
        GLOBAL if capture.thread != here => capture.mode == GLOBAL,
        GLOBAL | THREAD_LOCAL => capture.thread == here && capture.mode != RELAXED,
        _ => false,
    };
    let mut refused = false;
    for capture in lock(&CAPTURES).iter_mut() {
        if capture.stream.serial() == context.serial && forbids(capture) {
            capture.status = INVALIDATED;
            refused = true;
        }
    }
    if refused { Err(Code::STREAM_CAPTURE_UNSUPPORTED) } else { Ok(context) }
}
