//! Faults: what each kind of mistake is called, what it costs, whom it is blamed on. Whole messages are in `errors`.

use anyhow::{Context as _, Result};
use scoped_gpu::{
    AccessKind, Blame, Context, Error, ErrorKind, Fault, FaultKind, Kernel, Launch, Linear, Pitched, Read,
    ReadWrite, Signature, Write, filled, linear, pitched, zeros,
};

use crate::harness::{Case, Chapter, Test, test};
use crate::launch::faults;

/// A pointer, an offset in bytes, and the number of the thread that makes the access.
type Access = (ReadWrite<u32>, u64, u32);

/// Blocks of this many threads: the number of a thread is not its index in a block.
const BLOCK: u32 = 40;

pub fn fault_of(error: &Error) -> Result<&Fault> {
    error.fault().with_context(|| format!("no fault: {error}"))
}

/// Runs a kernel that goes wrong on the second of three arrays, checks that the neighbours are what they were and that
/// the next launch works, and gives the fault.
fn contained(case: &Case, kernel: &str, offset: i64, who: u32) -> Result<Fault> {
    let host = case.is_host();
    case.device.scope(|ctx| {
        let module = faults(ctx)?;
        let (wrong, right) = (module.kernel::<Access>(kernel)?, module.kernel::<Access>("store")?);
        ctx.alloc((filled(64, 1u32), filled(64, 2u32), filled(64, 3u32)), |(before, mut x, after)| {
            let line = line!() + 1;
            ctx.launch(&wrong, Launch::grid(4, BLOCK), (&mut x, offset.cast_unsigned(), who))?;
            let error = ctx.synchronize().expect_err("a mistake");
            assert_eq!((error.location().file(), error.location().line()), (file!(), line));
            let fault = fault_of(&error)?.clone();
            assert_eq!(fault.launched_at.map(|at| at.line()), Some(line));
            assert!(fault.contained);
            ctx.synchronize().context("a fault is returned once")?;

            assert_eq!((before.to_vec()?, after.to_vec()?), (vec![1; 64], vec![3; 64]));
            if host || kernel != "load" {
                // A GPU goes on after a load that was not done, with a zero in its place, which this kernel stores.
                assert_eq!(x.to_vec()?, [2; 64], "what the kernel was given is as it was");
            }
            ctx.launch(&right, Launch::grid(4, BLOCK), (&mut x, 4 * 63, 100))?;
            assert_eq!(x.slice(62..).to_vec()?, [2, 100]);
            Ok(fault)
        })
    })
}

/// Kernel, thread, access and buffer of a fault.
#[track_caller]
fn is_like(fault: &Fault, kernel: &str, who: u32, access: AccessKind, bytes: u32) {
    assert_eq!((fault.kernel.as_str(), fault.module.as_str()), (kernel, "faults.ptx"));
    let site = fault.site.as_ref().expect("a checked launch knows where");
    assert_eq!((site.block, site.thread), ([who / BLOCK, 0, 0], [who % BLOCK, 0, 0]));
    let text = include_str!("kernels/faults.ptx").lines().nth(site.line as usize - 1);
    assert_eq!(Some(site.text.as_str()), text, "line {}", site.line);
    let found = fault.access.expect("it is an access");
    assert_eq!((found.kind, found.bytes), (access, bytes));
    assert_eq!(fault.blame(), Blame::Kernel);
}

fn store_out_of_range(case: &mut Case) -> Result<()> {
    for (offset, distance) in [(256, 0), (260, 4), (-4, 0), (-40, 36), (254, 0)] {
        let fault = contained(case, "store", offset, 57)?;
        // the last store begins inside and, being no multiple of four, is refused for that
        let kind = if offset == 254 { FaultKind::Misaligned } else { FaultKind::OutOfRange };
        assert_eq!(fault.kind, kind, "{fault}");
        is_like(&fault, "store", 57, AccessKind::Store, 4);
        let buffer = fault.buffer.as_ref().with_context(|| format!("no buffer: {fault}"))?;
        assert_eq!((buffer.argument, buffer.bytes, buffer.offset), (Some(0), 256, i128::from(offset)));
        assert_eq!(buffer.name, "data");
        assert_eq!(buffer.distance(4), distance);
    }
    Ok(())
}

fn load_out_of_range(case: &mut Case) -> Result<()> {
    let fault = contained(case, "load", 4 * 64, 3)?;
    assert_eq!(fault.kind, FaultKind::OutOfRange);
    is_like(&fault, "load", 3, AccessKind::Load, 4);
    Ok(())
}

fn atomic_out_of_range(case: &mut Case) -> Result<()> {
    let fault = contained(case, "add", 4 * 66, 119)?;
    assert_eq!(fault.kind, FaultKind::OutOfRange);
    is_like(&fault, "add", 119, AccessKind::Atomic, 4);
    Ok(())
}

fn misaligned(case: &mut Case) -> Result<()> {
    for (kernel, offset, bytes) in [("store", 6, 4), ("store_vector", 8, 16)] {
        let fault = contained(case, kernel, offset, 41)?;
        assert_eq!(fault.kind, FaultKind::Misaligned, "{fault}");
        is_like(&fault, kernel, 41, AccessKind::Store, bytes);
    }
    Ok(())
}

/// A vector that begins inside and ends outside.
fn half_outside(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let wrong = faults(ctx)?.kernel::<Access>("store_vector")?;
        ctx.alloc((filled(66, 9u32),), |(mut x,)| {
            ctx.launch(&wrong, Launch::grid(1, BLOCK), (&mut x, 256, 1))?;
            let error = ctx.synchronize().expect_err("8 of 16 bytes are inside");
            assert_eq!(fault_of(&error)?.kind, FaultKind::OutOfRange);
            assert_eq!(x.to_vec()?, [9; 66], "not even the half that is inside was written");
            Ok(())
        })
    })
}

/// A store to what is declared for reading, as far as the code shows it: refused before any launch.
fn store_through_read_at_load(case: &mut Case) -> Result<()> {
    #[track_caller]
    fn is_refused<S: Signature>(ctx: &Context<'_>, kernel: &str, line: &str) -> Result<()> {
        let error = faults(ctx)?.kernel::<S>(kernel).expect_err(kernel);
        assert!(matches!(error.kind(), ErrorKind::Signature { .. }), "{error}");
        assert!(error.to_string().contains(line), "{error}");
        Ok(())
    }
    case.device.scope(|ctx| {
        is_refused::<(Read<u32>, u64, u32)>(ctx, "store", "st.global.u32")?;
        is_refused::<(Read<u32>, u64, u32)>(ctx, "store_vector", "st.global.v4.u32")?;
        is_refused::<(Read<u32>, u64, u32)>(ctx, "add", "red.global.add.u32")?;
        is_refused::<(Read<u32>, u32)>(ctx, "slow_add", "st.volatile.global.u32")?;
        is_refused::<(Read<u32>, Write<u32>)>(ctx, "store_both", "in the function `put`")?;
        is_refused::<(ReadWrite<u32>, Read<u32>)>(ctx, "store_both", "red.global.add.u32")?;
        // The corrected twins of these are launched all over this suite; of the last, here.
        let both = faults(ctx)?.kernel::<(Write<u32>, ReadWrite<u32>)>("store_both")?;
        ctx.alloc((zeros::<u32>(2), zeros::<u32>(1)), |(mut x, mut y)| {
            ctx.launch(&both, Launch::grid(1, 1), (&mut x, &mut y))?;
            assert_eq!((x.to_vec()?, y.to_vec()?), (vec![0, 7], vec![7]));
            Ok(())
        })
    })
}

/// A store to what the launch was given for reading, at an address that only the run knows: the arguments decide, and
/// the launch that is wrong costs its error.
fn store_through_read_at_launch(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let selected = faults(ctx)?.kernel::<(Read<u32>, Write<u32>, u32)>("store_selected")?;
        let remembered = faults(ctx)?.kernel::<(Read<u32>, ReadWrite<u64>)>("store_remembered")?;
        ctx.alloc((filled(64, 2u32), zeros::<u32>(1), zeros::<u64>(1)), |(x, mut y, mut memory)| {
            ctx.launch(&selected, Launch::grid(1, 1), (&x, &mut y, 0))?;
            let error = ctx.synchronize().expect_err("it may only be read");
            let fault = fault_of(&error)?;
            assert_eq!(fault.kind, FaultKind::ReadOnly);
            is_like(fault, "store_selected", 0, AccessKind::Store, 4);
            ctx.launch(&selected, Launch::grid(1, 1), (&x, &mut y, 1))?;
            assert_eq!(y.to_vec()?, [7], "the other choice");

            ctx.launch(&remembered, Launch::grid(1, 1), (&x, &mut memory))?;
            let error = ctx.synchronize().expect_err("it may only be read");
            let fault = fault_of(&error)?;
            assert_eq!(fault.kind, FaultKind::ReadOnly);
            is_like(fault, "store_remembered", 0, AccessKind::Store, 4);
            assert_eq!(x.to_vec()?, [2; 64]);
            Ok(())
        })
    })
}

fn trap(case: &mut Case) -> Result<()> {
    let fault = contained(case, "trap", 0, 80)?;
    assert_eq!((&fault.kind, fault.access), (&FaultKind::Trap, None));
    let site = fault.site.context("a place")?;
    assert_eq!((site.block, site.thread, site.text.trim()), ([2, 0, 0], [0; 3], "trap;"));
    Ok(())
}

/// The condition, file, line and function that the kernel reports.
fn assertion(case: &mut Case) -> Result<()> {
    let fault = contained(case, "assert", 0, 159)?;
    let FaultKind::Assert { message } = &fault.kind else { anyhow::bail!("no assertion: {fault}") };
    if !case.is_host() {
        // The text stays on the device.
        return Ok(());
    }
    for part in ["count < 3", "faults.c", "17", "checks"] {
        assert!(message.contains(part), "`{message}` does not say `{part}`");
    }
    Ok(())
}

/// An assertion and a trap of nvcc's, for which the arguments decide; `.loc` lines lead to the source.
fn mistakes_that_nvcc_compiled(case: &mut Case) -> Result<()> {
    // Nothing in the file needs the version that its compiler writes, which is newer than some drivers.
    let text = include_str!("../corpus/nvcc/common_sm80.ptx").replace(".version 9.5", ".version 9.0");
    let text = text.as_str();
    case.device.scope(|ctx| {
        let debug = ctx.module_named("common_sm80.ptx", text)?.kernel::<(ReadWrite<i32>, i32)>("dbg")?;
        ctx.alloc((linear(&[1, 2, 42, 4]),), |(mut p,)| {
            ctx.launch(&debug, Launch::grid(1, 4), (&mut p, 4))?;
            let error = ctx.synchronize().expect_err("42 traps");
            let fault = fault_of(&error)?;
            assert_eq!(fault.kind, FaultKind::Trap);
            assert_eq!(fault.site.as_ref().map(|site| site.thread), Some([2, 0, 0]));
            p.fill(0)?;
            ctx.launch(&debug, Launch::grid(1, 4), (&mut p, 4))?;
            assert_eq!(p.to_vec()?, [1; 4]);
            Ok(())
        })
    })
}

/// The kernel that the crate ships as an example of a mistake; the rest of its work is done, and the scope goes on.
fn shift_off_by_one(case: &mut Case) -> Result<()> {
    let host: Vec<f32> = (0..100u8).map(f32::from).collect();
    case.device.scope(|ctx| {
        let module = ctx.module_named("shift.ptx", include_str!("../../ptx/shift_off_by_one.ptx"))?;
        let shift = module.kernel::<(Read<f32>, ReadWrite<f32>, u32)>("shift_off_by_one")?;
        ctx.alloc((linear(&host), zeros::<f32>(100)), |(x, mut y)| {
            ctx.launch(&shift, Launch::cover(100), (&x, &mut y, 100))?;
            let error = ctx.synchronize().expect_err("one too far");
            let fault = fault_of(&error)?;
            let site = fault.site.as_ref().context("a place")?;
            assert_eq!((site.thread, site.block), ([99, 0, 0], [0; 3]));
            let source = site.source.as_ref().context("the module has `.loc` lines")?;
            assert_eq!((source.file.as_str(), source.line), ("shift_off_by_one.cu", 8));
            let buffer = fault.buffer.as_ref().context("a buffer")?;
            assert_eq!((buffer.argument, buffer.bytes, buffer.offset), (Some(1), 400, 400));
            ctx.launch(&shift, Launch::cover(100), (&x, &mut y, 99))?;
            assert_eq!(y.to_vec()?[1..], host[..99]);
            Ok(())
        })
    })
}

/// Every mistake is told of: the wait that returns the first one has the later ones beside it, each at its launch's line.
fn several_faults_before_a_wait(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let store = faults(ctx)?.kernel::<Access>("store")?;
        ctx.alloc((filled(8, 1u32), filled(8, 1u32), filled(8, 1u32)), |(mut a, mut b, mut c)| {
            let line = line!();
            ctx.launch(&store, Launch::grid(1, BLOCK), (&mut a, 32, 3))?;
            ctx.launch(&store, Launch::grid(1, BLOCK), (&mut b, 28, 3))?;
            ctx.launch(&store, Launch::grid(1, BLOCK), (&mut c, 36, 3))?;
            let error = ctx.synchronize().expect_err("two of three are wrong");
            let all: Vec<_> = std::iter::once(&error).chain(error.also()).collect();
            let lines: Vec<_> = all.iter().map(|error| error.location().line() - line).collect();
            assert_eq!(lines, [1, 3], "{error}");
            let offsets: Vec<_> =
                all.iter().filter_map(|e| e.fault()?.buffer.as_ref()).map(|near| near.offset).collect();
            assert_eq!(offsets, [32, 36], "{error}");
            ctx.synchronize().context("each is returned once")?;
            assert_eq!((a.to_vec()?, b.to_vec()?[7], c.to_vec()?), (vec![1; 8], 3, vec![1; 8]));

            // Of very many, the first ones.
            for _ in 0..300 {
                ctx.launch(&store, Launch::grid(1, BLOCK), (&mut a, 32, 3))?;
            }
            assert_eq!(ctx.synchronize().expect_err("all are wrong").also().len(), 15);
            ctx.synchronize().context("each is returned once")
        })
    })
}

/// An array without elements is an address without memory: one before it is past everything.
fn beside_an_array_without_elements(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let store = faults(ctx)?.kernel::<Access>("store")?;
        ctx.alloc((zeros::<u32>(0), filled(4, 7u32)), |(mut none, other)| {
            for offset in [-4_i64, -2, 0, 4, i64::MIN] {
                ctx.launch(&store, Launch::grid(4, BLOCK), (&mut none, offset.cast_unsigned(), 3))?;
                let error = ctx.synchronize().expect_err("there is nothing to store to");
                let fault = fault_of(&error)?;
                assert!(fault.contained && fault.kernel == "store", "{offset}: {error}");
                if offset >= 0 {
                    let near = fault.buffer.as_ref().map(|near| (near.argument, near.bytes));
                    assert_eq!(near, Some((Some(0), 0)), "{offset}: {error}");
                    assert!(
                        error.to_string().contains("(argument 0) is empty: the access begins"),
                        "{error}"
                    );
                }
            }
            assert_eq!(other.to_vec()?, [7; 4]);
            Ok(())
        })
    })
}

/// Ten pictures and a kernel that stores through null, checked: no harm at all, the same scope goes on.
fn null_among_ten_pictures_checked(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let null = faults(ctx)?.kernel::<()>("store_null")?;
        ctx.alloc_each((0..10).map(|_| pitched::<f32>(100, 100)), |mut pictures| {
            for (value, picture) in (0..10u8).zip(&mut pictures) {
                picture.fill(f32::from(value))?;
            }
            ctx.launch(&null, Launch::grid(1, 1), ())?;
            let error = ctx.synchronize().expect_err("null");
            assert_eq!(fault_of(&error)?.kind, FaultKind::Null);
            for (value, picture) in (0..10u8).zip(&pictures) {
                assert_eq!(picture.to_vec()?, vec![f32::from(value); 10_000]);
            }
            anyhow::Ok(())
        })
    })?;
    assert_eq!(case.device.memory().freed, 10);
    Ok(())
}

/// The same without checks: the scope returns the launch's fault, all ten are freed, and the next scope either works or
/// says at once what happened.
fn null_among_ten_pictures_unchecked(case: &mut Case) -> Result<()> {
    let mut line = 0;
    let result: Result<(), Error> = case.device.scope(|ctx| {
        let null = faults(ctx)?.kernel::<()>("store_null")?;
        ctx.alloc_each(
            (0..10).map(|_| pitched::<f32>(100, 100)),
            |_pictures: smallvec::SmallVec<[Pitched<f32>; 8]>| {
                line = line!() + 2;
                // SAFETY: none; the kernel's mistake is the point, and this process may end by it.
                unsafe { ctx.launch_unchecked(&null, Launch::grid(1, 1), ()) }
            },
        )
    });
    let error = result.expect_err("null");
    assert_eq!(fault_of(&error)?.kernel, "store_null");
    assert_eq!((error.location().file(), error.location().line()), (file!(), line));
    assert!(error.also().is_empty(), "the frees are not blamed for it: {error}");
    assert_eq!((case.device.memory().freed, case.device.memory().count), (10, 0));
    assert!(case.expected_cleanup().is_some_and(|cleanup| cleanup.fault().is_some()));
    match case.device.scope(|ctx| ctx.alloc((filled(8, 1u8),), |(x,)| x.to_vec())) {
        Ok(works) => assert_eq!(works, [1; 8]),
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::Poisoned { origin } if origin.contains("store_null")),
                "{error}"
            );
        }
    }
    Ok(())
}

/// Twelve launches of which the seventh goes wrong: its name and line, the others done.
fn seventh_of_twelve_checked(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let store = faults(ctx)?.kernel::<Access>("store")?;
        let wrong = faults(ctx)?.kernel::<Access>("add")?;
        ctx.alloc((zeros::<u32>(12),), |(mut x,)| {
            let mut line = 0;
            for number in 0..12 {
                if number == 6 {
                    line = line!() + 1;
                    ctx.launch(&wrong, Launch::grid(1, 32), (&mut x, 48, 6))?;
                } else {
                    ctx.launch(&store, Launch::grid(1, 32), (&mut x, 4 * u64::from(number), number))?;
                }
            }
            let error = x.to_vec().expect_err("the seventh went wrong");
            assert_eq!((fault_of(&error)?.kernel.as_str(), error.location().line()), ("add", line));
            assert_eq!(x.to_vec()?, [0, 1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11]);
            Ok(())
        })
    })
}

/// The same without checks: later calls say what ended the context, and blame nobody else.
fn seventh_of_twelve_unchecked(case: &mut Case) -> Result<()> {
    let mut line = 0;
    let result: Result<(), Error> = case.device.scope(|ctx| {
        let module = faults(ctx)?;
        let (store, null) = (module.kernel::<Access>("store")?, module.kernel::<()>("store_null")?);
        ctx.alloc((zeros::<u32>(12),), |(mut x,)| {
            for number in 0..12 {
                let launched = if number == 6 {
                    line = line!() + 2;
                    // SAFETY: none; the kernel's mistake is the point, and this process may end by it.
                    unsafe { ctx.launch_unchecked(&null, Launch::grid(1, 32), ()) }
                } else {
                    ctx.launch(&store, Launch::grid(1, 32), (&mut x, 4 * u64::from(number), number))
                };
                if let Err(error) = launched {
                    assert!(
                        number > 6 && matches!(error.kind(), ErrorKind::Poisoned { .. }),
                        "{number}: {error}"
                    );
                }
            }
            let first = ctx.synchronize().expect_err("the seventh went wrong");
            assert_eq!(first.fault().map(|fault| fault.kernel.as_str()), Some("store_null"), "{first}");
            assert_eq!(first.location().line(), line);
            for _ in 0..2 {
                let later = x.to_vec().expect_err("the context is at its end");
                let ErrorKind::Poisoned { origin } = later.kind() else { panic!("not poisoned: {later}") };
                assert!(origin.contains("store_null"), "{origin}");
                let later = ctx.buffer::<u8>(1).map(drop).expect_err("the context is at its end");
                assert!(matches!(later.kind(), ErrorKind::Poisoned { .. }), "{later}");
            }
            Err(first)
        })
    });
    assert_eq!(result.expect_err("passed on").location().line(), line);
    case.expected_cleanup();
    Ok(())
}

/// A fault on one stream is that stream's.
fn fault_stays_with_its_stream(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let store = faults(ctx)?.kernel::<Access>("store")?;
        ctx.alloc((zeros::<u32>(4), zeros::<u32>(4)), |(mut x, mut y)| {
            ctx.streams(|s| {
                let (a, b) = (s.stream()?, s.stream()?);
                a.launch(&store, Launch::grid(1, 32), (&mut x, 400, 5))?;
                b.launch(&store, Launch::grid(1, 32), (&mut y, 4, 5))?;
                b.synchronize()?;
                ctx.synchronize()?;
                let error = a.synchronize().expect_err("out of range");
                assert_eq!(fault_of(&error)?.kind, FaultKind::OutOfRange);
                a.synchronize()?;
                anyhow::Ok(())
            })?;
            assert_eq!((x.to_vec()?, y.to_vec()?), (vec![0; 4], vec![0, 5, 0, 0]));
            Ok(())
        })
    })
}

/// A fault that nobody waited for is the error of what ends next: arrays, streams, the scope.
fn nobody_waited(case: &mut Case) -> Result<()> {
    fn wrong<'ctx>(ctx: &Context<'ctx>) -> Result<Kernel<'ctx, Access>, Error> {
        faults(ctx)?.kernel("store")
    }
    let at_arrays = case.device.scope(|ctx| {
        let store = wrong(ctx)?;
        let result = ctx
            .alloc_linear(4, |mut x: Linear<u32>| ctx.launch(&store, Launch::grid(1, 32), (&mut x, 16, 0)));
        let error = result.expect_err("out of range");
        ctx.synchronize()?;
        scoped_gpu::ok(error)
    })?;
    let at_streams = case.device.scope(|ctx| {
        let store = wrong(ctx)?;
        ctx.alloc_linear(4, |mut x: Linear<u32>| {
            let result = ctx.streams(|s| s.stream()?.launch(&store, Launch::grid(1, 32), (&mut x, 16, 0)));
            let error = result.expect_err("out of range");
            assert_eq!(x.to_vec()?, [0; 4]);
            scoped_gpu::ok(error)
        })
    })?;
    let at_scope = case.device.scope(|ctx| {
        let store = wrong(ctx)?;
        let mut x = ctx.buffer::<u32>(4)?;
        let launched = ctx.launch(&store, Launch::grid(1, 32), (&mut x, 16, 0));
        std::mem::forget(x);
        launched
    });
    for error in [at_arrays, at_streams, at_scope.expect_err("out of range")] {
        assert_eq!(fault_of(&error)?.kind, FaultKind::OutOfRange);
        assert_eq!(error.location().file(), file!());
    }
    assert!(case.expected_cleanup().is_some_and(|cleanup| cleanup.fault().is_some()));
    Ok(())
}

/// Index arrays: what their contents prove holds only as long as nothing writes them.
fn index_arrays(case: &mut Case) -> Result<()> {
    type Spmv = (Read<i32>, Read<i32>, Read<f32>, Read<f32>, Write<f32>, i32);
    let text = include_str!("../corpus/nvcc/checks_sm90.ptx");
    case.device.scope(|ctx| {
        let spmv = ctx.module(text)?.kernel::<Spmv>("spmv")?;
        // It exchanges elements: here it brings one from where it is allowed to where it is not.
        let bitonic = ctx.module(text)?.kernel::<(ReadWrite<i32>, i32, i32)>("bitonic")?;
        let (starts, columns) = ([0, 2, 3, 4], [0, 2, 1, 2]);
        let (values, x) = ([1.0_f32, 2.0, 3.0, 4.0], [1.0_f32, 10.0, 100.0]);
        ctx.alloc(
            (linear(&starts), linear(&columns), linear(&values), linear(&x), zeros::<f32>(3)),
            |(starts, mut columns, values, x, mut y)| {
                let shape = Launch::grid(1, 32);
                ctx.launch(&spmv, shape, (&starts, &columns, &values, &x, &mut y, 3))?;
                assert_eq!(y.to_vec()?, [201.0, 30.0, 400.0]);
                // the host uploads one
                columns.copy_from_host(&[0, 2, 3, 2])?;
                ctx.launch(&spmv, shape, (&starts, &columns, &values, &x, &mut y, 3))?;
                let error = ctx.synchronize().expect_err("column 3 of 3");
                assert_eq!(fault_of(&error)?.kind, FaultKind::OutOfRange);
                // right again
                columns.copy_from_host(&[0, 2, 1, 0])?;
                ctx.launch(&spmv, shape, (&starts, &columns, &values, &x, &mut y, 3))?;
                assert_eq!(y.to_vec()?, [201.0, 30.0, 4.0]);
                // a part is uploaded, a fill: what was known of the whole is known no more
                columns.slice_mut(1..2).copy_from_host(&[-1])?;
                ctx.launch(&spmv, shape, (&starts, &columns, &values, &x, &mut y, 3))?;
                assert!(ctx.synchronize().is_err(), "column -1");
                columns.copy_from_host(&[0, 2, 1, 0])?;
                ctx.launch(&bitonic, Launch::grid(1, 4), (&mut columns, 1, 1 << 20))?;
                ctx.launch(&spmv, shape, (&starts, &columns, &values, &x, &mut y, 3))?;
                assert_eq!(y.to_vec()?, [201.0, 3.0, 40.0], "written by a kernel, still in range");
                columns.fill(1 << 20)?;
                ctx.launch(&spmv, shape, (&starts, &columns, &values, &x, &mut y, 3))?;
                assert!(ctx.synchronize().is_err(), "column 2^20");
                Ok(())
            },
        )
    })
}

const TESTS: &[Test] = &[
    test!(store_out_of_range).shows(&[30]),
    test!(load_out_of_range).shows(&[30]),
    test!(atomic_out_of_range).shows(&[30]),
    test!(misaligned).shows(&[30]),
    test!(half_outside).shows(&[30]),
    test!(store_through_read_at_load).shows(&[38]),
    test!(store_through_read_at_launch).shows(&[30]),
    test!(trap).shows(&[30]),
    test!(assertion).shows(&[30]),
    test!(mistakes_that_nvcc_compiled).shows(&[30]),
    test!(shift_off_by_one).shows(&[30]),
    test!(beside_an_array_without_elements).shows(&[30]),
    test!(several_faults_before_a_wait).shows(&[29]),
    test!(null_among_ten_pictures_checked).shows(&[12]),
    test!(null_among_ten_pictures_unchecked).shows(&[12]).apart(),
    test!(seventh_of_twelve_checked).shows(&[29]),
    // A GPU does not say which of twelve unchecked launches it was.
    test!(seventh_of_twelve_unchecked).shows(&[29]).only_host(),
    test!(fault_stays_with_its_stream).shows(&[29]),
    test!(index_arrays).shows(&[30]),
    test!(nobody_waited).shows(&[29]),
];

pub const CHAPTER: Chapter = Chapter { name: "fault", tests: TESTS };
