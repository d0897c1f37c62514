//! Faults: returned once, contained or final, and what a reset brings back. Memory that runs out.

use super::*;

fn fault_of(answer: Answer<()>) -> Box<Fault> {
    match answer {
        Err(ErrorKind::Fault(fault)) => fault,
        other => panic!("expected a fault, got {other:?}"),
    }
}

fn is_poisoned<T>(answer: Answer<T>, by: &str) -> bool {
    matches!(answer, Err(ErrorKind::Poisoned { origin }) if origin.contains(by))
}

#[test]
fn a_contained_fault_is_returned_once_and_the_stream_goes_on() {
    let device = device();
    let a = device.allocate(1).unwrap();
    let (stream, other) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    let module = stand_in(&device);
    let line = line!() + 1;
    launch(&device, stream, module, "first", AccessRule::Checked);
    launch(&device, stream, module, "second", AccessRule::Checked);
    queue_fill(&device, stream, a, 1, 5).unwrap();
    let mark = device.record(stream).unwrap();
    device.wait_on(other, mark).unwrap();

    device.wait_stream(other).unwrap();
    device.wait_mark(mark).unwrap();
    assert_eq!(read(&device, a, 1), [5], "what stands behind a contained fault runs");
    let fault = fault_of(device.wait_stream(stream));
    assert!(fault.contained);
    assert_eq!((&*fault.kernel, &*fault.module), ("first", "stand-in.ptx"));
    let at = fault.launched_at.unwrap();
    assert_eq!((at.file(), at.line()), (file!(), line));
    device.wait_stream(stream).unwrap();
}

#[test]
fn an_unchecked_fault_ends_the_context_until_a_reset() {
    let device = device();
    let a = device.allocate(4).unwrap();
    let pinned = device.allocate_pinned(100).unwrap();
    let (stream, other) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    let module = stand_in(&device);
    let mut landed = [0; 4];
    launch(&device, stream, module, "wild", AccessRule::Unchecked);
    queue_fill(&device, stream, a, 4, 5).unwrap();
    let mark = device.record(stream).unwrap();
    queue(&device, other, &row_copy(host_place(landed.as_mut_ptr()), Place::Device(a), 4));

    let fault = fault_of(device.wait_stream(stream));
    assert!(!fault.contained);
    let by = "wild fails";
    assert!(is_poisoned(device.wait_stream(stream), by));
    assert!(is_poisoned(device.wait_stream(other), by));
    assert!(is_poisoned(device.wait_mark(mark), by));
    assert!(is_poisoned(device.is_done(mark), by));
    assert!(is_poisoned(device.elapsed(mark, mark), by));
    assert!(is_poisoned(device.record(stream), by));
    assert!(is_poisoned(device.wait_on(stream, mark), by));
    assert!(is_poisoned(device.create_stream(), by));
    assert!(is_poisoned(device.allocate(1), by));
    assert!(is_poisoned(device.allocate_pinned(1), by));
    assert!(is_poisoned(device.memory_info(), by));
    assert!(is_poisoned(device.load_module(|_| Ok(Arc::new(StandIn))), by));
    assert!(is_poisoned(queue_fill(&device, stream, a, 4, 1), by));
    let answer = try_launch(&device, stream, module, "bump", AccessRule::Checked, SmallVec::new());
    assert!(is_poisoned(answer, by));
    assert_eq!(read(&device, a, 4), [0; 4], "what was queued is dropped");

    free(&device, a).unwrap();
    device.destroy_mark(mark).unwrap();
    device.destroy_stream(stream).unwrap();
    device.unload(module).unwrap();
    // SAFETY: nothing uses the block.
    unsafe { device.free_pinned(pinned, 100) }.unwrap();
    let left = device.statistics();
    assert_eq!((left.allocations, left.pinned, left.marks, left.modules), (0, 0, 0, 0));

    assert_eq!(device.reset(), Reset::Recovered);
    assert_eq!(landed, [0; 4], "a dropped copy never writes to host memory");
    let fresh = device.create_stream().unwrap();
    assert!(fresh > other, "ids are not used again");
    assert!(matches!(device.wait_stream(other), Err(ErrorKind::Foreign { .. })));
    let b = device.allocate(1).unwrap();
    queue_fill(&device, fresh, b, 1, 3).unwrap();
    device.wait_stream(fresh).unwrap();
    assert_eq!(read(&device, b, 1), [3]);
}

#[test]
fn a_poisoned_context_still_names_the_fault_of_the_stream_that_made_it() {
    let device = device();
    let (stream, other) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    let module = stand_in(&device);
    launch(&device, stream, module, "wild", AccessRule::Unchecked);
    let mark = device.record(stream).unwrap();
    device.wait_on(other, mark).unwrap();
    assert!(is_poisoned(device.wait_stream(other), "wild fails"));
    assert_eq!(fault_of(device.wait_stream(stream)).kernel, "wild");
    assert!(is_poisoned(device.wait_stream(stream), "wild fails"));
}

#[test]
fn a_stream_that_nobody_waited_for_gives_its_fault_when_it_is_destroyed() {
    let device = device();
    let stream = device.create_stream().unwrap();
    launch(&device, stream, stand_in(&device), "late", AccessRule::Checked);
    assert_eq!(fault_of(device.destroy_stream(stream)).kernel, "late");
    assert_eq!(device.statistics().streams, 0);
}

#[test]
fn a_panic_of_the_interpreter_is_a_fault_of_ours() {
    let device = device();
    let stream = device.create_stream().unwrap();
    launch(&device, stream, stand_in(&device), "panic", AccessRule::Checked);
    let fault = fault_of(device.wait_stream(stream));
    assert_eq!(fault.blame(), crate::fault::Blame::Bug);
    assert!(fault.summary().ends_with("panicked: kernel panic of stand-in.ptx"), "{}", fault.summary());
    device.wait_stream(stream).unwrap();
}

#[test]
fn a_transfer_of_freed_memory_harms_nothing_and_is_told() {
    let device = device();
    let a = device.allocate(8).unwrap();
    let stream = device.create_stream().unwrap();
    queue_fill(&device, stream, a, 8, 1).unwrap();
    free(&device, a).unwrap();
    let fault = fault_of(device.wait_stream(stream));
    assert_eq!(fault.blame(), crate::fault::Blame::Bug);
    assert!(fault.summary().contains("which were freed"), "{}", fault.summary());
}

#[test]
fn launches_that_are_queued_run_before_their_module_is_unloaded() {
    let device = device();
    let a = device.allocate(1).unwrap();
    write(&device, a, &[4]);
    let stream = device.create_stream().unwrap();
    let module = stand_in(&device);
    let buffer = crate::backend::LaunchBuffer { argument: 0, address: a, bytes: 1, writable: true };
    try_launch(&device, stream, module, "bump", AccessRule::Checked, smallvec![buffer]).unwrap();
    device.unload(module).unwrap();
    assert_eq!(read(&device, a, 1), [5]);
}

#[test]
fn running_out_of_memory_says_the_figures_and_passes() {
    let device = HostBackend::new(HostOptions::new().memory_limit(1000));
    let a = device.allocate(600).unwrap();
    let refused = device.allocate(401);
    assert!(
        matches!(refused, Err(ErrorKind::OutOfMemory { asked: 401, free: 400, total: 1000, live: 600 })),
        "{refused:?}"
    );
    assert_eq!(device.memory_info().unwrap(), MemoryInfo { free: 400, total: 1000 });
    free(&device, a).unwrap();
    device.allocate(1000).unwrap();
}

#[test]
fn a_reset_reclaims_everything() {
    let device = device();
    let a = device.allocate(10).unwrap();
    device.allocate_pinned(10).unwrap();
    let stream = device.create_stream().unwrap();
    stand_in(&device);
    queue_fill(&device, stream, a, 10, 1).unwrap();
    device.record(stream).unwrap();
    device.reset();
    let left = device.statistics();
    assert_eq!((left.allocations, left.bytes, left.pinned), (0, 0, 0));
    assert_eq!((left.streams, left.marks, left.modules, left.stopped), (0, 0, 0, 0));
    assert!(matches!(free(&device, a), Err(ErrorKind::Foreign { .. })), "a stale address frees nothing");
}
