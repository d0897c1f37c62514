//! The hostile host device, and its negative controls: for each of its ways of being hostile, a program that this
//! library keeps right, and the same program with one protection of the library switched off, which must go wrong.
//! A test of a protection that cannot fail proves nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use scoped_gpu::{
    Device, Error, ErrorKind, Failure, HostOptions, Probe, Protection, ReadWrite, uninit, zeros,
};

const SEEDS: u64 = 64;

fn options(seed: u64, without: Option<Protection>) -> HostOptions {
    let hostile = HostOptions::new().memory_limit(1 << 22).hostile(seed);
    without.into_iter().fold(hostile, HostOptions::without)
}

/// For how many seeds a program goes right.
fn right(without: Option<Protection>, program: impl Fn(&Device) -> Result<bool, Error>) -> u64 {
    (0..SEEDS).filter(|&seed| matches!(program(&Device::host_with(options(seed, without))), Ok(true))).count()
        as u64
}

/// All seeds with the protection, not all without.
fn protected_by(protection: Protection, program: impl Fn(&Device) -> Result<bool, Error>) {
    assert_eq!(right(None, &program), SEEDS, "with {protection:?}");
    let still = right(Some(protection), &program);
    println!("without {protection:?}: wrong for {} of {SEEDS} seeds", SEEDS - still);
    assert!(still < SEEDS, "without {protection:?} nothing goes wrong, so the program tests nothing");
}

/// Acceptance 21, 24: work on an array, a copy of its result by another stream, both arrays dropped at once, a batch
/// with nothing in it, a wait. Frees that do not go behind the work must be noticed.
#[test]
fn memory_dropped_under_queued_work() {
    protected_by(Protection::FreeBehindWork, |device| {
        device.scope(|ctx| {
            let slow = ctx.module(include_str!("../tests/devices/kernels/faults.ptx"))?;
            let slow = slow.kernel::<(ReadWrite<u32>, u32)>("slow_add")?;
            let mut host = [0; 2];
            ctx.streams(|s| {
                let (one, two) = (s.stream()?, s.stream()?);
                let (mut a, mut b) = (ctx.buffer::<u32>(2)?, ctx.buffer::<u32>(2)?);
                one.launch(&slow, scoped_gpu::Launch::grid(1, 1), (&mut a, 50))?;
                two.copy_from(&mut b, &a)?;
                let _queued = two.copy_to_host(&b, &mut host)?;
                scoped_gpu::ok(())
            })?;
            ctx.streams(|_| scoped_gpu::ok(()))?;
            ctx.synchronize()?;
            scoped_gpu::ok(host == [50, 0])
        })
    });
}

/// Acceptance 21, 22: `[1, 2]` resized to three, the third written by another stream, and read there. Without order
/// between the streams, what is read is what nobody wrote. (Here the old array stays: its end would wait for the copy.)
#[test]
fn an_array_goes_from_stream_to_stream() {
    protected_by(Protection::Order, |device| {
        device.scope(|ctx| {
            let mut old = ctx.buffer::<u32>(2)?;
            old.copy_from_host(&[1, 2])?;
            let mut host = [0; 3];
            ctx.alloc((uninit::<u32>(3),), |(mut new,)| {
                ctx.streams(|s| {
                    let (a, b) = (s.stream()?, s.stream()?);
                    a.copy_from(&mut new.slice_mut(..2), &old)?;
                    b.fill(&mut new.slice_mut(2..), 3)?;
                    b.copy_to_host(&new, &mut host)?.wait().map(drop)
                })
            })?;
            scoped_gpu::ok(host == [1, 2, 3])
        })
    });
}

/// New memory holds garbage: arrays are zero since they are filled, and one that is not is not.
#[test]
fn new_memory_holds_garbage() {
    let zero = |x: Vec<u32>| x == [0; 8];
    let zeroed = right(None, |device| {
        device.scope(|ctx| ctx.alloc((zeros::<u32>(8),), |(x,)| Ok::<_, Error>(zero(x.to_vec()?))))
    });
    let unspecified = right(None, |device| {
        device.scope(|ctx| ctx.alloc((uninit::<u32>(8),), |(x,)| Ok::<_, Error>(zero(x.to_vec()?))))
    });
    assert_eq!((zeroed, unspecified), (SEEDS, 0));
}

/// Acceptance 11, 17: while a buffer is open somebody else resets, and the same address is handed out again. A handle
/// that is not told frees memory that is another's by now.
#[test]
fn a_reset_from_outside_and_the_same_address_again() {
    let survives = |without| {
        let probe = Probe::default();
        let device = Device::host_with(options(1, without).probe(&probe));
        let address = |shown: String| shown.split(" at ").nth(1).map(str::to_owned);
        let mut met = Vec::new();
        let closed = device.scope(|ctx| {
            let old = ctx.buffer::<u32>(100)?;
            let stale = address(format!("{old:?}"));
            probe.reset_from_outside();
            let inner = device.scope(|ctx| {
                let mut new = ctx.buffer::<u32>(100)?;
                assert_eq!(address(format!("{new:?}")), stale, "handed out at once");
                new.fill(4)?;
                drop(old);
                new.to_vec()
            });
            met.extend(inner.err());
            scoped_gpu::ok(())
        });
        met.extend(closed.err());
        let lost = met.iter().all(|error| matches!(error.kind(), ErrorKind::ContextLost));
        let again = device.scope(|ctx| ctx.buffer::<u8>(3)?.to_vec());
        lost && !met.is_empty() && matches!(again.as_deref(), Ok([0, 0, 0]))
    };
    assert!(survives(None), "every call says that the context was lost, and the next scope works");
    assert!(!survives(Some(Protection::NoticeReset)), "the old handle's end freed what was another's");
}

/// Acceptance 26: a gate holds a stream, and whoever waits for it, until it opens. The same gate shows a wait that does
/// not wait.
#[test]
fn a_gate_holds_whoever_waits() {
    let waits = |without| {
        let device = Device::host_with(options(3, without));
        let (open, gate) = mpsc::channel::<()>();
        let (passed, early) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                // long enough for a wait that does not wait to be caught
                std::thread::sleep(Duration::from_millis(100));
                early.store(passed.load(Ordering::SeqCst), Ordering::SeqCst);
                open.send(())
            });
            device.scope(|ctx| {
                ctx.streams(|s| {
                    let stream = s.stream()?;
                    stream.call(move || _ = gate.recv())?;
                    stream.record()?.wait()?;
                    passed.store(true, Ordering::SeqCst);
                    scoped_gpu::ok(())
                })
            })
        })
        .expect("nothing fails");
        !early.load(Ordering::SeqCst)
    };
    assert!(waits(None));
    assert!(!waits(Some(Protection::FreeBehindWork)), "the gate catches a wait that does not wait");
}

/// Acceptance 23: while a gate holds one stream, other streams are waited for and memory comes and goes; if any of it
/// waited for the gate, nobody would open it.
#[test]
fn a_gate_holds_nobody_else() {
    for options in (0..SEEDS).map(|seed| options(seed, None)).chain([HostOptions::new()]) {
        let device = Device::host_with(options);
        let (open, gate) = mpsc::channel::<()>();
        device
            .scope(|ctx| {
                ctx.streams(|s| {
                    let (busy, other) = (s.stream()?, s.stream()?);
                    busy.call(move || _ = gate.recv())?;
                    for round in 0..10 {
                        let mut x = ctx.buffer::<u32>(64)?;
                        other.fill(&mut x, round)?;
                        assert_eq!(x.to_vec()?, [round; 64]);
                        other.fill(&mut x, 7)?;
                        drop(x);
                    }
                    other.synchronize()?;
                    open.send(()).expect("the gate is there");
                    scoped_gpu::ok(())
                })
            })
            .expect("nothing fails");
    }
}

/// Acceptance 13: of ten arrays the device does not take one back: the other nine are freed all the same, and the scope
/// says which call failed. What a cleanup that ends at its first error leaves is shown in the device's own tests.
#[test]
fn one_of_ten_frees_fails() {
    for nth in 1..=10 {
        let probe = Probe::default();
        let device = Device::host_with(options(5, None).probe(&probe));
        let result = device.scope(|ctx| {
            let mut buffers = (0..10).map(|_| ctx.buffer::<u32>(10)).collect::<Result<Vec<_>, _>>()?;
            ctx.synchronize()?;
            // of a drop's two calls, making the context current is the first and freeing the second
            probe.fail_call(2 * nth, Failure::Once);
            while let Some(buffer) = buffers.pop() {
                drop(buffer);
            }
            assert_eq!(probe.statistics().allocations, 1);
            scoped_gpu::ok(())
        });
        let error = result.expect_err("the scope says which call failed");
        assert!(matches!(error.kind(), ErrorKind::Driver { call: "free", code: 999, .. }), "{error}");
        assert_eq!((error.location().file(), probe.failed()), (file!(), vec!["free"]));
        assert_eq!(device.memory().freed, 10);
    }
}
