//! Streams and marks: nothing runs before a wait, streams keep their order, marks order streams among each other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::super::stream::QUEUE_LIMIT;
use super::*;

#[test]
fn operations_run_in_order_and_not_before_a_wait() {
    let device = device();
    let a = device.allocate(4).unwrap();
    let stream = device.create_stream().unwrap();
    queue_fill(&device, stream, a, 4, 1).unwrap();
    queue_fill(&device, stream, a + 1, 2, 2).unwrap();
    queue_fill(&device, stream, a + 2, 1, 3).unwrap();
    assert_eq!(read(&device, a, 4), [0, 0, 0, 0]);
    device.wait_stream(stream).unwrap();
    assert_eq!(read(&device, a, 4), [1, 2, 3, 1]);
    assert_eq!(device.statistics().stopped, 3);
}

#[test]
fn a_wait_runs_its_own_stream_only() {
    let device = device();
    let a = device.allocate(2).unwrap();
    let (one, two) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    queue_fill(&device, one, a, 1, 1).unwrap();
    queue_fill(&device, two, a + 1, 1, 2).unwrap();
    device.wait_stream(two).unwrap();
    assert_eq!(read(&device, a, 2), [0, 2]);
    device.wait_stream(one).unwrap();
    assert_eq!(read(&device, a, 2), [1, 2]);
}

#[test]
fn a_mark_orders_one_stream_behind_a_part_of_another() {
    let device = device();
    let a = device.allocate(4).unwrap();
    let (one, two) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    queue_fill(&device, one, a, 1, 7).unwrap();
    let mark = device.record(one).unwrap();
    queue_fill(&device, one, a, 1, 9).unwrap();
    device.wait_on(two, mark).unwrap();
    // the wait took the place it needs with it
    device.destroy_mark(mark).unwrap();
    queue_move(&device, two, a + 1, a, 1);
    device.wait_stream(two).unwrap();
    assert_eq!(read(&device, a, 2), [7, 7]);
    device.wait_stream(one).unwrap();
    assert_eq!(read(&device, a, 2), [9, 7]);
}

#[test]
fn marks_chain_back_and_forth() {
    let device = device();
    let a = device.allocate(1).unwrap();
    write(&device, a, &[0]);
    let module = stand_in(&device);
    let streams = [(); 3].map(|()| device.create_stream().unwrap());
    let bump = crate::backend::LaunchBuffer { argument: 0, address: a, bytes: 1, writable: true };
    for round in 0..60 {
        let stream = streams[round % 3];
        try_launch(&device, stream, module, "bump", AccessRule::Checked, smallvec![bump]).unwrap();
        let mark = device.record(stream).unwrap();
        device.wait_on(streams[(round + 1) % 3], mark).unwrap();
        device.destroy_mark(mark).unwrap();
    }
    // the first stream stands behind all rounds
    device.wait_stream(streams[0]).unwrap();
    assert_eq!(read(&device, a, 1), [60]);
    assert_eq!(device.statistics().marks, 0);
}

#[test]
fn waiting_for_a_mark_stops_at_the_mark() {
    let device = device();
    let a = device.allocate(1).unwrap();
    let stream = device.create_stream().unwrap();
    queue_fill(&device, stream, a, 1, 1).unwrap();
    let mark = device.record(stream).unwrap();
    queue_fill(&device, stream, a, 1, 2).unwrap();
    device.wait_mark(mark).unwrap();
    assert_eq!(read(&device, a, 1), [1]);
    assert!(device.is_done(mark).unwrap());
    device.destroy_stream(stream).unwrap();
    assert_eq!(read(&device, a, 1), [2], "what is queued on a stream runs before it is destroyed");
    device.wait_mark(mark).unwrap();
}

#[test]
fn asking_often_enough_is_waiting() {
    let device = device();
    let a = device.allocate(1).unwrap();
    let (one, two) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    (0..3).for_each(|byte| queue_fill(&device, one, a, 1, byte).unwrap());
    let mark = device.record(one).unwrap();
    device.wait_on(two, mark).unwrap();
    queue_fill(&device, two, a, 1, 9).unwrap();
    let last = device.record(two).unwrap();
    let asked = (1..100).find(|_| device.is_done(last).unwrap());
    // three fills and the mark behind them, the wait, the fourth fill and its mark
    assert_eq!(asked, Some(7));
    assert_eq!(read(&device, a, 1), [9]);
}

#[test]
fn a_full_queue_makes_room_by_running_its_older_half() {
    let device = device();
    let a = device.allocate(4).unwrap();
    let stream = device.create_stream().unwrap();
    for n in 0..QUEUE_LIMIT as u32 {
        queue_fill(&device, stream, a, 4, n as u8).unwrap();
    }
    assert_eq!(device.statistics().stopped, 0);
    queue_fill(&device, stream, a, 4, 0).unwrap();
    assert_eq!(device.statistics().stopped, QUEUE_LIMIT as u64 / 2);
    for _ in 0..10 * QUEUE_LIMIT {
        queue_fill(&device, stream, a, 4, 0).unwrap();
    }
    let waiting = 11 * QUEUE_LIMIT as u64 + 1 - device.statistics().stopped;
    assert!(waiting <= QUEUE_LIMIT as u64, "{waiting} wait");
}

#[test]
fn time_passes_between_marks() {
    let device = device();
    let a = device.allocate(1 << 20).unwrap();
    let stream = device.create_stream().unwrap();
    let before = device.record(stream).unwrap();
    queue_fill(&device, stream, a, 1 << 20, 1).unwrap();
    let after = device.record(stream).unwrap();
    assert!(matches!(device.elapsed(before, after), Err(ErrorKind::NotSupported { .. })));
    device.wait_stream(stream).unwrap();
    let milliseconds = device.elapsed(before, after).unwrap();
    assert!(milliseconds > 0.0 && milliseconds < 60_000.0, "{milliseconds}");
    assert_eq!(device.elapsed(after, before).unwrap(), -milliseconds);
}

#[test]
fn ids_of_something_else_are_told_apart() {
    let device = device();
    let stream = device.create_stream().unwrap();
    let mark = device.record(stream).unwrap();
    device.destroy_mark(mark).unwrap();
    device.destroy_stream(stream).unwrap();
    let refused = [
        device.wait_stream(stream),
        device.record(stream).map(drop),
        device.wait_on(stream, mark),
        device.wait_mark(mark),
        device.destroy_mark(mark),
        device.destroy_stream(stream),
        device.unload(ModuleId(stream.number)),
        free(&device, 0),
    ];
    for answer in refused {
        assert!(matches!(answer, Err(ErrorKind::Foreign { .. })), "{answer:?}");
    }
}

#[test]
fn several_threads_queue_and_wait_at_once() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 300;
    let device = device();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let a = device.allocate(2).unwrap();
                    let streams = [(); 2].map(|()| device.create_stream().unwrap());
                    for round in 0..ROUNDS {
                        queue_fill(&device, streams[0], a, 1, round as u8).unwrap();
                        let mark = device.record(streams[0]).unwrap();
                        device.wait_on(streams[1], mark).unwrap();
                        queue_move(&device, streams[1], a + 1, a, 1);
                        device.wait_stream(streams[1]).unwrap();
                        assert_eq!(read(&device, a, 2), [round as u8; 2]);
                        device.destroy_mark(mark).unwrap();
                    }
                    streams.into_iter().for_each(|stream| device.destroy_stream(stream).unwrap());
                    free(&device, a).unwrap();
                })
            })
            .collect();
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                device.memory_info().unwrap();
            }
        });
        let results: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        ended.store(true, Ordering::Relaxed);
        assert!(results.iter().all(Result::is_ok));
    });
    let left = device.statistics();
    assert_eq!((left.allocations, left.streams, left.marks), (0, 0, 0));
}
