//! Threads: one context that many use at once, many contexts on one device, handles that go from thread to thread. What
//! the threads do is random or meant to collide; statistics and contents are as if they had come one after the other.

use std::sync::mpsc;
use std::thread;

use anyhow::{Result, ensure};
use scoped_gpu::{Buffer, Context, Error, FaultKind, Launch, Linear, ReadWrite, filled, linear, zeros};

use crate::harness::{Case, Chapter, Test, test};
use crate::launch::faults;
use crate::stream::{saxpy, slow_add};

/// More than there are processors, so that threads stop in the middle of things.
const THREADS: usize = 8;

/// Runs `work` on every thread, with its number; the first error comes back, in the order of the numbers.
fn on_each_thread(work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    thread::scope(|threads| {
        let work = &work;
        let spawned: Vec<_> = (0..THREADS).map(|number| threads.spawn(move || work(number))).collect();
        spawned.into_iter().try_for_each(|thread| thread.join().expect("the threads do not panic"))
    })
}

/// Allocates, launches, copies, forgets and drops, and says what it left: forgotten buffers.
fn busy(ctx: &Context<'_>, number: usize) -> Result<u64> {
    let saxpy = saxpy(ctx)?;
    let mut forgotten = 0;
    for round in 0..30 {
        let n = 1 + (number * 37 + round * 11) % 300;
        let value = (number * 100 + round) as f32;
        let mut landed = vec![0.0; n];
        ctx.alloc((filled(n, value), zeros::<f32>(n)), |(x, mut y)| {
            let mut kept = ctx.buffer::<f32>(n)?;
            ctx.streams(|s| {
                let (one, other) = (s.stream()?, s.stream()?);
                one.launch(&saxpy, Launch::cover(n), (2.0, &x, &mut y, n as u32))?;
                let event = one.record()?;
                other.wait_for(&event)?;
                other.copy_from(&mut kept, &y)?;
                let _queued = other.copy_to_host(&kept, &mut landed)?;
                Ok::<_, Error>(())
            })?;
            ensure!(landed == vec![2.0 * value; n], "thread {number}, round {round}: {landed:?}");
            ensure!(kept.to_vec()? == landed, "thread {number}, round {round}");
            if round % 3 == 0 {
                std::mem::forget(kept);
                forgotten += 1;
            }
            Ok(())
        })?;
    }
    Ok(forgotten)
}

/// One context that all threads use for everything.
fn one_context_for_all(case: &mut Case) -> Result<()> {
    let device = &case.device;
    device.scope(|ctx| {
        on_each_thread(|number| {
            ensure!(busy(ctx, number)? == 10);
            Ok(())
        })?;
        ensure!(device.memory().count == 10 * THREADS as u64, "{:?}", device.memory());
        Ok(())
    })
}

/// A scope for each thread and round on one device, which opens and closes them all the time, and trims its pool.
fn scopes_open_and_close(case: &mut Case) -> Result<()> {
    let device = &case.device;
    on_each_thread(|number| {
        for _ in 0..3 {
            ensure!(device.scope(|ctx| busy(ctx, number))? == 10);
            device.trim()?;
        }
        Ok(())
    })
}

/// An array that all threads read at once, each on a stream of its own.
fn one_array_read_by_all(case: &mut Case) -> Result<()> {
    let host: Vec<f32> = (0..500).map(|i| i as f32).collect();
    case.device.scope(|ctx| {
        ctx.alloc((linear(&host),), |(x,)| {
            on_each_thread(|number| {
                let mut landed = vec![0.0; 500];
                ctx.alloc_linear(500, |mut mine: Linear<f32>| {
                    for _ in 0..20 {
                        ctx.streams(|s| {
                            let stream = s.stream()?;
                            stream.copy_from(&mut mine, &x)?;
                            let _queued = stream.copy_to_host(&mine, &mut landed)?;
                            scoped_gpu::ok(())
                        })?;
                        ensure!(landed == host, "thread {number}");
                    }
                    Ok(())
                })
            })
        })
    })
}

/// A buffer is used on a stream of one thread and dropped, read or used again on another thread, while the stream ends.
fn buffers_go_from_thread_to_thread(case: &mut Case) -> Result<()> {
    const ROUNDS: u32 = 300;
    let device = &case.device;
    device.scope(|ctx| {
        thread::scope(|threads| {
            let mut workers = Vec::new();
            for _ in 0..THREADS / 2 {
                let (sender, receiver) = mpsc::channel::<(u32, Buffer<'_, u32>)>();
                workers.push(threads.spawn(move || -> Result<()> {
                    for round in 0..ROUNDS {
                        let mut buffer = ctx.buffer::<u32>(16)?;
                        ctx.streams(|s| {
                            s.stream()?.fill(&mut buffer, round)?;
                            ensure!(sender.send((round, buffer)).is_ok(), "the other thread has ended");
                            Ok(())
                        })?;
                    }
                    Ok(())
                }));
                workers.push(threads.spawn(move || {
                    for (round, mut buffer) in receiver {
                        if round % 3 == 1 {
                            ensure!(buffer.to_vec()? == [round; 16], "round {round}");
                        } else if round % 3 == 2 {
                            buffer.fill(7)?;
                            ensure!(buffer.to_vec()? == [7; 16], "round {round}");
                        }
                    }
                    Ok(())
                }));
            }
            workers.into_iter().try_for_each(|thread| thread.join().expect("the threads do not panic"))
        })?;
        ensure!(device.memory().count == 0, "{:?}", device.memory());
        Ok(())
    })
}

/// Running out of memory waits for the work of every stream, also of those that other threads end meanwhile.
fn out_of_memory_beside_other_threads(case: &mut Case) -> Result<()> {
    let device = &case.device;
    device.scope(|ctx| {
        let everything = device.info().memory as usize;
        on_each_thread(|number| {
            for _ in 0..50 {
                if number % 2 == 0 {
                    ensure!(ctx.buffer::<u8>(everything + 1).is_err(), "more than there is");
                } else {
                    ctx.alloc_linear(64, |mut x: Linear<u32>| {
                        ctx.streams(|s| s.stream()?.fill(&mut x, 1))?;
                        ensure!(x.to_vec()? == [1; 64]);
                        Ok(())
                    })?;
                }
            }
            Ok(())
        })
    })
}

/// Each thread gets the faults of its own launches, and no others.
fn faults_stay_with_their_threads(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let store = faults(ctx)?.kernel::<(ReadWrite<u32>, u64, u32)>("store")?;
        on_each_thread(|number| {
            for round in 0..20 {
                let faulty = (number + round) % 2 == 0;
                let offset = if faulty { 64 + 4 * number as u64 } else { 0 };
                let result = ctx.alloc((zeros::<u32>(16),), |(mut x,)| {
                    ctx.streams(|s| s.stream()?.launch(&store, Launch::grid(1, 32), (&mut x, offset, 5)))?;
                    x.to_vec()
                });
                match result {
                    Ok(x) => ensure!(!faulty && x[0] == 5, "thread {number}, round {round}: {x:?}"),
                    Err(error) => {
                        let Some(fault) = error.fault() else { return Err(error.into()) };
                        let at = fault.buffer.as_ref().map(|buffer| buffer.offset);
                        let mine = fault.kind == FaultKind::OutOfRange && at == Some(i128::from(offset));
                        ensure!(faulty && mine, "thread {number}, round {round}: {error}");
                    }
                }
            }
            Ok(())
        })
    })?;
    case.expected_cleanup();
    Ok(())
}

/// Threads that launch on one context, each on streams of its own.
fn threads_with_streams_of_their_own(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let saxpy = saxpy(ctx)?;
        thread::scope(|threads| {
            let spawned: Vec<_> = (1..5u8)
                .map(|value| {
                    let saxpy = &saxpy;
                    threads.spawn(move || {
                        ctx.alloc((filled(100, f32::from(value)), zeros::<f32>(100)), |(x, mut y)| {
                            ctx.streams(|s| {
                                let streams = [s.stream()?, s.stream()?];
                                for round in 0..10 {
                                    let arguments = (1.0, &x, &mut y, 100);
                                    streams[round % 2].launch(saxpy, Launch::cover(100), arguments)?;
                                }
                                scoped_gpu::ok(())
                            })?;
                            y.to_vec()
                        })
                    })
                })
                .collect();
            for (value, thread) in (1..5u8).zip(spawned) {
                assert_eq!(thread.join().expect("no panic")?, [f32::from(value) * 10.0; 100]);
            }
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Threads that share one stream: every launch happens, whole.
fn threads_on_one_stream(case: &mut Case) -> Result<()> {
    let count = case.device.scope(|ctx| {
        let slow = slow_add(ctx)?;
        ctx.alloc_each((0..4).map(|_| zeros::<u32>(1)), |mut counters| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                thread::scope(|threads| {
                    for counter in &mut counters {
                        let (stream, slow) = (&stream, &slow);
                        threads.spawn(move || {
                            for _ in 0..10 {
                                stream
                                    .launch(slow, Launch::grid(1, 1), (&mut *counter, 3))
                                    .expect("it is queued");
                            }
                        });
                    }
                });
                scoped_gpu::ok(())
            })?;
            counters.iter().map(|counter| Ok::<_, Error>(counter.to_vec()?[0])).collect::<Result<Vec<_>, _>>()
        })
    })?;
    assert_eq!(count, [30; 4]);
    Ok(())
}

const TESTS: &[Test] = &[
    test!(one_context_for_all).shows(&[18, 19]),
    test!(scopes_open_and_close).shows(&[18]),
    test!(one_array_read_by_all),
    test!(threads_with_streams_of_their_own).shows(&[18]),
    test!(threads_on_one_stream).shows(&[18]),
    test!(buffers_go_from_thread_to_thread).shows(&[18, 24]),
    test!(out_of_memory_beside_other_threads).shows(&[32]),
    test!(faults_stay_with_their_threads).shows(&[29]),
];

pub const CHAPTER: Chapter = Chapter { name: "threads", tests: TESTS };
