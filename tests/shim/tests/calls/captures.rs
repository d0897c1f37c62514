//! Captures of graphs, and the calls that they forbid.

use super::driver::{Code, Driver, Handle, ok};

const GLOBAL: i32 = 0;
const THREAD_LOCAL: i32 = 1;
const RELAXED: i32 = 2;

/// What a wait for another stream answers beside a capture, and what the capture's end answers then.
fn beside(driver: &Driver, context: Handle, capture: i32, same_thread: bool, mode: i32) -> (Code, Code) {
    let (mut captured, mut other, mut graph) = (0, 0, 0);
    ok(driver.stream_create(&mut captured, 1));
    ok(driver.stream_create(&mut other, 1));
    ok(driver.begin_capture(captured, capture));
    let wait = || {
        let mut exchanged = mode;
        ok(driver.context_set(context));
        ok(driver.exchange_capture_mode(&mut exchanged));
        let answer = driver.stream_synchronize(other);
        ok(driver.exchange_capture_mode(&mut exchanged));
        assert_eq!(exchanged, mode);
        answer
    };
    let waited = match same_thread {
        true => wait(),
        false => std::thread::scope(|threads| threads.spawn(wait).join().expect("no panic")),
    };
    let mut status = 0;
    ok(driver.is_capturing(captured, &mut status));
    let ended = driver.end_capture(captured, &mut graph);
    assert_eq!((status == 2, graph == 0), (ended != 0, ended != 0));
    if ended == 0 {
        ok(driver.graph_destroy(graph));
    }
    ok(driver.is_capturing(captured, &mut status));
    assert_eq!(status, 0);
    ok(driver.stream_destroy(captured));
    ok(driver.stream_destroy(other));
    (waited, ended)
}

#[test]
fn a_capture_forbids_what_its_mode_and_the_threads_say() {
    let (driver, context) = Driver::with_context();
    for capture in [GLOBAL, THREAD_LOCAL, RELAXED] {
        for same_thread in [true, false] {
            for mode in [GLOBAL, THREAD_LOCAL, RELAXED] {
                let forbidden = match (same_thread, mode) {
                    (_, RELAXED) => false,
                    (true, _) => capture != RELAXED,
                    (false, _) => capture == GLOBAL && mode == GLOBAL,
                };
                let expected = if forbidden { (900, 901) } else { (0, 0) };
                let answered = beside(&driver, context, capture, same_thread, mode);
                assert_eq!(answered, expected, "capture {capture}, same thread {same_thread}, mode {mode}");
            }
        }
    }
    let (mut mode, mut stream, mut graph) = (3, 0, 0);
    assert_eq!(driver.exchange_capture_mode(&mut mode), 1);
    ok(driver.stream_create(&mut stream, 1));
    assert_eq!(driver.end_capture(stream, &mut graph), 401);
    ok(driver.context_destroy(context));
}
