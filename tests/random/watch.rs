//! A watch over inputs: ends the process when one takes too long, since a thread that hangs cannot be ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Seconds that one input may take, also on a busy machine. Inputs are a few kilobytes.
const PATIENCE: u64 = 60;

/// Watches until it is dropped.
pub struct Watch {
    current: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub fn new(what: &'static str) -> Self {
        let current = Arc::new(AtomicU64::new(u64::MAX));
        let ended = Arc::new(AtomicBool::new(false));
        let (at, over) = (Arc::clone(&current), Arc::clone(&ended));
        let thread = thread::spawn(move || {
            let mut last = (u64::MAX, Instant::now());
            while !over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(100));
                let now = at.load(Ordering::Relaxed);
                if now != last.0 {
                    last = (now, Instant::now());
                } else if now != u64::MAX && last.1.elapsed().as_secs() >= PATIENCE {
                    eprintln!("{what}: input {now} hangs: more than {PATIENCE} s");
                    std::process::abort();
                }
            }
        });
        Self { current, ended, thread: Some(thread) }
    }

    /// Input `index` begins.
    pub fn begin(&self, index: u64) {
        self.current.store(index, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // it only sleeps and compares, so there is nothing to learn from how it ended
            let _ = thread.join();
        }
    }
}
