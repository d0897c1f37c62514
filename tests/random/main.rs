//! Random inputs: whatever the text, reading it ends, without a panic, with a module or an error that can be shown;
//! whatever module is accepted, running it ends with a result or a fault that is not the interpreter's own.
//!
//! `cargo test --test random` tries a few thousand. For as many as one likes:
//!
//! ```text
//! SCOPED_GPU_INPUTS=10000000 cargo test --release --test random -- --ignored --nocapture many_texts
//! SCOPED_GPU_INPUTS=1000000  cargo test --release --test random -- --ignored --nocapture many_kernels
//! ```
//!
//! `SCOPED_GPU_SEED` chooses others. A failure names the number of its input; `SCOPED_GPU_FIRST` begins there.
//! `tests/fuzz` has the same two checks for `cargo fuzz`, guided by coverage.

mod corpus;
mod frame;
mod inputs;
#[path = "../reference/random.rs"]
#[expect(dead_code, reason = "numbers that other tests draw")]
mod random;
mod reading;
mod running;
mod watch;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: a number")))
}

#[test]
fn texts() {
    let outcome = reading::run(1, 0, 20_000);
    // all ways out are taken often, or the inputs prove little
    let reading::Outcome { accepted, refused, .. } = outcome;
    assert!(accepted > 500 && refused > 500, "{outcome:?}");
}

#[test]
fn kernels() {
    let outcome = running::run(1, 0, 3_000);
    let running::Outcome { finished, faulted, .. } = outcome;
    assert!(finished > 100 && faulted > 100, "{outcome:?}");
}

#[test]
#[ignore = "as long as SCOPED_GPU_INPUTS says"]
fn many_texts() {
    let first = setting("SCOPED_GPU_FIRST", 0);
    let outcome = reading::run(setting("SCOPED_GPU_SEED", 2), first, setting("SCOPED_GPU_INPUTS", 1_000_000));
    println!("{outcome}");
}

#[test]
#[ignore = "as long as SCOPED_GPU_INPUTS says"]
fn many_kernels() {
    let first = setting("SCOPED_GPU_FIRST", 0);
    let outcome = running::run(setting("SCOPED_GPU_SEED", 2), first, setting("SCOPED_GPU_INPUTS", 100_000));
    println!("{outcome:?}");
}
