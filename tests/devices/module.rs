//! Modules and kernels: loading, what they list, signatures that fit, variables, how long they live.

use anyhow::Result;
use scoped_gpu::{ErrorKind, Launch, ReadWrite, Write, zeros};

use crate::harness::{Case, Chapter, Test, test};
use crate::launch::faults;

/// Kernels are listed in the order of the text.
fn lists_its_kernels(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let module = faults(ctx)?;
        let names: Vec<_> = module.kernels().collect();
        let text = include_str!("kernels/faults.ptx");
        let expected: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix(".visible .entry "))
            .filter_map(|rest| rest.split('(').next())
            .collect();
        assert_eq!(names, expected);
        let sizes: Vec<_> = module.signatures().map(|signature| signature.bytes).collect();
        assert_eq!(sizes[..7], [20, 20, 20, 20, 20, 20, 0], "an address, an offset, a number; then none");
        scoped_gpu::ok(())
    })?;
    Ok(())
}

/// A width of eight bytes without a mark may be a pointer or a number; both declarations fit.
fn unmarked_addresses_fit_both(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let module = faults(ctx)?;
        module.kernel::<(ReadWrite<u32>, u64, u32)>("store")?;
        module.kernel::<(Write<[u8; 3]>, i64, i32)>("store")?;
        module.kernel::<(u64, ReadWrite<f32>, u32)>("store")?;
        scoped_gpu::ok(())
    })?;
    Ok(())
}

/// A kernel goes on working when its module's handle and the text are gone.
fn kernel_outlives_the_handle(case: &mut Case) -> Result<()> {
    let sum = case.device.scope(|ctx| {
        let kernel = {
            let text = String::from(include_str!("kernels/faults.ptx"));
            let module = ctx.module(&text)?;
            module.kernel::<(ReadWrite<u32>, u32)>("slow_add")?
        };
        ctx.alloc((zeros::<u32>(1),), |(mut x,)| {
            ctx.launch(&kernel, Launch::grid(1, 1), (&mut x, 11))?;
            ctx.launch(&kernel.clone(), Launch::grid(1, 1), (&mut x, 22))?;
            x.to_vec()
        })
    })?;
    assert_eq!(sum, [33]);
    Ok(())
}

/// A module's variables begin as the text says, keep what launches left, and belong to that module alone.
fn variables_belong_to_their_module(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let (one, two) = (faults(ctx)?, faults(ctx)?);
        let kernels = [one.kernel::<(Write<u32>,)>("count")?, two.kernel::<(Write<u32>,)>("count")?];
        ctx.alloc((zeros::<u32>(1),), |(mut out,)| {
            for (kernel, expected) in [(0, 6), (0, 7), (1, 6), (0, 8), (1, 7)] {
                ctx.launch(&kernels[kernel], Launch::grid(1, 1), (&mut out,))?;
                assert_eq!(out.to_vec()?, [expected]);
            }
            scoped_gpu::ok(())
        })
    })?;
    variables_are_new_in_a_new_scope(case)
}

fn variables_are_new_in_a_new_scope(case: &Case) -> Result<()> {
    let out = case.device.scope(|ctx| {
        let count = faults(ctx)?.kernel::<(Write<u32>,)>("count")?;
        ctx.alloc((zeros::<u32>(1),), |(mut out,)| {
            ctx.launch(&count, Launch::grid(1, 1), (&mut out,))?;
            out.to_vec()
        })
    })?;
    assert_eq!(out, [6]);
    Ok(())
}

/// Every file of PTX that the tests have loads, and unloads with its scope.
fn everything_loads(case: &mut Case) -> Result<()> {
    let texts = [
        include_str!("../corpus/nvcc/checks_sm90.ptx"),
        include_str!("../corpus/nvcc/common_sm80.ptx"),
        include_str!("../corpus/numba/hist.ptx"),
        include_str!("../corpus/numba/matmul.ptx"),
        include_str!("../corpus/numba/reduce.ptx"),
        include_str!("../corpus/numba/saxpy.ptx"),
        include_str!("../corpus/numba/saxpy_dbg.ptx"),
        include_str!("../corpus/triton/add_80_0.ptx"),
        include_str!("../corpus/triton/layernorm_80_0.ptx"),
        include_str!("../corpus/triton/softmax_80_0.ptx"),
    ];
    let host = case.is_host();
    case.device.scope(|ctx| {
        for text in texts {
            match ctx.module(text) {
                Ok(module) => assert!(module.kernels().next().is_some()),
                // A driver may be older than the compiler: both versions are named, and what its compiler says.
                Err(error) if !host => {
                    let message = error.to_string();
                    assert!(matches!(error.kind(), ErrorKind::Ptx { .. }), "{message}");
                    assert!(
                        message.contains("the PTX is version 9.5, the driver is one for CUDA 13."),
                        "{message}"
                    );
                    assert!(message.lines().count() > 1, "the compiler's log is in the error: {message}");
                }
                Err(error) => return Err(error),
            }
        }
        scoped_gpu::ok(())
    })?;
    Ok(())
}

/// Loaded on one thread, launched on others.
fn kernels_are_shared_by_threads(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let kernel = faults(ctx)?.kernel::<(ReadWrite<u32>, u32)>("slow_add")?;
        std::thread::scope(|threads| {
            let work = || {
                ctx.alloc((zeros::<u32>(1),), |(mut x,)| {
                    ctx.launch(&kernel, Launch::grid(1, 1), (&mut x, 5))?;
                    x.to_vec()
                })
            };
            let spawned = [threads.spawn(work), threads.spawn(work)];
            for thread in spawned {
                assert_eq!(thread.join().expect("no panic")?, [5]);
            }
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

const TESTS: &[Test] = &[
    test!(lists_its_kernels),
    test!(unmarked_addresses_fit_both).shows(&[38]),
    test!(kernel_outlives_the_handle),
    test!(variables_belong_to_their_module),
    test!(everything_loads).shows(&[31]),
    test!(kernels_are_shared_by_threads),
];

pub const CHAPTER: Chapter = Chapter { name: "module", tests: TESTS };
