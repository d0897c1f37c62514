//! Kernels that go on after a fault, or without end: what is known of them meanwhile, and what ends them.

use std::time::{Duration, Instant};

use anyhow::Result;
use scoped_gpu::{Context, Fault, FaultKind, Launch, ReadWrite, filled};

use crate::fault::fault_of;
use crate::harness::{Case, Chapter, Test, test};
use crate::launch::faults;

/// A kernel that goes on after its fault: what was recorded is known before it ends, and is the error of the wait too.
fn fault_so_far(case: &mut Case) -> Result<()> {
    // On a GPU the kernel runs for a second by itself; elsewhere it runs when somebody waits.
    let by_itself = !case.is_host() && !case.is_stand_in();
    let rounds: u64 = if by_itself { 1 << 23 } else { 100 };
    case.device.scope(|ctx| {
        let stay = faults(ctx)?.kernel::<(ReadWrite<u32>, u64, u64)>("store_and_stay")?;
        ctx.alloc((filled(64, 1u32),), |(mut x,)| {
            assert_eq!(ctx.fault_so_far()?, None, "nothing was launched");
            let launch = Launch::grid(1, 1);
            for launch in [launch, launch.diagnose()] {
                ctx.launch(&stay, launch, (&mut x, 256, rounds))?;
                let early = match by_itself && launch == launch.diagnose() {
                    true => Some(soon(ctx)?),
                    false => ctx.fault_so_far()?,
                };
                let waits = Instant::now();
                let error = ctx.synchronize().expect_err("a store past the end");
                if by_itself {
                    assert!(
                        waits.elapsed() > Duration::from_millis(50),
                        "it was over: {:?}",
                        waits.elapsed()
                    );
                    assert_eq!(early.is_some(), launch == launch.diagnose(), "known while it runs");
                }
                let fault = fault_of(&error)?;
                assert_eq!(fault.kind, FaultKind::OutOfRange, "{fault}");
                assert!(early.is_none_or(|early| early == *fault));
                assert_eq!(ctx.fault_so_far()?, None, "it was returned");
            }
            Ok(())
        })
    })
}

/// What `fault_so_far` says as soon as it says something.
fn soon(ctx: &Context<'_>) -> Result<Fault> {
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        if let Some(fault) = ctx.fault_so_far()? {
            return Ok(fault);
        }
    }
    anyhow::bail!("nothing was recorded in ten seconds")
}

/// A kernel that never ends after its fault, ended by its budget: the fault is told, not the budget.
fn fault_before_the_budget(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let stay = faults(ctx)?.kernel::<(ReadWrite<u32>, u64, u64)>("store_and_stay")?;
        ctx.alloc((filled(64, 1u32),), |(mut x,)| {
            let launch = Launch::grid(1, 1).max_steps(2000);
            for launch in [launch, launch.diagnose()] {
                ctx.launch(&stay, launch, (&mut x, 256, u64::MAX))?;
                let error = ctx.synchronize().expect_err("a store past the end");
                assert_eq!(fault_of(&error)?.kind, FaultKind::OutOfRange, "{error}");
                ctx.launch(&stay, launch, (&mut x, 0, u64::MAX))?;
                let error = ctx.synchronize().expect_err("it never ends");
                assert_eq!(fault_of(&error)?.kind, FaultKind::StepLimit { steps: 2000 }, "{error}");
            }
            assert_eq!(x.slice(..2).to_vec()?, [7, 1]);
            Ok(())
        })
    })
}

const TESTS: &[Test] = &[test!(fault_so_far), test!(fault_before_the_budget)];

pub const CHAPTER: Chapter = Chapter { name: "endless", tests: TESTS };
