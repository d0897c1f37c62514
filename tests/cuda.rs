//! The CUDA device as a program sees it that uses more than scopes: several devices, threads and forks, another's reset.
//! Needs the feature `cuda` and a driver, or the one that `tests/shim` builds: `tests/shim/test.sh`.
#![cfg(feature = "cuda")]

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use cust::context::Context as Primary;
use cust::sys::CUstreamCaptureMode as CaptureMode;
use scoped_gpu::{
    Device, ErrorKind, Kernel, Launch, Linear, ReadWrite, Rect, Reset, Stream, kernels, linear, pitched,
    zeros,
};

/// The primary context is one for the whole process, so its tests take turns.
static PRIMARY: Mutex<()> = Mutex::new(());

fn device(ordinal: u32) -> Result<Device> {
    Device::cuda(ordinal).context("these tests need a driver: tests/shim/test.sh brings one")
}

/// Whether these variables are set; if not, runs `test` in a process where they are, and fails as it does.
fn in_a_process_of_its_own(test: &str, variables: &[(&str, &str)]) -> Result<bool> {
    if variables.iter().all(|(name, value)| std::env::var(name).as_deref() == Ok(value)) {
        return Ok(true);
    }
    let mut again = Command::new(std::env::current_exe()?);
    let output = again.args(["--exact", test]).envs(variables.iter().copied()).output()?;
    let (said, failed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success() && said.contains("1 passed"), "{variables:?}: {said}{failed}");
    Ok(false)
}

/// Acceptance 17: somebody resets the primary context while buffers live in it. The private context does not notice; in
/// the shared one the next call says that it was lost, drops and the scope's end are quiet, and the next scope works.
#[test]
fn another_resets_the_primary_context() -> Result<()> {
    let _turn = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    let (private, shared) = (device(0)?, Device::cuda_primary(0)?);
    private.scope(|ctx| {
        let untouched = ctx.alloc((linear(&[1.0_f32, 2.0]),), |(mine,)| {
            let lost = shared.scope(|shared| {
                let buffer = shared.buffer::<f32>(100)?;
                let kept = shared.buffer::<f32>(100)?;
                std::mem::forget(kept);
                reset_primary();
                let error = buffer.to_vec().expect_err("its memory is gone");
                ensure!(matches!(error.kind(), ErrorKind::ContextLost), "{error}");
                let error = shared.buffer::<f32>(1).map(drop).expect_err("the context is gone");
                ensure!(matches!(error.kind(), ErrorKind::ContextLost), "{error}");
                drop(buffer);
                anyhow::Ok(())
            });
            // The scope's own end may say once more that the context was lost; nothing else.
            if let Err(error) = &lost {
                let lost = error.downcast_ref::<scoped_gpu::Error>().map(scoped_gpu::Error::kind);
                ensure!(matches!(lost, Some(ErrorKind::ContextLost)), "{error:?}");
            }
            Ok(mine.to_vec()?)
        })?;
        ensure!(untouched == [1.0, 2.0]);
        Ok(())
    })?;
    let again = shared.scope(|ctx| ctx.alloc((linear(&[3_u8]),), |(x,)| x.to_vec()))?;
    ensure!(again == [3], "the next scope works");
    ensure!(shared.memory().live == 0 && private.memory().live == 0);
    Ok(())
}

/// What anybody in the process can do.
fn reset_primary() {
    let device = cust::device::Device::get_device(0).expect("device 0");
    // SAFETY: a call that takes a device's number; what it does to others is the point.
    let code = unsafe { cust::sys::cuDevicePrimaryCtxReset_v2(device.as_raw()) };
    assert_eq!(code, cust::sys::CUresult::CUDA_SUCCESS);
}

/// A primary context is not reset by a safe call, and is by the unsafe one.
#[test]
fn the_primary_context_is_reset_on_purpose_only() -> Result<()> {
    let _turn = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    let mut shared = Device::cuda_primary(0)?;
    let error = shared.reset().expect_err("others may use it");
    ensure!(matches!(error.kind(), ErrorKind::NotSupported { .. }), "{error}");
    // SAFETY: no other test of this process has work in the primary context that it needs.
    ensure!(unsafe { shared.reset_primary() } == Reset::Recovered);
    shared.scope(|ctx| ctx.alloc((zeros::<u8>(3),), |(x,)| x.to_vec()))?;
    let mut own = device(0)?;
    ensure!(own.reset()? == Reset::Recovered);
    // Of a private context it is a reset, whatever the primary one holds.
    let kept = shared.scope(|ctx| {
        ctx.alloc((linear(&[4_u8, 5]),), |(x,)| {
            // SAFETY: nobody else has a handle of the private context.
            ensure!(unsafe { own.reset_primary() } == Reset::Recovered);
            Ok(x.to_vec()?)
        })
    })?;
    ensure!(kept == [4, 5]);
    Ok(())
}

/// As above, while no scope is open: the next one makes the context anew.
#[test]
fn another_resets_the_primary_context_between_two_scopes() -> Result<()> {
    let _turn = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    let shared = Device::cuda_primary(0)?;
    for round in 0..3_u8 {
        let there = shared.scope(|ctx| ctx.alloc((linear(&[round]),), |(x,)| x.to_vec()))?;
        ensure!(there == [round] && shared.memory().live == 0);
        reset_primary();
    }
    Ok(())
}

/// A wait for all streams of one device while another's context is current: what it makes, it makes in its own.
#[test]
fn waits_are_made_in_their_own_context() -> Result<()> {
    let (a, b) = (device(0)?, device(0)?);
    Device::scope_all(&[&a, &b], |ctxs| {
        ctxs[0].alloc((linear(&[1_u8, 2]),), |(x,)| {
            ctxs[1].alloc((zeros::<u8>(2),), |(mut y,)| {
                ctxs[0].streams(|s| {
                    let stream = s.stream()?;
                    y.fill(7)?;
                    ctxs[1].synchronize()?;
                    y.copy_from(&x)?;
                    for _ in 0..3 {
                        stream.record()?;
                    }
                    ensure!(y.to_vec()? == [1, 2]);
                    Ok(())
                })
            })
        })
    })
}

/// Acceptance 18: calls and drops with another context current, and on threads that never had one.
#[test]
fn contexts_are_made_current_where_they_are_used() -> Result<()> {
    let _turn = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    let (a, b) = (device(0)?, device(0)?);
    a.scope(|one| {
        let x = one.buffer::<u32>(10)?;
        b.scope(|two| {
            let mut y = two.buffer::<u32>(10)?;
            let primary = Primary::new(cust::device::Device::get_device(0)?)?;
            y.fill(5)?;
            drop(primary);
            std::thread::scope(|threads| {
                threads.spawn(move || drop(y));
            });
            ensure!(x.to_vec()?.len() == 10);
            drop(x);
            anyhow::Ok(())
        })
    })?;
    ensure!(a.memory().live == 0 && b.memory().live == 0);
    Ok(())
}

type Scale = (ReadWrite<f32>, f32, u32);

const FACTORS: [f32; 3] = [2.0, 3.0, 4.0];

/// Multiplies an array of three by each of the factors, with a launch for each; `before` is called before each.
fn scale_by_all<'ctx>(
    stream: &Stream<'_, '_, 'ctx>,
    scale: &Kernel<'ctx, Scale>,
    x: &mut Linear<'_, 'ctx, f32>,
    before: impl Fn() -> Result<()>,
) -> Result<()> {
    FACTORS.iter().try_for_each(|&factor| {
        before()?;
        // SAFETY: the kernel compares its index with the length, which is the array's.
        Ok(unsafe { stream.launch_unchecked(scale, Launch::cover(3), (&mut *x, factor, 3)) }?)
    })
}

/// The same for what is queued without a look at the current context: a launch of a kernel, the launches of it that follow,
/// and copies, while another device's context is current and on a thread that has none.
#[test]
fn work_is_queued_whatever_context_is_current() -> Result<()> {
    let (ours, other) = (device(0)?, device(0)?);
    let start = [1.0, 2.0, 3.0];
    let mut copied = [[0.0_f32; 3]; 2];
    let [here, there] = &mut copied;
    let computed = ours.scope(|ctx| {
        let scale: Kernel<'_, Scale> = ctx.module(kernels::SCALE)?.kernel("scale")?;
        ctx.alloc((linear(&start),), |(mut x,)| {
            ctx.streams(|s| {
                let stream = s.stream()?;
                other.scope(|elsewhere| {
                    // whoever allocates has its context current afterwards
                    let leave = || Ok(elsewhere.buffer::<u8>(1).map(drop)?);
                    scale_by_all(&stream, &scale, &mut x, leave)?;
                    leave()?;
                    drop(stream.copy_to_host(&x, here)?);
                    anyhow::Ok(())
                })?;
                std::thread::scope(|threads| {
                    let launched = threads.spawn(|| scale_by_all(&stream, &scale, &mut x, || Ok(())));
                    launched.join().expect("no panic")
                })?;
                std::thread::scope(|threads| {
                    let copied = threads.spawn(|| stream.copy_to_host(&x, there).map(drop));
                    copied.join().expect("no panic")
                })?;
                anyhow::Ok(())
            })?;
            anyhow::Ok(x.to_vec()?)
        })
    })?;
    let once: f32 = FACTORS.iter().product();
    ensure!(copied == [start.map(|x| x * once), start.map(|x| x * once * once)], "{copied:?}");
    ensure!(computed == copied[1]);
    Ok(())
}

/// Large copies need page-locked blocks to be fast, not to be done. The limit is one of the driver that stands in for a GPU's.
#[test]
fn large_copies_without_page_locked_memory() -> Result<()> {
    const LIMIT: (&str, &str) = ("SCOPED_GPU_SHIM_PINNED", "100000");
    if !in_a_process_of_its_own("large_copies_without_page_locked_memory", &[LIMIT])? {
        return Ok(());
    }
    let host: Vec<u64> = (0..3_000_000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let back = device(0)?.scope(|ctx| {
        ctx.alloc((linear(&host),), |(mut x,)| {
            ensure!(x.to_vec()? == host);
            x.copy_from_host(&vec![7; host.len()])?;
            Ok(x.to_vec()?)
        })
    })?;
    ensure!(back.iter().all(|&x| x == 7));
    Ok(())
}

/// A graph that is captured on a stream of the primary context, which is current.
struct Capture(cust::sys::CUstream);

/// The modes in which a graph is captured.
const MODES: [CaptureMode; 3] = [
    CaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
    CaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
];

impl Capture {
    fn begin(mode: CaptureMode) -> Self {
        let mut stream = std::ptr::null_mut();
        // SAFETY: `stream` is a place for the answer. 1: it does not wait for the NULL stream.
        let created = unsafe { cust::sys::cuStreamCreate(&mut stream, 1) };
        // SAFETY: the stream was made just now.
        let begun = unsafe { cust::sys::cuStreamBeginCapture_v2(stream, mode) };
        assert_eq!([created, begun], [cust::sys::CUresult::CUDA_SUCCESS; 2]);
        Self(stream)
    }

    /// Ends it; whether nothing has disturbed it.
    fn end(self) -> Result<bool> {
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is live, `graph` is a place for the answer.
        let ended = unsafe { cust::sys::cuStreamEndCapture(self.0, &mut graph) };
        // SAFETY: nothing uses the stream.
        let destroyed = unsafe { cust::sys::cuStreamDestroy_v2(self.0) };
        ensure!(destroyed == cust::sys::CUresult::CUDA_SUCCESS, "{destroyed:?}");
        if ended == cust::sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED {
            return Ok(false);
        }
        ensure!(ended == cust::sys::CUresult::CUDA_SUCCESS, "{ended:?}");
        // SAFETY: the capture made the graph, and nobody else knows it.
        let destroyed = unsafe { cust::sys::cuGraphDestroy(graph) };
        ensure!(destroyed == cust::sys::CUresult::CUDA_SUCCESS, "{destroyed:?}");
        Ok(true)
    }
}

/// While a graph is captured in the primary context, in whichever mode and on this thread or another, a scope there does all
/// that a scope does. Only a capture that forbids calls may be disturbed.
#[test]
fn a_scope_beside_a_capture() -> Result<()> {
    let _turn = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    let shared = Device::cuda_primary(0)?;
    let work = || -> Result<()> {
        let host: Vec<f32> = (0..3000_u16).map(f32::from).collect();
        shared.scope(|ctx| {
            let scale: Kernel<'_, Scale> = ctx.module(kernels::SCALE)?.kernel("scale")?;
            ctx.alloc(
                (linear(&host), zeros::<f32>(host.len()), pitched::<u8>(5, 7)),
                |(mut x, mut y, mut bytes)| {
                    bytes.fill(3)?;
                    ctx.streams(|s| {
                        let (one, two) = (s.stream()?, s.stream()?);
                        one.launch(&scale, Launch::cover(host.len()), (&mut x, 2.0, host.len() as u32))?;
                        let event = one.record()?;
                        two.wait_for(&event)?;
                        while !event.is_done()? {
                            std::thread::yield_now();
                        }
                        two.call(|| std::thread::sleep(Duration::from_millis(1)))?;
                        two.synchronize()?;
                        anyhow::Ok(())
                    })?;
                    y.copy_from(&x)?;
                    ensure!(y.to_vec()?.iter().zip(&host).all(|(y, x)| *y == 2.0 * x));
                    let buffer = ctx.buffer::<u64>(1 << 20)?;
                    drop(buffer);
                    ensure!(bytes.to_vec()? == [3; 35] && ctx.memory_info()?.free > 0);
                    Ok(())
                },
            )
        })
    };
    work()?;
    let _current = Primary::new(cust::device::Device::get_device(0)?)?;
    for mode in MODES {
        for same_thread in [true, false] {
            let capture = Capture::begin(mode);
            let done = match same_thread {
                true => work(),
                false => std::thread::scope(|threads| threads.spawn(work).join().expect("no panic")),
            };
            let which = || format!("{mode:?}, the scope on the same thread: {same_thread}");
            done.with_context(which)?;
            let forbids = match mode {
                CaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL => true,
                CaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL => same_thread,
                CaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED => false,
            };
            ensure!(capture.end().with_context(which)? || forbids, "{}", which());
        }
    }
    Ok(())
}

/// Acceptance 40: a driver that finds no device, whether it is a GPU's or the one that stands in for it. The default
/// device is the host then.
#[test]
fn a_driver_without_a_device() -> Result<()> {
    const HIDES: [(&str, &str); 2] = [("CUDA_VISIBLE_DEVICES", ""), ("SCOPED_GPU_SHIM_DEVICES", "0")];
    if !in_a_process_of_its_own("a_driver_without_a_device", &HIDES)? {
        return Ok(());
    }
    let error = Device::cuda(0).expect_err("none is visible");
    ensure!(matches!(error.kind(), ErrorKind::DeviceUnavailable { .. }), "{error:?}");
    ensure!(
        error.to_string()
            == "cuda:0: the NVIDIA driver does not start: cuInit answered 100 (CUDA_ERROR_NO_DEVICE): no GPU is \
                visible to this process; what `nvidia-smi` shows, CUDA_VISIBLE_DEVICES and a container's options \
                decide that",
        "{error}"
    );
    ensure!(Device::all().len() == 1, "the host device");
    let doubled = Device::with(|ctx| ctx.alloc((linear(&[1.5_f32]),), |(x,)| x.to_vec()))?;
    ensure!(doubled == [1.5] && Device::default_device()?.to_string() == Device::host().to_string());
    Ok(())
}

/// Acceptance 40: whatever a driver answers when it is started, codes that nobody knows and a toolkit's stub among them, is
/// an error that says what to do. A GPU's driver cannot be asked to fail; the one that stands in for it can.
#[test]
fn a_driver_that_does_not_start() -> Result<()> {
    const CODE: &str = "SCOPED_GPU_SHIM_START";
    let Ok(code) = std::env::var(CODE) else {
        if device(0)?.info().name == Device::host().info().name {
            for code in ["3", "34", "36", "100", "802", "803", "804", "998", "999", "123456"] {
                in_a_process_of_its_own("a_driver_that_does_not_start", &[(CODE, code)])?;
            }
        }
        return Ok(());
    };
    let error = Device::cuda(0).expect_err("it does not start");
    ensure!(matches!(error.kind(), ErrorKind::DeviceUnavailable { .. }), "{error:?}");
    let start = format!("cuda:0: the NVIDIA driver does not start: cuInit answered {code} (");
    ensure!(error.to_string().starts_with(&start), "{error}");
    let advice = match &*code {
        "3" => "forked",
        "34" => "stub",
        "100" => "nvidia-smi",
        "802" => "fabric manager",
        "803" | "999" => "restart",
        "804" => "the driver's own",
        _ => {
            ensure!(error.to_string().ends_with(')'), "{error}");
            return Ok(());
        }
    };
    ensure!(error.to_string().contains(advice), "{error}");
    ensure!(Device::all().len() == 1, "the host device");
    Ok(())
}

/// While a function of the host runs on one stream, a kernel on another ends the context: the wait for the first is over
/// when the function is, which uses what it borrowed until then. What is queued behind the fault does not run.
#[test]
fn a_function_runs_while_the_context_ends() -> Result<()> {
    const APART: (&str, &str) = ("SCOPED_GPU_TEST_APART", "function");
    if !in_a_process_of_its_own("a_function_runs_while_the_context_ends", &[APART])? {
        return Ok(());
    }
    const NULL: &str = include_str!("devices/kernels/faults.ptx");
    let (begun, ended, behind) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let mut seen = [false; 2];
    let left: Result<()> = device(0)?.scope(|ctx| {
        let null = ctx.module(NULL)?.kernel::<()>("store_null")?;
        ctx.streams(|s| {
            let (calls, wrong) = (s.stream()?, s.stream()?);
            calls.call(|| {
                begun.store(true, Ordering::Release);
                std::thread::sleep(Duration::from_millis(300));
                ended.store(true, Ordering::Release);
            })?;
            while !begun.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            // SAFETY: that it stores through null is what is tested; this process ends with the test.
            unsafe { wrong.launch_unchecked(&null, Launch::grid(1, 1), ()) }?;
            wrong.call(|| behind.store(true, Ordering::Release))?;
            let fault = wrong.synchronize().expect_err("it stores through null");
            ensure!(fault.fault().is_some_and(|fault| fault.kernel == "store_null"), "{fault}");
            let after = calls.synchronize().expect_err("the context has ended");
            ensure!(matches!(after.kind(), ErrorKind::Poisoned { .. }), "{after}");
            seen = [ended.load(Ordering::Acquire), behind.load(Ordering::Acquire)];
            Ok(())
        })
    });
    drop(left);
    ensure!(seen == [true, false], "ended before the wait: {}, ran behind the fault: {}", seen[0], seen[1]);
    Ok(())
}

/// Acceptance 14: of a scope on the host device and a CUDA device, either one's close fails: the error names that one,
/// and the other is closed with nothing to report.
#[test]
fn the_close_of_either_device_fails() -> Result<()> {
    const NULL: &str = include_str!("devices/kernels/faults.ptx");
    for faulty in 0..2 {
        let devices = [Device::host(), device(0)?];
        let result = Device::scope_all(&[&devices[0], &devices[1]], |ctxs| {
            for ctx in ctxs {
                std::mem::forget(ctx.buffer::<f32>(10)?);
            }
            let null = ctxs[faulty].module(NULL)?.kernel::<()>("store_null")?;
            ctxs[faulty].launch(&null, Launch::grid(1, 1), ())
        });
        let error = result.expect_err("nobody waited for the launch");
        let named = error.device();
        ensure!(named == Some(devices[faulty].info().id.as_str()) && error.fault().is_some(), "{error}");
        ensure!(named == Some(["host", "cuda:0"][faulty]), "{error}");
        ensure!(devices[faulty].last_cleanup().is_some());
        let cleanup = devices[1 - faulty].last_cleanup();
        ensure!(cleanup.is_none(), "{cleanup:?}");
        ensure!(devices.iter().all(|device| device.memory().live == 0 && device.memory().freed == 1));
    }
    Ok(())
}

/// Acceptance 23: what is freed while another stream is busy does not wait for it.
#[test]
fn freeing_does_not_wait_for_a_busy_stream() -> Result<()> {
    let device = device(0)?;
    device.scope(|ctx| {
        let (open, gate) = std::sync::mpsc::channel::<()>();
        ctx.streams(|s| {
            let busy = s.stream()?;
            // The stream is held until this thread has freed: if freeing waited for it, nobody would open.
            busy.call(move || _ = gate.recv())?;
            for _ in 0..100 {
                ctx.alloc_linear(1 << 20, |mut x: Linear<f32>| x.fill(1.0))?;
                drop(ctx.buffer::<u8>(1 << 22)?);
            }
            open.send(())?;
            anyhow::Ok(())
        })
    })
}

/// Acceptance 11: a handle that was forgotten, a reset, allocations of the same size until the address comes again; the
/// scope that owned the handle is long closed, so nothing is freed twice, and the new memory keeps its contents.
#[test]
fn a_forgotten_handle_does_not_free_what_comes_after_a_reset() -> Result<()> {
    let mut device = device(0)?;
    for round in 0..20_u32 {
        device.scope(|ctx| {
            let mut stale = ctx.buffer::<u32>(1 << 18)?;
            stale.fill(round)?;
            std::mem::forget(stale);
            anyhow::Ok(())
        })?;
        ensure!(device.reset()? == Reset::Recovered);
        let read = device.scope(|ctx| {
            let mut new = ctx.buffer::<u32>(1 << 18)?;
            new.fill(4)?;
            new.to_vec()
        })?;
        ensure!(read.iter().all(|&x| x == 4), "round {round}");
    }
    let memory = device.memory();
    ensure!(memory.live == 0 && memory.allocated == memory.freed, "{memory:?}");
    Ok(())
}

/// After `fork` the device answers an error, in scopes that were open and in new ones, and its end is quiet.
#[cfg(unix)]
#[test]
fn a_fork_cannot_use_the_device() -> Result<()> {
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(code: i32) -> !;
    }
    let device = device(0)?;
    let refused = |result: Result<Vec<u8>, scoped_gpu::Error>| matches!(result, Err(error) if error.to_string().contains("forked"));
    device.scope(|ctx| {
        let x = ctx.buffer::<u8>(4)?;
        // SAFETY: the child only calls this crate, which refuses, and ends without running anything else.
        let child = unsafe { fork() };
        if child == 0 {
            let inside = refused(x.to_vec());
            let outside = refused(device.scope(|ctx| ctx.buffer::<u8>(1)?.to_vec()));
            drop(x);
            // SAFETY: ends the child at once.
            unsafe { _exit(if inside && outside { 0 } else { 1 }) };
        }
        let mut status = -1;
        // SAFETY: `status` is a place for the answer.
        let waited = unsafe { waitpid(child, &mut status, 0) };
        ensure!(waited == child && status == 0, "the child's status is {status}");
        ensure!(x.to_vec()? == [0; 4] || x.len() == 4, "the parent goes on");
        Ok(())
    })
}

/// One scope on every device that is there, twice over, so that there are at least two contexts.
#[test]
fn one_scope_on_all_devices() -> Result<()> {
    let mut devices: Vec<Device> = Device::all();
    devices.extend(Device::all());
    let all: Vec<&Device> = devices.iter().collect();
    let gathered = Device::scope_all(&all, |ctxs| {
        ctxs[0].alloc_linear(ctxs.len(), |mut gathered: Linear<u32>| {
            for (n, ctx) in ctxs.iter().enumerate() {
                ctx.alloc((linear(&[n as u32 * 10]),), |(part,)| {
                    gathered.slice_mut(n..n + 1).copy_from(&part)
                })?;
            }
            gathered.to_vec()
        })
    })?;
    ensure!(gathered == (0..all.len() as u32).map(|n| n * 10).collect::<Vec<_>>());
    Ok(())
}

/// Rows from each device to each other one, among them two that share a context and one that cannot reach a GPU, which
/// are copied by way of the host.
#[test]
fn rows_go_from_each_device_to_each() -> Result<()> {
    let _turn = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    let mut devices = Device::all();
    devices.extend([Device::host(), device(0)?, Device::cuda_primary(0)?, Device::cuda_primary(0)?]);
    let all: Vec<&Device> = devices.iter().collect();
    Device::scope_all(&all, |ctxs| {
        for (n, from) in ctxs.iter().enumerate() {
            let host: Vec<u16> = (0..15).map(|i| i + 100 * n as u16).collect();
            for (m, to) in ctxs.iter().enumerate().filter(|(m, _)| *m != n) {
                from.alloc((pitched::<u16>(5, 3),), |(mut source,)| {
                    source.copy_from_host(&host)?;
                    to.alloc((pitched::<u16>(400, 3),), |(mut target,)| {
                        target.fill(9)?;
                        target.rect_mut(Rect::new(2, 0, 5, 3)).copy_from(&source)?;
                        ensure!(target.rect(Rect::new(2, 0, 5, 3)).to_vec()? == host, "{n} to {m}");
                        ensure!(target.rect(Rect::new(7, 0, 393, 3)).to_vec()?.iter().all(|&x| x == 9));
                        anyhow::Ok(())
                    })
                })?;
            }
        }
        Ok(())
    })
}
