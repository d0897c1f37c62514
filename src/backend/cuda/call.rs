//! Functions of the host in a stream's order. The driver runs each, or after a fault does not, and a wait answers the fault
//! while one still runs (measured on an H200); what is known of them here is what makes such a wait the end of them.

use std::collections::HashMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::context::{Context, lock};
use super::driver::{self, StreamHandle};
use crate::backend::{Answer, HostFunction};

/// The functions of a context that have not returned.
#[derive(Default)]
pub(super) struct Calls(Mutex<Unreturned>);

#[derive(Default)]
struct Unreturned {
    by_number: HashMap<u64, Arc<Call>>,
    /// Numbers given out so far.
    queued: u64,
}

struct Call {
    number: u64,
    state: Mutex<State>,
    returned: Condvar,
    all: Arc<Calls>,
}

enum State {
    Queued(HostFunction),
    Running,
    /// It has returned, or will not be run.
    Over,
}

/// Runs the call that `data` points to, unless it was ended before.
extern "C" fn run(data: *mut c_void) {
    // SAFETY: `data` is what `queue` made of an `Arc`, and the driver calls this once for it.
    let call = unsafe { Arc::from_raw(data.cast_const().cast::<Call>()) };
    call.run();
}

impl Call {
    fn run(&self) {
        let taken = std::mem::replace(&mut *lock(&self.state), State::Running);
        if let State::Queued(function) = taken {
            function();
        }
        self.over();
    }

    /// Sees to it that the function does not run any more: not at all if it has not begun, else by waiting for its return.
    fn end(&self) {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, State::Running) {
            State::Queued(function) => {
                drop(state);
                // What it holds is another's code, which may panic; that is no reason for cleanup to stop. It may use what
                // it borrows, so others who end it wait for this as they wait for a function that runs.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(function))) {
                    std::mem::forget(panic);
                }
                self.over();
            }
            State::Running => {
                let running = |state: &mut State| matches!(state, State::Running);
                drop(self.returned.wait_while(state, running).unwrap_or_else(PoisonError::into_inner));
            }
            State::Over => *state = State::Over,
        }
    }

    fn over(&self) {
        *lock(&self.state) = State::Over;
        self.returned.notify_all();
        lock(&self.all.0).by_number.remove(&self.number);
    }
}

impl Calls {
    /// Queues a function, which does not unwind.
    pub(super) fn queue(
        self: &Arc<Self>,
        function: HostFunction,
        stream: StreamHandle,
        context: &Context,
    ) -> Answer<()> {
        let call = {
            let mut unreturned = lock(&self.0);
            unreturned.queued += 1;
            let number = unreturned.queued;
            let state = Mutex::new(State::Queued(function));
            let call = Arc::new(Call { number, state, returned: Condvar::new(), all: Arc::clone(self) });
            unreturned.by_number.insert(number, Arc::clone(&call));
            call
        };
        let data = Arc::into_raw(call);
        // SAFETY: the stream is live (C4); `run` takes what `data` is, once. The function does not unwind (its contract).
        let queued = unsafe { driver::launch_host_function(stream, run, data.cast_mut().cast()) };
        if queued.is_err() {
            // SAFETY: the driver did not take it, so this is the only owner beside the table.
            unsafe { Arc::from_raw(data) }.end();
        }
        context.answer(queued)
    }

    /// After this none of them runs: for a context that has ended, whose waits do not show that.
    pub(super) fn end(&self) {
        let calls: Vec<_> = lock(&self.0).by_number.values().cloned().collect();
        calls.iter().for_each(|call| call.end());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A function that the driver was not told of.
    fn call(function: HostFunction) -> (Arc<Calls>, Arc<Call>) {
        let all = Arc::new(Calls::default());
        let state = Mutex::new(State::Queued(function));
        let call = Arc::new(Call { number: 1, state, returned: Condvar::new(), all: Arc::clone(&all) });
        lock(&all.0).by_number.insert(1, Arc::clone(&call));
        (all, call)
    }

    /// Takes its time to go, as a closure does that gives back much.
    struct Slow(Arc<AtomicBool>);

    impl Drop for Slow {
        fn drop(&mut self) {
            thread::sleep(Duration::from_millis(100));
            self.0.store(true, Ordering::Release);
        }
    }

    /// Whoever ends a function that runs, or that somebody else ends, comes back when that is over.
    #[test]
    fn everybody_waits_for_a_function_to_be_over() {
        for runs in [true, false] {
            let gone = Arc::new(AtomicBool::new(false));
            let slow = Slow(Arc::clone(&gone));
            let (all, call) = call(Box::new(move || drop(slow)));
            let first = if runs { Call::run } else { Call::end };
            thread::scope(|threads| {
                threads.spawn(|| first(&call));
                while !matches!(*lock(&call.state), State::Running) {
                    assert!(!gone.load(Ordering::Acquire), "it takes longer than this loop");
                    thread::yield_now();
                }
                all.end();
                assert!(gone.load(Ordering::Acquire), "runs: {runs}");
            });
            assert!(lock(&all.0).by_number.is_empty());
        }
    }

    #[test]
    fn an_ended_function_does_not_run_and_what_it_holds_may_panic() {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                std::panic::resume_unwind(Box::new("while it is given back"));
            }
        }
        let ran = Arc::new(AtomicU32::new(0));
        let (counts, panics) = (Arc::clone(&ran), Panics);
        let (all, call) = call(Box::new(move || {
            counts.fetch_add(1, Ordering::Relaxed);
            std::mem::forget(panics);
        }));
        all.end();
        all.end();
        call.run();
        assert_eq!((ran.load(Ordering::Relaxed), Arc::strong_count(&ran)), (0, 1));
        assert!(lock(&all.0).by_number.is_empty());
    }
}
