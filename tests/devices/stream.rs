//! Streams: order within one and between several, host memory borrowed and given back, joining; events and time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use scoped_gpu::{
    Context, Error, ErrorKind, Kernel, Launch, Linear, Read, ReadWrite, Rect, filled, linear, pitched, zeros,
};

use crate::harness::{Case, Chapter, Test, test};
use crate::launch::faults;

type Saxpy = (f32, Read<f32>, ReadWrite<f32>, u32);

pub fn saxpy<'ctx>(ctx: &Context<'ctx>) -> Result<Kernel<'ctx, Saxpy>, Error> {
    ctx.module(include_str!("../../ptx/saxpy.ptx"))?.kernel("saxpy")
}

/// A kernel whose one thread adds 1 to the first element, so many times: work that takes a while.
pub fn slow_add<'ctx>(ctx: &Context<'ctx>) -> Result<Kernel<'ctx, (ReadWrite<u32>, u32)>, Error> {
    faults(ctx)?.kernel("slow_add")
}

/// One stream keeps the order of its calls.
fn one_stream_is_in_order(case: &mut Case) -> Result<()> {
    let input = [5.0f32; 40];
    let mut output = [0.0f32; 40];
    case.device.scope(|ctx| {
        let saxpy = saxpy(ctx)?;
        ctx.alloc((zeros::<f32>(40), zeros::<f32>(40)), |(mut x, mut y)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                stream.copy_from_host(&mut x, &input)?;
                stream.fill(&mut y, 1.0)?;
                stream.launch(&saxpy, Launch::cover(40), (2.0, &x, &mut y, 40))?;
                stream.fill(&mut x, 100.0)?;
                stream.launch(&saxpy, Launch::cover(40), (1.0, &x, &mut y, 40))?;
                let _queued = stream.copy_to_host(&y, &mut output)?;
                stream.fill(&mut y, -1.0)
            })
        })
    })?;
    assert_eq!(output, [111.0; 40]);
    Ok(())
}

/// An array that goes from stream to stream is always used after what was queued on it before, by whichever stream.
fn order_between_streams(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let (saxpy, slow) = (saxpy(ctx)?, slow_add(ctx)?);
        let ones = linear(&[1.0f32; 33]);
        ctx.alloc((ones, zeros::<f32>(33), zeros::<u32>(1)), |(x, mut y, mut delay)| {
            ctx.streams(|s| {
                let streams = (0..4).map(|_| s.stream()).collect::<Result<Vec<_>, _>>()?;
                for round in 0..40 {
                    let stream = &streams[round * 7 % 4];
                    if round % 5 == 0 {
                        stream.launch(&slow, Launch::grid(1, 1), (&mut delay, 200))?;
                    }
                    // y = 2y + 1, in two steps that do not commute with those of any other round
                    let before = y.slice(..1).to_vec()?[0];
                    ensure!(before == [0.0, 3.0, 9.0, 21.0][round % 4], "round {round}: {before}");
                    if round % 4 == 3 {
                        stream.fill(&mut y, 0.0)?;
                        continue;
                    }
                    ctx.alloc((zeros::<f32>(33),), |(mut copy,)| {
                        streams[round % 3].copy_from(&mut copy, &y)?;
                        stream.launch(&saxpy, Launch::cover(33), (1.0, &copy, &mut y, 33))?;
                        streams[(round + 1) % 4].launch(&saxpy, Launch::cover(33), (3.0, &x, &mut y, 33))
                    })?;
                }
                Ok(())
            })?;
            ensure!(delay.to_vec()? == [1600], "every delay ran to its end");
            Ok(())
        })
    })
}

/// The same chain without a look in between, so that everything is queued before anything must run.
fn order_without_looking(case: &mut Case) -> Result<()> {
    let last = case.device.scope(|ctx| {
        let (saxpy, slow) = (saxpy(ctx)?, slow_add(ctx)?);
        let specs = (linear(&[1.0f32; 5]), zeros::<f32>(5), zeros::<f32>(5), zeros::<u32>(1));
        ctx.alloc(specs, |(one, mut y, mut copy, mut delay)| {
            ctx.streams(|s| {
                let streams = [s.stream()?, s.stream()?, s.stream()?];
                for round in 0..20 {
                    let [a, b, c] = [0, 1, 2].map(|i| &streams[(round + i) % 3]);
                    a.launch(&slow, Launch::grid(1, 1), (&mut delay, 50))?;
                    a.copy_from(&mut copy, &y)?;
                    b.launch(&saxpy, Launch::cover(5), (1.0, &copy, &mut y, 5))?;
                    c.launch(&saxpy, Launch::cover(5), (1.0, &one, &mut y, 5))?;
                }
                scoped_gpu::ok(())
            })?;
            y.to_vec()
        })
    })?;
    // y = 2y + 1, twenty times
    assert_eq!(last, [((1 << 20) - 1) as f32; 5]);
    Ok(())
}

/// Reads on several streams share what a write before them left; a write after them waits for all.
fn reads_share_and_a_write_waits(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        let outputs = || (0..4).map(|_| zeros::<u32>(64));
        ctx.alloc((filled(64, 7u32), zeros::<u32>(1)), |(mut x, mut delay)| {
            ctx.alloc_each(outputs(), |mut copies| {
                ctx.streams(|s| {
                    let (writer, readers) =
                        (s.stream()?, [s.stream()?, s.stream()?, s.stream()?, s.stream()?]);
                    writer.fill(&mut x, 8)?;
                    for (reader, copy) in readers.iter().zip(&mut copies) {
                        reader.launch(&slow, Launch::grid(1, 1), (&mut delay, 100))?;
                        reader.copy_from(copy, &x)?;
                    }
                    writer.fill(&mut x, 9)
                })?;
                for copy in &copies {
                    assert_eq!(copy.to_vec()?, [8; 64]);
                }
                assert_eq!(x.to_vec()?, [9; 64]);
                scoped_gpu::ok(())
            })
        })
    })?;
    Ok(())
}

/// The context's own calls keep to the same order as streams do.
fn blocking_calls_are_in_order_too(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        ctx.alloc((zeros::<u32>(3),), |(mut x,)| {
            ctx.streams(|s| {
                let (a, b) = (s.stream()?, s.stream()?);
                a.launch(&slow, Launch::grid(1, 1), (&mut x, 500))?;
                assert_eq!(x.to_vec()?, [500, 0, 0], "a read of the context's waits for the stream");
                x.fill(1)?;
                b.launch(&slow, Launch::grid(1, 1), (&mut x, 500))?;
                x.slice_mut(1..).copy_from_host(&[2, 3])?;
                let mut host = [0; 3];
                x.copy_to_host(&mut host)?;
                assert_eq!(host, [501, 2, 3]);
                scoped_gpu::ok(())
            })
        })
    })?;
    Ok(())
}

/// `wait` gives the slice back while the scope goes on, so that it can be read, changed and used again.
fn wait_gives_the_slice_back(case: &mut Case) -> Result<()> {
    let mut host = vec![0u16; 50];
    case.device.scope(|ctx| {
        ctx.alloc((filled(50, 3u16), zeros::<u16>(50)), |(x, mut y)| {
            ctx.streams(|s| {
                let (a, b) = (s.stream()?, s.stream()?);
                let slice = a.copy_to_host(&x, &mut host)?.wait()?;
                assert_eq!(slice, [3; 50]);
                slice.fill(4);
                b.copy_from_host(&mut y, slice)
            })?;
            assert_eq!(y.to_vec()?, [4; 50]);
            scoped_gpu::ok(())
        })
    })?;
    assert_eq!(host, [4; 50]);
    Ok(())
}

/// Rectangles, rows and three dimensions through a stream.
fn pitched_copies_are_queued_too(case: &mut Case) -> Result<()> {
    let host: Vec<i64> = (0..60).collect();
    let (mut whole, mut rows) = (vec![0; 60], vec![0; 12]);
    case.device.scope(|ctx| {
        ctx.alloc((pitched::<i64>(6, 10), pitched::<i64>(6, 10)), |(mut a, mut b)| {
            ctx.streams(|s| {
                let (first, second) = (s.stream()?, s.stream()?);
                first.copy_from_host(&mut a, &host)?;
                second.copy_from(&mut b, &a)?;
                second.fill(&mut b.rect_mut(Rect::new(0, 0, 1, 10)), -1)?;
                let _later = first.copy_to_host(&b, &mut whole)?;
                let _later = second.copy_to_host(&a.rows(3..5), &mut rows)?;
                scoped_gpu::ok(())
            })
        })
    })?;
    let expected: Vec<i64> = host.iter().map(|&i| if i % 6 == 0 { -1 } else { i }).collect();
    assert_eq!((whole, rows.as_slice()), (expected, &host[18..30]));
    Ok(())
}

/// A closure's error goes on after all streams have joined: what was queued is done, borrowed memory is settled.
fn joins_on_error(case: &mut Case) -> Result<()> {
    let mut host = [0u32; 4];
    let result: Result<()> = case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        ctx.alloc((zeros::<u32>(4),), |(mut x,)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                stream.launch(&slow, Launch::grid(1, 1), (&mut x, 1000))?;
                let _queued = stream.copy_to_host(&x, &mut host)?;
                anyhow::bail!("before any wait")
            })
        })
    });
    assert_eq!(result.expect_err("the closure's").to_string(), "before any wait");
    assert_eq!(host, [1000, 0, 0, 0]);
    Ok(())
}

/// The same with a panic.
fn joins_on_panic(case: &mut Case) -> Result<()> {
    let mut host = [0u32; 4];
    let payload = catch_unwind(AssertUnwindSafe(|| {
        case.device.scope(|ctx| {
            let slow = slow_add(ctx)?;
            ctx.alloc((zeros::<u32>(4),), |(mut x,)| {
                ctx.streams(|s| {
                    let stream = s.stream()?;
                    stream.launch(&slow, Launch::grid(1, 1), (&mut x, 1000))?;
                    let _queued = stream.copy_to_host(&x, &mut host)?;
                    resume_unwind(Box::new("out of here"));
                    #[expect(unreachable_code, reason = "gives the closure its type")]
                    scoped_gpu::ok(())
                })
            })
        })
    }));
    assert_eq!(
        payload.err().and_then(|payload| payload.downcast_ref::<&str>().copied()),
        Some("out of here")
    );
    assert_eq!(host, [1000, 0, 0, 0]);
    Ok(())
}

/// A queued copy behind a fault: the wait says so, and the scope, which ends later, has stopped all.
fn wait_behind_a_fault(case: &mut Case) -> Result<()> {
    let mut host = [7u32; 4];
    case.device.scope(|ctx| {
        let store = faults(ctx)?.kernel::<(ReadWrite<u32>, u64, u32)>("store")?;
        ctx.alloc((zeros::<u32>(4),), |(mut x,)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                stream.launch(&store, Launch::grid(1, 1), (&mut x, 16, 0))?;
                let error = stream.copy_to_host(&x, &mut host)?.wait().expect_err("the launch's fault");
                assert!(error.fault().is_some(), "{error}");
                scoped_gpu::ok(())
            })
        })
    })?;
    assert_eq!(host, [0; 4], "a checked fault stops nothing behind it");
    Ok(())
}

/// `[1, 2]` resized to three, the third written, read: a new buffer, a queued copy, the old one freed at once.
fn resize_with_the_copy_in_flight(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        for round in 0..1000 {
            let mut old = ctx.buffer::<u32>(2)?;
            old.copy_from_host(&[1, 2])?;
            ctx.streams(|s| {
                let (a, b) = (s.stream()?, s.stream()?);
                let mut new = ctx.buffer::<u32>(3)?;
                a.copy_from(&mut new.slice_mut(..2), &old)?;
                drop(old);
                b.fill(&mut new.slice_mut(2..), 3)?;
                ensure!(new.to_vec()? == [1, 2, 3], "round {round}");
                Ok(())
            })?;
        }
        Ok(())
    })
}

/// The same with pitched arrays, of which the old one ends with its closure: the copy from it is still in flight.
fn resize_at_the_end_of_alloc_pitched(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        ctx.alloc((pitched::<u32>(3, 1), zeros::<u32>(1)), |(mut new, mut delay)| {
            for round in 0..200 {
                ctx.streams(|s| {
                    let (a, b) = (s.stream()?, s.stream()?);
                    ctx.alloc_pitched(2, 1, |mut old| {
                        old.copy_from_host(&[1, 2])?;
                        a.launch(&slow, Launch::grid(1, 1), (&mut delay, 20))?;
                        a.copy_from(&mut new.rect_mut(Rect::new(0, 0, 2, 1)), &old)
                    })?;
                    // as large, so that it may get the same address
                    ctx.alloc_pitched(2, 1, |mut next| b.fill(&mut next, 99))?;
                    b.fill(&mut new.rect_mut(Rect::new(2, 0, 1, 1)), 3)
                })?;
                ensure!(new.to_vec()? == [1, 2, 3], "round {round}");
                new.fill(0)?;
            }
            Ok(())
        })
    })
}

/// Memory freed by its last owner while another stream still reads it: freeing waits.
fn freed_while_another_stream_reads(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        ctx.alloc((zeros::<u32>(1000), zeros::<u32>(1)), |(mut out, mut delay)| {
            for value in 0..20 {
                ctx.streams(|s| {
                    let (a, b) = (s.stream()?, s.stream()?);
                    let mut x = ctx.buffer::<u32>(1000)?;
                    a.fill(&mut x, value)?;
                    b.launch(&slow, Launch::grid(1, 1), (&mut delay, 100))?;
                    b.copy_from(&mut out, &x)?;
                    drop(x);
                    // as large, so that it may get the same address
                    let mut next = ctx.buffer::<u32>(1000)?;
                    a.fill(&mut next, 99)
                })?;
                ensure!(out.to_vec()? == [value; 1000], "{value}");
            }
            Ok(())
        })
    })
}

/// Work, a copy of its result, both arrays dropped at once, a scope of streams with nothing in it.
fn dropped_at_once(case: &mut Case) -> Result<()> {
    let mut host = [0u32; 2];
    case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        ctx.streams(|s| {
            let stream = s.stream()?;
            let (mut a, mut b) = (ctx.buffer::<u32>(2)?, ctx.buffer::<u32>(2)?);
            stream.launch(&slow, Launch::grid(1, 1), (&mut a, 20_000))?;
            stream.copy_from(&mut b, &a)?;
            let _queued = stream.copy_to_host(&b, &mut host)?;
            scoped_gpu::ok(())
        })?;
        ctx.streams(|_| scoped_gpu::ok(()))?;
        ctx.synchronize()
    })?;
    assert_eq!(host, [20_000, 0]);
    Ok(())
}

/// A scope cannot return before work that holds its stream is done.
fn scope_waits_for_long_work(case: &mut Case) -> Result<()> {
    let mut host = [0u32; 1];
    case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        ctx.alloc((zeros::<u32>(1),), |(mut x,)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                for _ in 0..4 {
                    stream.launch(&slow, Launch::grid(1, 1), (&mut x, 5000))?;
                }
                let _queued = stream.copy_to_host(&x, &mut host)?;
                scoped_gpu::ok(())
            })
        })
    })?;
    assert_eq!(host, [20_000]);
    Ok(())
}

/// Page-locked memory as the source and target of queued copies, block after block.
fn pinned_blocks(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        ctx.alloc((zeros::<u32>(300),), |(mut x,)| {
            for round in 0..10u32 {
                ctx.pinned::<u32, _, _>(300, |mut host| {
                    host.iter_mut().zip(round..).for_each(|(element, value)| *element = value);
                    ctx.streams(|s| s.stream()?.copy_from_host(&mut x, &host))
                })?;
                let expected: Vec<u32> = (round..round + 300).collect();
                assert_eq!(x.to_vec()?, expected);
            }
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Events: done in order, and time between them that is not negative and not shorter where more lies between.
fn events_measure(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        ctx.alloc((zeros::<u32>(1),), |(mut x,)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                let first = stream.record()?;
                stream.launch(&slow, Launch::grid(1, 1), (&mut x, 2000))?;
                let second = stream.record()?;
                stream.launch(&slow, Launch::grid(1, 1), (&mut x, 2000))?;
                let third = stream.record()?;
                second.wait()?;
                assert!(first.is_done()? && second.is_done()?);
                while !third.is_done()? {
                    std::hint::spin_loop();
                }
                let (whole, half) = (first.elapsed_ms(&third)?, first.elapsed_ms(&second)?);
                assert!(half > 0.0 && whole >= half, "{half} of {whole} ms");
                scoped_gpu::ok(())
            })?;
            assert_eq!(x.to_vec()?, [4000]);
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Order that no array shows, by events; one that is forgotten is given back.
fn events_order(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        ctx.alloc((zeros::<u32>(1), zeros::<u32>(1)), |(mut x, mut y)| {
            ctx.streams(|s| {
                let (a, b) = (s.stream()?, s.stream()?);
                a.launch(&slow, Launch::grid(1, 1), (&mut x, 500))?;
                let done = a.record()?;
                b.wait_for(&done)?;
                b.fill(&mut y, 1)?;
                b.synchronize()?;
                assert!(done.is_done()?, "`b` went on behind the event only");
                std::mem::forget(b.record()?);
                scoped_gpu::ok(())
            })
        })
    })?;
    Ok(())
}

/// Sizes that differ are refused before anything is queued.
fn lengths_must_agree(case: &mut Case) -> Result<()> {
    let mut host = [5u8; 9];
    case.device.scope(|ctx| {
        ctx.alloc_linear(10, |mut x: Linear<u8>| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                let short = stream.copy_from_host(&mut x, &[1; 9]).expect_err("9 for 10");
                let other = ctx.buffer::<u8>(11)?;
                let long = stream.copy_from(&mut x, &other).expect_err("11 into 10");
                let back = stream.copy_to_host(&x, &mut host).map(drop).expect_err("10 into 9");
                for error in [short, long, back] {
                    assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
                }
                scoped_gpu::ok(())
            })?;
            assert_eq!(x.to_vec()?, [0; 10]);
            scoped_gpu::ok(())
        })
    })?;
    assert_eq!(host, [5; 9]);
    Ok(())
}

/// A gate holds a stream: the scope cannot return; the gate opens: it returns.
fn scope_waits_behind_a_gate(case: &mut Case) -> Result<()> {
    let returned = AtomicBool::new(false);
    let seen_closed = AtomicBool::new(true);
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let copied = std::thread::scope(|threads| {
        threads.spawn(|| {
            // Long enough for a scope that does not wait to be caught.
            std::thread::sleep(std::time::Duration::from_millis(200));
            seen_closed.store(!returned.load(Ordering::SeqCst), Ordering::SeqCst);
            let _ = open.send(());
        });
        let mut copied = [0; 4];
        case.device.scope(|ctx| {
            ctx.alloc((zeros::<u32>(4),), |(mut x,)| {
                ctx.streams(|s| {
                    let stream = s.stream()?;
                    stream.call(move || _ = gate.recv())?;
                    stream.fill(&mut x, 5)?;
                    drop(stream.copy_to_host(&x, &mut copied)?);
                    scoped_gpu::ok(())
                })
            })
        })?;
        returned.store(true, Ordering::SeqCst);
        scoped_gpu::ok(copied)
    })?;
    assert!(seen_closed.load(Ordering::SeqCst), "the scope returned while the gate was closed");
    assert_eq!(copied, [5; 4]);
    Ok(())
}

/// Functions of the host run in the stream's order, and a panic in one goes on when the streams have joined.
fn host_functions(case: &mut Case) -> Result<()> {
    let order = std::sync::Mutex::new(Vec::new());
    let payload = catch_unwind(AssertUnwindSafe(|| {
        case.device.scope(|ctx| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                for number in 0..3 {
                    let order = &order;
                    stream.call(move || order.lock().expect("nobody panics with it").push(number))?;
                }
                stream.call(|| resume_unwind(Box::new(26)))?;
                scoped_gpu::ok(())
            })
        })
    }));
    assert_eq!(payload.err().and_then(|payload| payload.downcast_ref::<i32>().copied()), Some(26));
    assert_eq!(order.into_inner()?, [0, 1, 2]);
    Ok(())
}

const TESTS: &[Test] = &[
    test!(one_stream_is_in_order),
    test!(order_between_streams),
    test!(order_without_looking),
    test!(reads_share_and_a_write_waits),
    test!(blocking_calls_are_in_order_too),
    test!(wait_gives_the_slice_back),
    test!(pitched_copies_are_queued_too),
    test!(joins_on_error).shows(&[27]),
    test!(joins_on_panic).shows(&[27]),
    test!(wait_behind_a_fault).shows(&[27]),
    test!(resize_with_the_copy_in_flight).shows(&[22]),
    test!(resize_at_the_end_of_alloc_pitched).shows(&[22]),
    test!(freed_while_another_stream_reads).shows(&[24]),
    test!(dropped_at_once).shows(&[21]),
    test!(scope_waits_for_long_work).shows(&[26]),
    test!(scope_waits_behind_a_gate).shows(&[26]),
    test!(host_functions),
    test!(pinned_blocks).shows(&[25]),
    test!(events_measure),
    test!(events_order),
    test!(lengths_must_agree),
];

pub const CHAPTER: Chapter = Chapter { name: "stream", tests: TESTS };
