//! Leaks: handles that a program forgot, which their scope gave back, and the report that says where they were made.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use anyhow::{Result, ensure};
use scoped_gpu::{Error, LeakKind, zeros};

use crate::harness::{Case, Chapter, Test, test};

/// The whole report: each place once, in order, with what it made; arrays and dropped handles are not in it.
fn places_are_named(case: &mut Case) -> Result<()> {
    let (mut buffers, mut event, mut cycle) = (0, 0, 0);
    case.device.scope(|ctx| {
        ctx.alloc((zeros::<f32>(1000),), |(mut x,)| {
            for len in [10, 0, 20, 30] {
                buffers = line!() + 1;
                std::mem::forget(ctx.buffer::<f32>(len)?); // the one of no elements holds nothing
            }
            ctx.streams(|s| {
                let stream = s.stream()?;
                stream.fill(&mut x, 1.0)?;
                drop(stream.record()?);
                event = line!() + 1;
                std::mem::forget(stream.record()?);
                Ok::<_, Error>(())
            })?;
            drop(ctx.buffer::<u8>(5000)?);
            cycle = line!() + 1;
            let shared = Rc::new(ctx.buffer::<u8>(1)?);
            std::mem::forget(Rc::clone(&shared));
            Ok::<_, Error>(())
        })
    })?;
    let report = case.device.last_leaks();
    let file = file!();
    let expected = format!(
        "5 forgotten handles (241 bytes)\n  \
         {file}:{buffers}:38: 3 buffers, 240 bytes\n  \
         {file}:{event}:41: 1 event\n  \
         {file}:{cycle}:38: 1 buffer, 1 byte"
    );
    ensure!(report.to_string() == expected, "{report}\nis not\n{expected}");
    let kinds: Vec<_> = report.leaks().iter().map(|leak| (leak.kind, leak.count, leak.bytes)).collect();
    ensure!(kinds == [(LeakKind::Buffer, 3, 240), (LeakKind::Event, 1, 0), (LeakKind::Buffer, 1, 1)]);
    ensure!(case.device.memory().live == 0);
    Ok(())
}

/// A scope in which nothing is forgotten has an empty report, also after one that had some; also after an error.
fn nothing_forgotten(case: &mut Case) -> Result<()> {
    for forget in [true, false] {
        let result = case.device.scope(|ctx| {
            let buffer = ctx.buffer::<f64>(4)?;
            if forget {
                std::mem::forget(buffer);
            }
            anyhow::Ok(())
        });
        ensure!(result.is_ok() && case.device.last_leaks().is_empty() != forget, "{result:?}");
    }
    ensure!(case.device.last_leaks().to_string() == "no forgotten handles");
    Ok(())
}

/// What was forgotten before an error or a panic is reported too; an inner scope's stays until the outer one has closed.
fn beside_errors_and_in_inner_scopes(case: &mut Case) -> Result<()> {
    let device = &case.device;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        device.scope(|outer| {
            std::mem::forget(outer.buffer::<u8>(3)?);
            let inner: Result<()> = device.scope(|inner| {
                std::mem::forget(inner.buffer::<u8>(4)?);
                anyhow::bail!("stop")
            });
            assert!(inner.is_err() && device.last_leaks().bytes() == 4);
            resume_unwind(Box::new(1));
            #[expect(unreachable_code, reason = "gives the closure its type")]
            scoped_gpu::ok(())
        })
    }));
    ensure!(outcome.is_err());
    ensure!((device.last_leaks().count(), device.last_leaks().bytes()) == (2, 7), "{}", device.last_leaks());
    Ok(())
}

const TESTS: &[Test] = &[
    test!(places_are_named).shows(&[19]),
    test!(nothing_forgotten),
    test!(beside_errors_and_in_inner_scopes).shows(&[15]),
];

pub const CHAPTER: Chapter = Chapter { name: "leaks", tests: TESTS };
