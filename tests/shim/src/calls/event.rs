//! Events.

use std::ffi::c_uint;
use std::sync::Arc;

use crate::capture;
use crate::codes::Code;
use crate::context::{self, Object};
use crate::event::Event;
use crate::handle::Handle;
use crate::process::{current, ready};
use crate::raw::Out;
use crate::stream::Operation;

/// `CU_EVENT_DISABLE_TIMING`; the others are `CU_EVENT_BLOCKING_SYNC` (1) and `CU_EVENT_INTERPROCESS` (4).
const DISABLE_TIMING: c_uint = 2;
const KNOWN: c_uint = 1 | DISABLE_TIMING;

driver! {
    fn cuEventCreate(handle: Out<Handle>, flags: c_uint) {
        let context = capture::beside()?;
        if flags & !KNOWN != 0 {
            return Err(Code::INVALID_VALUE);
        }
        handle.set(context.add(Object::Event(Arc::new(Event::new(flags & DISABLE_TIMING == 0)))))
    }

    fn cuEventDestroy_v2(handle: Handle) {
        capture::beside()?;
        let (context, _) = context::event(handle)?;
        context.remove(handle);
        Ok(())
    }

    fn cuEventRecord(handle: Handle, stream: Handle) {
        let context = current()?;
        let (owner, event) = context::event(handle)?;
        let stream = context.stream(stream)?;
        if owner.serial != stream.serial {
            return Err(Code::INVALID_HANDLE);
        }
        event.record(|number| context.queue(&stream, Operation::Record(Arc::clone(&event), number)))
    }

    fn cuEventSynchronize(handle: Handle) {
        capture::beside()?;
        if let Some(point) = context::event(handle)?.1.point() {
            point.wait();
        }
        ready()
    }

    fn cuEventQuery(handle: Handle) {
        capture::beside()?;
        match context::event(handle)?.1.point() {
            Some(point) if !point.is_reached() => Err(Code::NOT_READY),
            _ => ready(),
        }
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, from: Handle, to: Handle) {
        capture::beside()?;
        let (from, to) = (context::event(from)?.1, context::event(to)?.1);
        milliseconds.set(from.elapsed(&to)?)
    }
}
