//! A `libcuda.so` without a GPU: the calls of the CUDA driver, carried out by the host device of `scoped-gpu`.
//!
//! The host device is no public part of that crate, so its sources are compiled here a second time. `raw` holds what
//! looks behind a caller's pointers, `backend_calls` what owes the host device a proof; everything else is safe code.

macro_rules! shared {
    ($($(#[$path:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$path])*
        #[expect(dead_code, unused_imports, reason = "the crate that owns these sources uses more of them")]
        mod $name;
    )+};
}

shared! {
    #[path = "../../../src/backend/mod.rs"]
    backend,
    #[path = "../../../src/dim.rs"]
    dim,
    #[path = "../../../src/error.rs"]
    error,
    #[path = "../../../src/fault.rs"]
    fault,
    #[path = "../../../src/ptx/mod.rs"]
    ptx,
    #[path = "../../../src/statistics.rs"]
    statistics,
    #[path = "../../../src/verdict.rs"]
    verdict,
}

mod backend_calls;
mod calls;
mod capture;
mod codes;
mod context;
mod event;
mod handle;
mod memory;
mod module;
mod process;
mod raw;
mod stream;
