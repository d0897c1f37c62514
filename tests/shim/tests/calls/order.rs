//! Order: streams, events, functions of the host, and resets.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::driver::{Driver, ok};

/// What holds a stream back.
struct Gate {
    open: Receiver<()>,
    passed: AtomicU32,
}

impl Gate {
    fn new() -> (Sender<()>, Box<Self>) {
        let (sender, open) = channel();
        (sender, Box::new(Self { open, passed: AtomicU32::new(0) }))
    }
}

extern "C" fn wait(gate: *mut c_void) {
    // SAFETY: tests give their gate, which they keep until the stream was waited for.
    let gate = unsafe { &*gate.cast::<Gate>() };
    let _ = gate.open.recv_timeout(Duration::from_secs(20));
    gate.passed.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn an_event_orders_two_streams() {
    let (driver, context) = Driver::with_context();
    let (mut a, mut b, mut event, mut start) = (0, 0, 0, 0);
    ok(driver.stream_create(&mut a, 1));
    ok(driver.stream_create(&mut b, 1));
    ok(driver.event_create(&mut event, 0));
    ok(driver.event_create(&mut start, 0));
    // one that was never recorded is done
    ok(driver.event_query(event));
    let mut memory = 0;
    ok(driver.alloc(&mut memory, 64));
    let (open, gate) = Gate::new();
    ok(driver.event_record(start, a));
    ok(driver.host_function(a, wait, std::ptr::from_ref(&*gate).cast_mut().cast()));
    ok(driver.set_32(memory, 5, 16, a));
    ok(driver.event_record(event, a));
    ok(driver.stream_wait(b, event, 0));
    let mut seen = [0_u32; 16];
    ok(driver.to_host_queued(seen.as_mut_ptr().cast(), memory, 64, b));
    assert_eq!(driver.event_query(event), 600);
    assert_eq!(driver.stream_query(b), 600);
    let mut time = 0.0;
    assert_eq!(driver.event_elapsed(&mut time, start, event), 600);
    open.send(()).expect("the gate is there");
    ok(driver.stream_synchronize(b));
    assert_eq!((seen, gate.passed.load(Ordering::SeqCst)), ([5; 16], 1));
    ok(driver.event_query(event));
    ok(driver.event_elapsed(&mut time, start, event));
    assert!(time >= 0.0);
    ok(driver.event_destroy(event));
    ok(driver.stream_destroy(a));
    assert_eq!(driver.stream_synchronize(a), 400);
    ok(driver.context_destroy(context));
}

#[test]
fn the_null_stream_waits_for_blocking_streams_only() {
    let (driver, context) = Driver::with_context();
    let (mut blocking, mut free, mut memory) = (0, 0, 0);
    ok(driver.stream_create(&mut blocking, 0));
    ok(driver.stream_create(&mut free, 1));
    ok(driver.alloc(&mut memory, 4));
    let (open, gate) = Gate::new();
    let (open_free, gate_free) = Gate::new();
    ok(driver.host_function(free, wait, std::ptr::from_ref(&*gate_free).cast_mut().cast()));
    ok(driver.set_32(memory, 1, 1, 0));
    ok(driver.stream_synchronize(0));
    ok(driver.host_function(blocking, wait, std::ptr::from_ref(&*gate).cast_mut().cast()));
    ok(driver.set_32(memory, 2, 1, 0));
    assert_eq!(driver.stream_query(0), 600);
    open.send(()).expect("the gate is there");
    ok(driver.stream_synchronize(0));
    assert_eq!(gate.passed.load(Ordering::SeqCst), 1);
    open_free.send(()).expect("the gate is there");
    ok(driver.synchronize());
    assert_eq!(gate_free.passed.load(Ordering::SeqCst), 1);
    ok(driver.context_destroy(context));
}

#[test]
fn a_reset_keeps_the_handle_and_changes_the_id() {
    let driver = Driver::open();
    let (mut context, mut again, mut before, mut after) = (0, 0, 0, 0);
    ok(driver.primary_retain(&mut context, 0));
    ok(driver.context_set(context));
    ok(driver.context_id(context, &mut before));
    let (mut stream, mut stale, mut fresh) = (0, 0, 0);
    ok(driver.stream_create(&mut stream, 1));
    ok(driver.alloc(&mut stale, 100));
    ok(driver.primary_reset(0));
    assert_ne!(driver.alloc(&mut fresh, 100), 0);
    ok(driver.primary_retain(&mut again, 0));
    ok(driver.context_id(again, &mut after));
    assert_eq!(again, context);
    assert_ne!(before, after);
    assert_ne!(driver.stream_synchronize(stream), 0);
    // measured on a GPU: the first allocation after a reset lies where the first one before it lay
    ok(driver.alloc(&mut fresh, 100));
    assert_eq!(fresh, stale);
    ok(driver.primary_reset(0));
}
