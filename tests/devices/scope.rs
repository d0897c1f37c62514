//! Scopes: what comes back from one, what it gives back, whatever happened in it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use scoped_gpu::{Buffer, Context, Device, Error, Linear, Pitched, Reset, filled, pitched, zeros};

use crate::harness::{Case, Chapter, Kind, Test, test};

/// A closure's value is the scope's.
fn value_comes_back(case: &mut Case) -> anyhow::Result<()> {
    let sum = case.device.scope(|ctx| {
        ctx.alloc((filled(1000, 3u32),), |(x,)| Ok::<_, Error>(x.to_vec()?.into_iter().sum::<u32>()))
    })?;
    assert_eq!(sum, 3000);
    Ok(())
}

/// An error type of a caller's own.
#[derive(Debug, PartialEq)]
enum Mine {
    Own(&'static str),
    Gpu(String),
}

impl From<Error> for Mine {
    fn from(error: Error) -> Self {
        Self::Gpu(error.to_string())
    }
}

/// A closure's `Err` comes back as it was, from within arrays, a buffer and a scope of streams; all is freed.
fn error_of_the_closure_is_unchanged(case: &mut Case) -> anyhow::Result<()> {
    let result: Result<(), Mine> = case.device.scope(|ctx| {
        let _kept = ctx.buffer::<f64>(10)?;
        ctx.alloc((zeros::<f32>(100), pitched::<u8>(7, 9)), |_arrays| {
            ctx.streams(|s| {
                let _stream = s.stream()?;
                Err(Mine::Own("stop here"))
            })
        })
    });
    assert_eq!(result, Err(Mine::Own("stop here")));
    assert_eq!(case.device.memory().freed, 3);
    Ok(())
}

/// A panic's payload goes on when all is freed, and the device is as good as before.
fn panic_goes_on_after_cleanup(case: &mut Case) -> anyhow::Result<()> {
    let payload = catch_unwind(AssertUnwindSafe(|| {
        case.device.scope(|ctx| {
            let _kept = ctx.buffer::<u16>(10)?;
            ctx.alloc((zeros::<f32>(100), zeros::<f32>(200)), |(mut x, _y)| {
                x.fill(1.0)?;
                // without the panic hook, which would print a message about a panic that is wanted
                resume_unwind(Box::new(4711));
                #[expect(unreachable_code, reason = "gives the closure its type")]
                scoped_gpu::ok(())
            })
        })
    }));
    assert_eq!(payload.err().and_then(|payload| payload.downcast::<i32>().ok()), Some(Box::new(4711)));
    assert_eq!(case.device.memory().freed, 3);
    value_comes_back(case)
}

/// Scopes nest, on one device and on two.
fn scopes_nest(case: &mut Case) -> anyhow::Result<()> {
    let other = case.another()?;
    let device = &case.device;
    let sums = device.scope(|outer| {
        outer.alloc((filled(8, 1i32),), |(x,)| {
            let same = device.scope(|inner| inner.alloc((filled(8, 2i32),), |(y,)| y.to_vec()))?;
            assert_eq!(device.memory().count, 1, "the inner scope has ended");
            let far = other.scope(|inner| inner.alloc((filled(8, 3i32),), |(y,)| y.to_vec()))?;
            scoped_gpu::ok([x.to_vec()?[0], same[7], far[7]])
        })
    })?;
    assert_eq!(sums, [1, 2, 3]);
    assert_eq!(other.memory().live, 0);
    Ok(())
}

/// One context used from several threads that never touched the device before.
fn context_shared_by_threads(case: &mut Case) -> anyhow::Result<()> {
    fn work(ctx: &Context<'_>, seed: u64) -> Result<u64, Error> {
        ctx.alloc((filled(64, seed),), |(x,)| Ok(x.to_vec()?.into_iter().sum()))
    }
    let sums = case.device.scope(|ctx| {
        std::thread::scope(|threads| {
            let spawned: Vec<_> = (0..4).map(|seed| threads.spawn(move || work(ctx, seed))).collect();
            spawned.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Result<Vec<_>, _>>()
        })
    })?;
    assert_eq!(sums, [0, 64, 128, 192]);
    Ok(())
}

/// One device with a scope on each of several threads.
fn scopes_on_several_threads(case: &mut Case) -> anyhow::Result<()> {
    let device = &case.device;
    std::thread::scope(|threads| {
        let spawned: Vec<_> = (0..4u8)
            .map(|value| {
                threads.spawn(move || device.scope(|ctx| ctx.alloc((filled(33, value),), |(x,)| x.to_vec())))
            })
            .collect();
        for (value, thread) in (0..4u8).zip(spawned) {
            assert_eq!(thread.join().expect("no panic")?, [value; 33]);
        }
        Ok(())
    })
}

/// Dropping what belongs to one device while another one is in use on the same thread.
fn drops_beside_another_device(case: &mut Case) -> anyhow::Result<()> {
    let other = case.another()?;
    case.device.scope(|first| {
        let mine = first.buffer::<f32>(100)?;
        other.scope(|second| {
            let theirs = second.buffer::<f32>(200)?;
            drop(mine);
            theirs.to_vec()
        })?;
        assert_eq!(case.device.memory().count, 0);
        scoped_gpu::ok(())
    })?;
    assert_eq!(other.memory().allocated, other.memory().freed);
    Ok(())
}

/// Forgotten handles are given back by the scope, each once.
fn forgotten_buffers_are_given_back(case: &mut Case) -> anyhow::Result<()> {
    for _ in 0..10 {
        case.device.scope(|ctx| {
            for len in 1..=50 {
                std::mem::forget(ctx.buffer::<f32>(len)?);
            }
            scoped_gpu::ok(())
        })?;
        assert_eq!(case.device.memory().live, 0);
    }
    assert_eq!(case.device.memory().freed, 500);
    Ok(())
}

/// The device works again after each of several resets, and says so.
fn reset_between_scopes(case: &mut Case) -> anyhow::Result<()> {
    for value in 0..5u8 {
        let read = case.device.scope(|ctx| {
            let mut x = ctx.buffer::<u8>(100)?;
            x.fill(value)?;
            x.to_vec()
        })?;
        assert_eq!(read, [value; 100]);
        assert_eq!(case.device.reset()?, Reset::Recovered);
    }
    Ok(())
}

/// The text `at 0x…` that a handle shows of itself.
fn address(buffer: &Buffer<'_, u32>) -> String {
    let shown = format!("{buffer:?}");
    shown.split(" at ").nth(1).unwrap_or_default().to_owned()
}

/// A handle is forgotten, the device reset, and the same address handed out again: the old cleanup, which ran before
/// the reset, frees nothing of the new owner's, and the new memory is freed once.
fn stale_handle_frees_nothing(case: &mut Case) -> anyhow::Result<()> {
    let old = case.device.scope(|ctx| {
        let buffer = ctx.buffer::<u32>(1000)?;
        let old = address(&buffer);
        std::mem::forget(buffer);
        scoped_gpu::ok(old)
    })?;
    let freed = case.device.memory().freed;
    case.device.reset()?;
    let allocated = case.device.scope(|ctx| {
        let mut tried = Vec::new();
        while tried.len() < 64 && tried.last().is_none_or(|last| address(last) != old) {
            tried.push(ctx.buffer::<u32>(1000)?);
        }
        if case.kind == Kind::Hostile {
            assert_eq!(tried.last().map(address).as_ref(), Some(&old), "the address was handed out again");
        }
        let last = tried.last_mut().expect("one at least");
        last.fill(4)?;
        assert_eq!(last.to_vec()?, [4; 1000]);
        scoped_gpu::ok(tried.len() as u64)
    })?;
    assert_eq!(case.device.memory().freed, freed + allocated);
    Ok(())
}

thread_local! {
    static KEPT: RefCell<Option<Device>> = const { RefCell::new(None) };
}

/// A device that lives in a thread's local storage and ends with the thread.
fn device_in_a_thread_local(case: &mut Case) -> anyhow::Result<()> {
    let device = case.another()?;
    let thread = std::thread::spawn(move || {
        KEPT.with(|kept| {
            let mut kept = kept.borrow_mut();
            kept.insert(device).scope(|ctx| {
                std::mem::forget(ctx.buffer::<f32>(10)?);
                scoped_gpu::ok(())
            })
        })
    });
    thread.join().expect("no panic")?;
    Ok(())
}

/// Ten pitched arrays of 801 × 802, each read ten times; the same a hundred times over.
fn ten_arrays_a_hundred_times(case: &mut Case) -> anyhow::Result<()> {
    // nothing that makes the other host devices different takes part in it
    let runs = if matches!(case.kind, Kind::Host | Kind::Cuda | Kind::CudaPrimary) { 100 } else { 5 };
    let mut host = vec![0u8; 801 * 802];
    for run in 0..runs {
        case.device.scope(|ctx| {
            ctx.alloc_each((0..10).map(|_| pitched::<u8>(801, 802)), |mut arrays| {
                for (value, array) in arrays.iter_mut().enumerate() {
                    array.fill(value as u8)?;
                    for _ in 0..10 {
                        host[run] = 255;
                        array.copy_to_host(&mut host)?;
                        assert_eq!((host[run], host[801 * 802 - 1]), (value as u8, value as u8));
                    }
                    assert!(host == vec![value as u8; host.len()]);
                }
                scoped_gpu::ok(())
            })
        })?;
        assert_eq!(case.device.memory().live, 0);
    }
    assert_eq!(case.device.memory().freed, 10 * runs as u64);
    Ok(())
}

/// A function that borrows a context and arrays of any scope of it, as a numeric crate writes it.
fn library_function_borrows_the_context(case: &mut Case) -> anyhow::Result<()> {
    fn grow<'ctx>(
        ctx: &Context<'ctx>,
        from: &Linear<'_, 'ctx, i64>,
        into: &mut Pitched<'_, 'ctx, i64>,
    ) -> Result<(), Error> {
        ctx.alloc((zeros::<i64>(from.len()),), |(mut scratch,)| {
            scratch.copy_from(from)?;
            into.rows_mut(1..2).copy_from_host(&scratch.to_vec()?)
        })
    }
    let grown = case.device.scope(|ctx| {
        ctx.alloc((filled(3, 7i64),), |(x,)| {
            ctx.alloc_pitched(3, 2, |mut y| {
                grow(ctx, &x, &mut y)?;
                y.to_vec()
            })
        })
    })?;
    assert_eq!(grown, [0, 0, 0, 7, 7, 7]);
    Ok(())
}

const TESTS: &[Test] = &[
    test!(value_comes_back),
    test!(error_of_the_closure_is_unchanged).shows(&[15]),
    test!(panic_goes_on_after_cleanup).shows(&[15]),
    test!(scopes_nest),
    test!(context_shared_by_threads).shows(&[18]),
    test!(scopes_on_several_threads).shows(&[18]),
    test!(drops_beside_another_device).shows(&[18]),
    test!(forgotten_buffers_are_given_back).shows(&[19]),
    test!(reset_between_scopes).resets(),
    test!(stale_handle_frees_nothing).shows(&[11]).resets(),
    test!(device_in_a_thread_local).shows(&[20]),
    test!(ten_arrays_a_hundred_times).shows(&[16]),
    test!(library_function_borrows_the_context),
];

pub const CHAPTER: Chapter = Chapter { name: "scope", tests: TESTS };
