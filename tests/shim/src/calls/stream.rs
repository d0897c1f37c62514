//! Streams, and functions of the host in their order.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use crate::capture;
use crate::codes::{Answer, Code};
use crate::context::{self, Object};
use crate::handle::Handle;
use crate::process::{current, ready};
use crate::raw::{HostFunction, InOut, Out, UserData};
use crate::stream::{Operation, Stream};

/// `CU_STREAM_NON_BLOCKING`, the one flag of a stream.
const NON_BLOCKING: c_uint = 1;
/// What a capture makes.
const EMPTY_GRAPH: Handle = Handle(8);

driver! {
    fn cuStreamCreate(handle: Out<Handle>, flags: c_uint) {
        create(&handle, flags, 0)
    }

    fn cuStreamCreateWithPriority(handle: Out<Handle>, flags: c_uint, priority: c_int) {
        create(&handle, flags, priority)
    }

    /// What is queued runs to its end.
    fn cuStreamDestroy_v2(handle: Handle) {
        capture::beside()?;
        let (context, stream) = context::stream(handle)?;
        context.remove(handle);
        stream.close();
        Ok(())
    }

    fn cuStreamSynchronize(handle: Handle) {
        capture::beside()?.stream(handle)?.end().wait();
        ready()
    }

    fn cuStreamQuery(handle: Handle) {
        if capture::beside()?.stream(handle)?.end().is_reached() { ready() } else { Err(Code::NOT_READY) }
    }

    fn cuStreamWaitEvent(handle: Handle, event: Handle, flags: c_uint) {
        let context = current()?;
        let stream = context.stream(handle)?;
        let (_, event) = context::event(event)?;
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        match event.point() {
            Some(point) => context.queue(&stream, Operation::Wait(point)).map(drop),
            None => Ok(()),
        }
    }

    fn cuStreamBeginCapture_v2(handle: Handle, mode: c_int) {
        current()?;
        // the NULL stream, which is none of these, is not captured
        context::stream(handle)?;
        capture::begin(handle, mode)
    }

    /// The graph is an empty one.
    fn cuStreamEndCapture(handle: Handle, graph: Out<Handle>) {
        context::stream(handle)?;
        let ended = capture::end(handle);
        graph.set(if ended.is_ok() { EMPTY_GRAPH } else { Handle::NULL })?;
        ended
    }

    fn cuStreamIsCapturing(handle: Handle, status: Out<c_int>) {
        context::stream(handle)?;
        status.set(capture::status(handle))
    }

    fn cuThreadExchangeStreamCaptureMode(mode: InOut<c_int>) {
        ready()?;
        let (wanted, before) = mode.split();
        before.set(capture::exchange(wanted.get()?)?)
    }

    fn cuGraphDestroy(graph: Handle) {
        ready()?;
        if graph == EMPTY_GRAPH { Ok(()) } else { Err(Code::INVALID_VALUE) }
    }

    fn cuStreamGetFlags(handle: Handle, flags: Out<c_uint>) {
        flags.set(if stream(handle)?.blocking { 0 } else { NON_BLOCKING })
    }

    fn cuStreamGetPriority(handle: Handle, priority: Out<c_int>) {
        priority.set(stream(handle)?.priority)
    }

    /// The function runs on the stream's thread, when everything before it has ended.
    fn cuLaunchHostFunc(handle: Handle, function: Option<extern "C" fn(*mut c_void)>, argument: UserData) {
        let context = current()?;
        let stream = context.stream(handle)?;
        let function = HostFunction::new(function, argument)?;
        context.queue(&stream, Operation::Call(function)).map(drop)
    }
}

fn create(handle: &Out<Handle>, flags: c_uint, _priority: c_int) -> Answer {
    let context = capture::beside()?;
    if flags > NON_BLOCKING {
        return Err(Code::INVALID_VALUE);
    }
    // priorities are clamped to the range of this device, which has one
    let stream = Stream::new(&context.backend, context.serial, flags != NON_BLOCKING, 0)?;
    handle.set(context.add(Object::Stream(stream)))
}

/// The stream that a question is about.
fn stream(handle: Handle) -> Answer<Arc<Stream>> {
    current()?.stream(handle)
}
