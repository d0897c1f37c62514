//! Every call to the device fails once, and from then on, in turn, in five programs: whatever it was, the program ends
//! with the right result or with an error that blames the right call, everything is given back, and the device's next
//! scope works. `--nocapture` prints how many calls were made to fail. Then failures at chosen places.

#[path = "../../examples/denoise/diffusion.rs"]
mod diffusion;
mod programs;
mod sweep;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use scoped_gpu::{Device, Error, ErrorKind, Failure, HostOptions, Linear, Probe, kernels};

use programs::{PROGRAMS, Program};
use sweep::{Mode, sweep};

/// The plain device, and hostile ones.
const SEEDS: [Option<u64>; 4] = [None, Some(1), Some(2), Some(3)];

/// Acceptance 13: each call of five programs fails, once and for good, on a plain device and on hostile ones.
#[test]
fn each_call_of_each_program_fails_in_turn() {
    let (mut runs, mut injected) = (0, 0);
    for program in &PROGRAMS {
        let mut of_program = 0;
        for seed in SEEDS {
            let sweep =
                |failure| sweep(program, Mode { failure, seed }).unwrap_or_else(|error| panic!("{error:#}"));
            let (once, for_good) = (sweep(Failure::Once), sweep(Failure::Forever));
            // Up to the call that fails, a run is the one in which none does.
            assert_eq!(once.injected, once.calls, "{}: each call failed, and it alone", program.name);
            assert!(for_good.injected > for_good.calls, "{}: and those after it", program.name);
            runs += once.calls + for_good.calls;
            of_program += once.injected + for_good.injected;
        }
        println!("{}: {of_program} calls failed", program.name);
        injected += of_program;
    }
    println!("all programs: {injected} calls failed, in {runs} runs");
    assert!(injected >= runs);
}

/// What the sweep looks for, it finds: an error that a program takes no notice of, and one of another file.
#[test]
fn a_careless_program_is_noticed() {
    let careless = Program {
        name: "careless",
        run: |device| {
            let seen = device.scope(|ctx| {
                ctx.alloc_linear(3, |mut x: Linear<u32>| {
                    let _ = x.fill(7);
                    x.to_vec()
                })
            })?;
            Ok(seen)
        },
        file: "tests/failing_calls/main.rs",
        resets: false,
    };
    let elsewhere = Program { file: "src/elsewhere.rs", ..careless };
    let mode = Mode { failure: Failure::Once, seed: None };
    let met = |program| format!("{:#}", sweep(program, mode).expect_err("it goes wrong"));
    assert!(
        met(&careless).ends_with("a wrong result after [\"make_current\"]: [0, 0, 0]"),
        "{}",
        met(&careless)
    );
    assert!(met(&elsewhere).contains("blamed on another file"), "{}", met(&elsewhere));
}

/// Call and line of an injected failure.
fn failure(error: &Error) -> (&'static str, u32) {
    let ErrorKind::Driver { call, code: 999, .. } = *error.kind() else {
        panic!("not what failed: {error:?}")
    };
    assert!(error.location().file().ends_with("failing_calls/main.rs"), "{error:?}");
    (call, error.location().line())
}

fn probed() -> (Device, Probe) {
    let probe = Probe::default();
    (Device::host_with(HostOptions::new().probe(&probe)), probe)
}

/// Acceptance 13: of ten buffers the third's free fails, and then the unloading of the module: the other nine are freed,
/// and one error has both causes, in the order in which they came.
#[test]
fn a_free_and_the_unloading_fail() {
    /// Calls of the scope's end up to the unloading: make current, twice, wait for its stream, destroy that.
    const UNLOADING: u64 = 5;
    let (device, probe) = probed();
    let line = line!() + 1;
    let result = device.scope(|ctx| {
        let _module = ctx.module(kernels::FILL)?;
        let buffers = (0..10).map(|_| ctx.buffer::<u32>(10)).collect::<Result<Vec<_>, _>>()?;
        ctx.synchronize()?;
        for (number, buffer) in (1..).zip(buffers) {
            // of a drop's two calls, making the context current is the first and freeing the second
            probe.fail_call(if number == 3 { 2 } else { 0 }, Failure::Once);
            drop(buffer);
        }
        assert_eq!(probe.statistics().allocations, 1);
        probe.fail_call(UNLOADING, Failure::Once);
        scoped_gpu::ok(())
    });
    let error = result.expect_err("two calls failed");
    assert_eq!(failure(&error), ("free", line + 2));
    assert_eq!(error.also().iter().map(failure).collect::<Vec<_>>(), [("unload", line)]);
    assert_eq!(probe.failed(), ["free", "unload"]);
    assert_eq!((device.memory().count, device.memory().freed), (0, 10));
    let left = probe.statistics();
    assert_eq!((left.allocations, left.streams, left.marks, left.modules), (1, 0, 0, 1));
}

/// Acceptance 15: what a scope still holds is freed newest first, each although the one before it failed; the closure's
/// error or panic stays what it was.
#[test]
fn frees_are_tried_newest_first_whatever_ended_the_scope() {
    /// Calls of the scope's end before it frees: make current, twice, wait for its stream.
    const BEFORE: u64 = 3;
    for panics in [false, true] {
        let (device, probe) = probed();
        let mut lines = Vec::new();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            device.scope(|ctx| {
                lines.extend([line!() + 1, line!() + 2, line!() + 3]);
                std::mem::forget(ctx.buffer::<u8>(1)?);
                std::mem::forget(ctx.buffer::<u8>(2)?);
                std::mem::forget(ctx.buffer::<u8>(3)?);
                ctx.synchronize()?;
                probe.fail_call(BEFORE + 1, Failure::Forever);
                if panics {
                    resume_unwind(Box::new(15));
                }
                anyhow::Result::<()>::Err(anyhow::anyhow!("mine"))
            })
        }));
        match outcome {
            Ok(result) => assert_eq!(result.expect_err("the closure's").to_string(), "mine"),
            Err(payload) => assert!(panics && payload.downcast_ref() == Some(&15)),
        }
        let cleanup = device.last_cleanup().expect("every call failed");
        let each = std::iter::once(&cleanup).chain(cleanup.also()).map(failure);
        let frees: Vec<_> = each.filter(|(_, line)| lines.contains(line)).collect();
        // Before it frees, each release makes the context current, and it is this first failure that the error names.
        let newest_first: Vec<_> = lines.iter().rev().map(|line| ("make_current", *line)).collect();
        assert_eq!(frees, newest_first);
        assert_eq!(probe.failed().iter().filter(|call| **call == "free").count(), 3);
        assert_eq!((device.memory().count, device.memory().freed), (0, 3));
    }
}

/// Acceptance 14: of the two devices of one scope, each call of the one that closes first fails, once and for good: the
/// other is closed, and has nothing to report.
#[test]
fn one_of_two_devices_fails_at_each_call() {
    let both = |first: &Device, second: &Device| {
        Device::scope_all(&[first, second], |ctxs| {
            for ctx in ctxs {
                std::mem::forget(ctx.buffer::<u32>(3)?);
            }
            ctxs[0].buffer::<u32>(2)?.copy_from(&ctxs[1].buffer::<u32>(2)?)
        })
    };
    let (first, probe) = probed();
    let (second, failing) = probed();
    both(&first, &second).expect("nothing fails");
    assert_eq!(probe.statistics().allocations, 0);
    for kind in [Failure::Once, Failure::Forever] {
        for k in 1..=failing.statistics().calls {
            let (first, probe) = probed();
            let (second, failing) = probed();
            failing.fail_call(k, kind);
            let error = both(&first, &second).expect_err("one call failed");
            let (call, _) = failure(&error);
            assert!(failing.failed().contains(&call), "call {k}: {error}");
            let held = probe.statistics();
            assert_eq!((held.allocations, held.streams, held.marks, held.modules), (0, 0, 0, 0), "call {k}");
            assert!(first.last_cleanup().is_none(), "call {k}: {:?}", first.last_cleanup());
            assert_eq!((first.memory().count, second.memory().count), (0, 0), "call {k}");
            failing.fail_call(0, kind);
            both(&first, &second).expect("and then nothing fails");
        }
    }
}
