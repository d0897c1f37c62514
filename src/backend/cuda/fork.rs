//! Whether the process is a fork of the one that opened a context: there the driver's state is a copy that must not be
//! used (CUDA C++ Programming Guide, "Multi-Process": contexts do not survive `fork`).

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use super::driver;

/// How often the process was forked on the way from the one that first asked.
static FORKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Has forks counted from now on.
pub(super) fn notice() {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // SAFETY: the function only adds to an atomic number, which is allowed between `fork` and `exec`. Where it
        // cannot be registered (no memory), forks are not noticed, which is what happens without it.
        unsafe { driver::pthread_atfork(None, None, Some(forked)) };
    });
}

/// A number that is another one in a process that was forked since `notice`. Costs one load of memory.
#[inline]
pub(super) fn generation() -> u64 {
    FORKS.load(Ordering::Relaxed)
}
