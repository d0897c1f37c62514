//! Launches: what a device accepts and refuses, what may be an argument, and how long an argument must live.

use scoped_gpu::{
    Context, Dim3, Dynamic, DynamicArgument, Error, ErrorKind, FaultKind, Kernel, Launch, Limits, Module,
    Read, ReadWrite, Write, linear, pitched, zeros,
};

use crate::harness::{Case, Chapter, Test, test};

type Add = (Read<f32>, Read<f32>, Write<f32>, u32);

fn add<'ctx>(ctx: &Context<'ctx>) -> Result<Kernel<'ctx, Add>, Error> {
    ctx.module(include_str!("../../ptx/add.ptx"))?.kernel("add")
}

pub fn faults<'ctx>(ctx: &Context<'ctx>) -> Result<Module<'ctx>, Error> {
    ctx.module_named("faults.ptx", include_str!("kernels/faults.ptx"))
}

/// Arguments whose types are known only at run time are compared at the launch; what does not fit names the launch's line.
fn dynamic_arguments_that_do_not_fit(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        let kernel = ctx.module(include_str!("../../ptx/add.ptx"))?.kernel::<Dynamic>("add")?;
        let line = line!() + 1;
        let Err(error) = ctx.launch(&kernel, Launch::cover(1), vec![DynamicArgument::new::<u32>(1)]) else {
            anyhow::bail!("one argument passes for four")
        };
        anyhow::ensure!(matches!(error.kind(), ErrorKind::Signature { .. }), "{error}");
        anyhow::ensure!((error.location().file(), error.location().line()) == (file!(), line), "{error:?}");
        Ok(())
    })
}

/// A launch over no elements is no launch: the kernel, which would trap, does not run.
fn over_no_elements(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        let null = faults(ctx)?.kernel::<()>("store_null")?;
        ctx.launch(&null, Launch::cover(0), ())?;
        ctx.launch(&null, Launch::cover_2d(0, 5), ())?;
        ctx.launch(&null, Launch::cover_2d(5, 0).block((8, 8)), ())?;
        ctx.synchronize()
    })?;
    Ok(())
}

/// Arrays without elements are arguments too.
fn with_empty_arrays(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        let add = add(ctx)?;
        ctx.alloc((zeros::<f32>(0), zeros::<f32>(0), zeros::<f32>(0)), |(a, b, mut c)| {
            ctx.launch(&add, Launch::grid(2, 32), (&a, &b, &mut c, 0))?;
            ctx.synchronize()
        })
    })?;
    Ok(())
}

/// What a device does not allow is refused by the call, with the number that is wrong, and nothing has happened.
fn beyond_the_limits(case: &mut Case) -> anyhow::Result<()> {
    let limits: Limits = case.device.info().limits;
    let Dim3 { x, y, z } = limits.block;
    let threads = limits.threads_per_block;
    let refused = [
        (Launch::grid((0, 1, 1), 32), "grid.x is 0"),
        (Launch::grid((1, 0, 1), 32), "grid.y is 0"),
        (Launch::grid((1, 1, 0), 32), "grid.z is 0"),
        (Launch::grid(1, (32, 0)), "block.y is 0"),
        (Launch::cover(10).block(0), "block.x is 0"),
        (Launch::grid((1, limits.grid.y + 1), 32), "grid.y"),
        (Launch::grid((1, 1, limits.grid.z + 1), 32), "grid.z"),
        (Launch::grid(limits.grid.x + 1, 32), "grid.x"),
        (Launch::grid(u32::MAX, 1), "grid.x"),
        (Launch::cover_2d(1, usize::MAX), "grid.y"),
        (Launch::cover(usize::MAX), "grid.x"),
        (Launch::grid(1, x + 1), "block.x"),
        (Launch::grid(1, (1, y + 1)), "block.y"),
        (Launch::grid(1, (1, 1, z + 1)), "block.z"),
        (Launch::grid(1, (threads, 2)), "block of"),
        (Launch::grid(1, 1).shared_bytes(limits.shared_per_block_optin as usize + 1), "shared memory"),
        (Launch::grid(1, 1).shared_bytes(usize::MAX), "shared memory"),
    ];
    case.device.scope(|ctx| {
        let null = faults(ctx)?.kernel::<()>("store_null")?;
        for (launch, named) in refused {
            let error = ctx.launch(&null, launch, ()).expect_err(named);
            assert!(matches!(error.kind(), ErrorKind::Launch { .. }), "{error}");
            assert!(error.to_string().contains(named), "`{error}` does not name `{named}`");
            ctx.synchronize()?;
        }
        scoped_gpu::ok(())
    })?;
    Ok(())
}

/// The largest block on each axis, and the largest grid along y, run.
fn at_the_limits(case: &mut Case) -> anyhow::Result<()> {
    let limits = case.device.info().limits;
    case.device.scope(|ctx| {
        let nothing = faults(ctx)?.kernel::<()>("nothing")?;
        for block in [
            Dim3::new(limits.block.x, 1, 1),
            Dim3::new(1, limits.block.y, 1),
            Dim3::new(1, 1, limits.block.z),
        ] {
            ctx.launch(&nothing, Launch::grid(1, block), ())?;
        }
        ctx.launch(&nothing, Launch::grid((1, limits.grid.y), 1), ())?;
        ctx.launch(&nothing, Launch::grid(1, 1).shared_bytes(limits.shared_per_block_optin as usize), ())?;
        ctx.synchronize()
    })?;
    Ok(())
}

/// More shared memory than a launch gets without asking: the library asks.
fn shared_memory_opts_in(case: &mut Case) -> anyhow::Result<()> {
    let data: Vec<u8> = (0..1000u32).map(|i| (i % 251) as u8).collect();
    let limits = case.device.info().limits;
    let counts = case.device.scope(|ctx| {
        let module = ctx.module(include_str!("../corpus/nvcc/checks_sm90.ptx"))?;
        let histogram = module.kernel::<(Read<u8>, ReadWrite<u32>, i32)>("histogram")?;
        ctx.alloc((linear(&data), zeros::<u32>(256)), |(data, mut counts)| {
            let launch = Launch::grid(1, 64).shared_bytes(2 * limits.shared_per_block as usize);
            ctx.launch(&histogram, launch, (&data, &mut counts, 1000))?;
            counts.to_vec()
        })
    })?;
    assert_eq!(counts.iter().sum::<u32>(), 1000);
    assert_eq!((counts[0], counts[246], counts[247], counts[251]), (4, 4, 3, 0));
    Ok(())
}

/// Views are arguments by value; two disjoint halves of one array go to one launch.
fn views_are_arguments(case: &mut Case) -> anyhow::Result<()> {
    let host: Vec<f32> = (0..10u8).map(f32::from).collect();
    case.device.scope(|ctx| {
        let add = add(ctx)?;
        ctx.alloc((linear(&host), pitched::<f32>(4, 3)), |(mut x, mut image)| {
            let (left, mut right) = x.split_at_mut(6);
            ctx.launch(
                &add,
                Launch::cover(3),
                (left.slice(0..3), left.slice(3..), &mut right.slice_mut(1..), 3),
            )?;
            assert_eq!(x.to_vec()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 3.0, 5.0, 7.0]);
            let (top, bottom) = image.split_at_row_mut(1);
            ctx.launch(&add, Launch::cover(4), (x.slice(..4), top.view(), bottom, 4))?;
            assert_eq!(image.to_vec()?, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// A launch may touch what it was given and no more, also where the rest of the same array lies.
fn a_view_is_the_limit(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        let store = faults(ctx)?.kernel::<(ReadWrite<u32>, u64, u32)>("store")?;
        ctx.alloc((zeros::<u32>(10),), |(mut x,)| {
            for offset in [16, (-4i64).cast_unsigned(), 20] {
                ctx.launch(&store, Launch::grid(1, 32), (x.slice_mut(3..7), offset, 0))?;
                let error = ctx.synchronize().expect_err("outside the view");
                let kind = error.fault().map(|fault| &fault.kind);
                assert_eq!(kind, Some(&FaultKind::OutOfRange), "{error}");
            }
            ctx.launch(&store, Launch::grid(1, 32), (x.slice_mut(3..7), 12, 9))?;
            assert_eq!(x.to_vec()?, [0, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// Many launches queued with arguments that are gone when they run.
fn arguments_live_until_the_launch_ran(case: &mut Case) -> anyhow::Result<()> {
    let sums = case.device.scope(|ctx| {
        let saxpy = ctx
            .module(include_str!("../../ptx/saxpy.ptx"))?
            .kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
        ctx.alloc((linear(&[1.0f32, 10.0, 100.0]), zeros::<f32>(3)), |(x, mut y)| {
            for factors in (0..50u8).map(|i| vec![f32::from(i); 2]) {
                let kernel = saxpy.clone();
                ctx.launch(&kernel, Launch::cover(3), (factors[1], x.view(), y.view_mut(), 3))?;
            }
            drop(saxpy);
            y.to_vec()
        })
    })?;
    assert_eq!(sums, [1225.0, 12_250.0, 122_500.0]);
    Ok(())
}

/// Launches from several threads on one context, each on arrays of its own.
fn from_several_threads(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        let add = add(ctx)?;
        std::thread::scope(|threads| {
            let spawned: Vec<_> = (1..5u8)
                .map(|value| {
                    let add = &add;
                    threads.spawn(move || {
                        let host = vec![f32::from(value); 300];
                        ctx.alloc((linear(&host), zeros::<f32>(300)), |(x, mut sum)| {
                            for _ in 0..5 {
                                ctx.launch(add, Launch::cover(300), (&x, &x, &mut sum, 300))?;
                            }
                            sum.to_vec()
                        })
                    })
                })
                .collect();
            for (value, thread) in (1..5u8).zip(spawned) {
                assert_eq!(thread.join().expect("no panic")?, vec![f32::from(value) * 2.0; 300]);
            }
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

/// A kernel that never ends, ended by its budget; the next launch runs.
fn budget_of_steps(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        let module = faults(ctx)?;
        let (forever, nothing) = (module.kernel::<()>("forever")?, module.kernel::<()>("nothing")?);
        ctx.launch(&forever, Launch::grid(2, 32).max_steps(1000), ())?;
        let error = ctx.synchronize().expect_err("it never ends");
        let kind = error.fault().map(|fault| fault.kind.clone());
        assert_eq!(kind, Some(FaultKind::StepLimit { steps: 1000 }), "{error}");
        ctx.launch(&nothing, Launch::grid(2, 32).max_steps(1000), ())?;
        ctx.synchronize()
    })?;
    Ok(())
}

const TESTS: &[Test] = &[
    test!(dynamic_arguments_that_do_not_fit).shows(&[38]),
    test!(over_no_elements).shows(&[33]),
    test!(with_empty_arrays).shows(&[33]),
    test!(beyond_the_limits).shows(&[33, 34]),
    test!(at_the_limits).shows(&[34]),
    test!(shared_memory_opts_in).shows(&[34]),
    test!(views_are_arguments),
    test!(a_view_is_the_limit).shows(&[30]),
    test!(arguments_live_until_the_launch_ran).shows(&[28]),
    test!(from_several_threads).shows(&[18]),
    test!(budget_of_steps).only_host(),
];

pub const CHAPTER: Chapter = Chapter { name: "launch", tests: TESTS };
