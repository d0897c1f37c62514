//! Cleanup that goes wrong: it is finished all the same, the first cause is what the caller sees, and a closure's own
//! error or panic is never replaced by it. What goes wrong here is a launch that nobody waited for.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use anyhow::{Result, bail, ensure};
use scoped_gpu::{
    Context, Device, Error, ErrorKind, Failure, FaultKind, Launch, ReadWrite, Reset, pitched, zeros,
};

use crate::harness::{Case, Chapter, Test, test};
use crate::launch::faults;

/// Leaves a fault behind for whoever closes next.
fn leave_a_fault(ctx: &Context<'_>) -> Result<(), Error> {
    let null = faults(ctx)?.kernel::<()>("store_null")?;
    ctx.launch(&null, Launch::grid(1, 1), ())
}

fn is_null(error: Option<Error>) -> bool {
    error.is_some_and(|error| error.fault().is_some_and(|fault| fault.kind == FaultKind::Null))
}

/// A closure's `Ok` and a cleanup that fails: the cleanup's error.
fn ok_becomes_the_cleanups_error(case: &mut Case) -> Result<()> {
    let result = case.device.scope(|ctx| {
        let _kept = ctx.buffer::<f32>(10)?;
        leave_a_fault(ctx)
    });
    assert!(is_null(result.err()) && is_null(case.expected_cleanup()));
    Ok(())
}

/// A closure's `Err` and a cleanup that fails: the closure's, and the other to the side.
fn err_stays_and_cleanup_is_beside_it(case: &mut Case) -> Result<()> {
    let result: Result<()> = case.device.scope(|ctx| {
        ctx.alloc((zeros::<f32>(10), pitched::<u8>(10, 10)), |_arrays| {
            leave_a_fault(ctx)?;
            bail!("mine")
        })
    });
    assert_eq!(result.expect_err("mine").to_string(), "mine");
    assert!(is_null(case.expected_cleanup()));
    assert_eq!(case.device.memory().freed, 2);
    // the next scope that ends well clears it
    case.device.scope(|ctx| ctx.buffer::<u8>(1)?.to_vec())?;
    assert!(case.device.last_cleanup().is_none());
    Ok(())
}

/// The same with a panic.
fn panic_stays_and_cleanup_is_beside_it(case: &mut Case) -> Result<()> {
    let payload = catch_unwind(AssertUnwindSafe(|| {
        case.device.scope(|ctx| {
            ctx.alloc((zeros::<f32>(10), pitched::<u8>(10, 10)), |_arrays| {
                leave_a_fault(ctx)?;
                resume_unwind(Box::new(15));
                #[expect(unreachable_code, reason = "gives the closure its type")]
                scoped_gpu::ok(())
            })
        })
    }));
    assert_eq!(payload.err().and_then(|payload| payload.downcast_ref::<i32>().copied()), Some(15));
    assert!(is_null(case.expected_cleanup()));
    assert_eq!(case.device.memory().freed, 2);
    Ok(())
}

/// Two devices, of which the inner one's close fails: the outer one is closed too, and the error is the inner one's.
fn one_of_two_devices_fails(case: &mut Case) -> Result<()> {
    let other = case.another()?;
    let both = |first: &Device, second: &Device| {
        first.scope(|outer| {
            std::mem::forget(outer.buffer::<f32>(10)?);
            second.scope(|inner| {
                std::mem::forget(inner.buffer::<f32>(10)?);
                leave_a_fault(inner)
            })
        })
    };
    let error = both(&case.device, &other).expect_err("the second device's fault");
    assert!(is_null(Some(error)) && is_null(other.last_cleanup()));
    assert!(case.device.last_cleanup().is_none(), "the first device's cleanup met nothing");
    assert_eq!((case.device.memory().freed, other.memory().freed), (1, 1));
    Ok(())
}

/// Faults on several streams, and none waited for: the first is the error, the others come with it.
fn several_causes_are_one_error(case: &mut Case) -> Result<()> {
    let result: Result<(), Error> = case.device.scope(|ctx| {
        let store = faults(ctx)?.kernel::<(ReadWrite<u32>, u64, u32)>("store")?;
        ctx.alloc((zeros::<u32>(4), zeros::<u32>(4)), |(mut x, mut y)| {
            ctx.streams(|s| {
                let (a, b) = (s.stream()?, s.stream()?);
                a.launch(&store, Launch::grid(1, 1), (&mut x, 16, 0))?;
                b.launch(&store, Launch::grid(1, 1), (&mut y, 32, 0))
            })
        })
    });
    let error = result.expect_err("two faults");
    let offset =
        |error: &Error| error.fault().and_then(|fault| fault.buffer.as_ref()).map(|buffer| buffer.offset);
    assert_eq!(
        (offset(&error), error.also().iter().map(offset).collect::<Vec<_>>()),
        (Some(16), vec![Some(32)])
    );
    case.expected_cleanup();
    Ok(())
}

/// A device with a fault behind it resets, and works.
fn reset_after_a_fault(case: &mut Case) -> Result<()> {
    let result = case.device.scope(leave_a_fault);
    assert!(is_null(result.err()));
    assert_eq!(case.device.reset()?, Reset::Recovered);
    let read = case.device.scope(|ctx| {
        let mut x = ctx.buffer::<u64>(5)?;
        x.fill(9)?;
        x.to_vec()
    })?;
    assert_eq!(read, [9; 5]);
    Ok(())
}

/// A launch cannot be made to follow what another stream has queued on its array: what is queued there is still waited
/// for before the array is freed. Each call of the program fails in turn, so that one of them is the wait between streams.
fn failed_order_between_streams_forgets_no_use(case: &mut Case) -> Result<()> {
    let mut failed = 0;
    for k in 1.. {
        let device = Device::host_with(case.host_options().fail_call(k, Failure::Once));
        let result = device.scope(|ctx| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                // zeroed on the context's stream, which nobody waits for
                ctx.alloc((zeros::<u32>(64),), |(mut x,)| {
                    stream.fill(&mut x, 1)?;
                    ctx.alloc((zeros::<u32>(64),), |(mut y,)| y.copy_from(&x))
                })
            })
        });
        ensure!(device.memory().live == 0, "call {k}: {:?}", device.memory());
        match result {
            Ok(()) => break,
            Err(error) => {
                let injected = |error: &Error| matches!(error.kind(), ErrorKind::Driver { code: 999, .. });
                let cleanup = device.last_cleanup();
                let all = [Some(&error), cleanup.as_ref()];
                let mut each = all.into_iter().flatten().flat_map(|one| iter::once(one).chain(one.also()));
                ensure!(each.all(injected), "call {k}: {error}, {cleanup:?}");
                failed += 1;
            }
        }
    }
    ensure!(failed > 10, "only {failed} calls failed");
    Ok(())
}

const TESTS: &[Test] = &[
    test!(ok_becomes_the_cleanups_error).shows(&[15]),
    test!(err_stays_and_cleanup_is_beside_it).shows(&[15]),
    test!(panic_stays_and_cleanup_is_beside_it).shows(&[15]),
    test!(one_of_two_devices_fails).shows(&[14]),
    test!(several_causes_are_one_error).shows(&[13]),
    test!(reset_after_a_fault).resets(),
    test!(failed_order_between_streams_forgets_no_use).only_host().shows(&[13]),
];

pub const CHAPTER: Chapter = Chapter { name: "cleanup", tests: TESTS };
