//! Errors as a person reads them: every message whole, as `unwrap` prints it, compared with a file in `messages/`.

use std::fmt::Debug;

use anyhow::Result;
use scoped_gpu::{
    Context, Device, Error, Launch, Pitched, Read, ReadWrite, Signature, Write, linear, pitched, uninit,
    zeros,
};

use crate::harness::{Case, Chapter, Test, test};
use crate::launch::faults;
use crate::messages::expect;

/// The message of a result that is an error.
#[track_caller]
fn refused<T: Debug>(name: &str, result: Result<T, Error>) -> Result<()> {
    expect(name, &format!("{:?}", result.expect_err(name)))
}

const HEAD: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

/// PTX that no assembler takes: the line, and what is wrong with it.
fn malformed_ptx(case: &mut Case) -> Result<()> {
    let body = |body: &str| format!("{HEAD}.visible .entry broken(.param .u64 out)\n{{\n{body}\n}}\n");
    let texts = [
        ("ptx_empty", String::new()),
        ("ptx_no_ptx", "int main() { return 0; }\n".to_owned()),
        ("ptx_no_version", ".target sm_75\n.address_size 64\n".to_owned()),
        ("ptx_cut_off", format!("{HEAD}.visible .entry broken(.param .u64 out)\n{{\n\tret;\n")),
        ("ptx_undeclared_register", body("\tmov.u32 \t%r1, 7;\n\tret;")),
        ("ptx_wrong_operands", body("\t.reg .b32 \t%r<3>;\n\tadd.u32 \t%r1, %r2;\n\tret;")),
        (
            "ptx_wrong_type",
            body("\t.reg .f32 \t%f<2>;\n\t.reg .b64 \t%rd<2>;\n\tadd.f32 \t%f1, %f1, %rd1;\n\tret;"),
        ),
        ("ptx_unknown_label", body("\tbra \tNOWHERE;")),
        ("ptx_missing_semicolon", body("\tret")),
    ];
    case.device.scope(|ctx| {
        for (name, text) in texts {
            refused(name, ctx.module_named("broken.ptx", &text))?;
        }
        Ok(())
    })
}

fn missing_kernel(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let module = ctx.module_named("saxpy.ptx", include_str!("../../ptx/saxpy.ptx"))?;
        refused("kernel_not_found", module.kernel::<()>("saxpi"))?;
        let empty = ctx.module_named("empty.ptx", HEAD)?;
        refused("kernel_not_found_none", empty.kernel::<()>("saxpy"))
    })
}

/// A declaration that does not fit: how many, how wide, of which kind.
fn wrong_signature(case: &mut Case) -> Result<()> {
    fn declared<S: Signature>(ctx: &Context<'_>, name: &str, kernel: &str) -> Result<()> {
        let module = ctx.module_named("saxpy.ptx", include_str!("../../ptx/saxpy.ptx"))?;
        refused(name, module.kernel::<S>(kernel))
    }
    case.device.scope(|ctx| {
        declared::<(f32, Read<f32>, ReadWrite<f32>)>(ctx, "signature_too_few", "saxpy")?;
        declared::<()>(ctx, "signature_none", "saxpy")?;
        declared::<(f32, Read<f32>, ReadWrite<f32>, u32, u32)>(ctx, "signature_too_many", "saxpy")?;
        declared::<(f64, Read<f32>, ReadWrite<f32>, u32)>(ctx, "signature_width", "saxpy")?;
        declared::<(f32, Read<f32>, ReadWrite<f32>, u64)>(ctx, "signature_length_width", "saxpy")?;
        declared::<(u32, Read<f32>, ReadWrite<f32>, u32)>(ctx, "signature_kind", "saxpy")?;
        declared::<(f32, u32, ReadWrite<f32>, Read<f32>)>(ctx, "signature_pointers", "saxpy")?;
        declared::<(f32, Read<f64>, ReadWrite<f64>, i32)>(ctx, "signature_of_daxpy", "daxpy")
    })
}

/// A kernel that stores through what is declared for reading: the line, its source, both sides.
fn stores_through_read(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let text = include_str!("../../ptx/shift_off_by_one.ptx");
        let shift = ctx.module_named("shift_off_by_one.ptx", text)?;
        refused("signature_read_stored", shift.kernel::<(Read<f32>, Read<f32>, u32)>("shift_off_by_one"))?;
        let module = faults(ctx)?;
        refused("signature_read_called", module.kernel::<(Read<u32>, Read<u32>)>("store_both"))
    })
}

/// Devices that are not there.
fn absent_device(_case: &mut Case) -> Result<()> {
    refused("device_unknown_name", Device::named("gpu"))?;
    refused("device_empty_name", Device::named(""))?;
    refused("device_no_number", Device::named("cuda:x"))?;
    refused(
        "device_nothing_selected",
        Device::select(1, |info| info.id.starts_with("tpu")).map_err(without_machine),
    )
}

/// The message of a selection lists this machine's devices, which are not the next machine's.
fn without_machine(error: Error) -> Error {
    let all = Device::all().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let message = error.to_string().replace(&all, "(all devices)");
    Error::new(scoped_gpu::ErrorKind::DeviceUnavailable { message })
}

/// Built without CUDA, `cuda:0` says so.
fn cuda_that_is_not_there(_case: &mut Case) -> Result<()> {
    if cfg!(feature = "cuda") {
        // What the driver, or its absence, says is not this crate's text; which device was asked for is.
        for absent in [Device::cuda(77), Device::cuda_primary(77), Device::named("cuda:77")] {
            let error = absent.expect_err("no machine has so many");
            assert!(matches!(error.kind(), scoped_gpu::ErrorKind::DeviceUnavailable { .. }), "{error:?}");
            assert!(error.to_string().starts_with("cuda:77: "), "{error}");
        }
        return Ok(());
    }
    refused("device_cuda_not_built_in", Device::cuda(0))?;
    refused("device_cuda_not_built_in_7", Device::named("cuda:7"))
}

fn sizes_that_overflow(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        refused("size_linear", ctx.buffer::<f64>(usize::MAX / 4))?;
        refused("size_row", ctx.alloc_pitched(usize::MAX / 2, 1, |_: Pitched<u32>| scoped_gpu::ok(())))?;
        refused("size_pitched", ctx.alloc_pitched(1000, 1 << 60, |_: Pitched<u8>| scoped_gpu::ok(())))?;
        refused("size_rows", ctx.alloc_pitched_3d(1, 1 << 40, 1 << 40, |_: Pitched<u8>| scoped_gpu::ok(())))?;
        refused("size_pitch", ctx.alloc_pitched(1 << 31, 1, |_: Pitched<u8>| scoped_gpu::ok(())))
    })
}

fn out_of_memory(case: &mut Case) -> Result<()> {
    let device = Device::host_with(case.host_options().memory_limit(1 << 20));
    device.scope(|ctx| {
        let _kept = ctx.buffer::<u8>(1000)?;
        refused("out_of_memory", ctx.alloc((uninit::<f32>(1 << 20),), |_| scoped_gpu::ok(())))
    })
}

/// What a launch may not ask for: thing, number, limit.
fn launches_beyond_limits(case: &mut Case) -> Result<()> {
    let launches = [
        ("launch_grid_zero", Launch::grid((3, 0), 32)),
        ("launch_block_zero", Launch::grid(3, (32, 1, 0))),
        ("launch_block_axis", Launch::grid(1, 2048)),
        ("launch_block_threads", Launch::grid(1, (64, 32))),
        ("launch_grid_y", Launch::grid((1, 70_000), 32)),
        ("launch_grid_x", Launch::cover(usize::MAX)),
        ("launch_shared_memory", Launch::grid(1, 32).shared_bytes(300_000)),
    ];
    case.device.scope(|ctx| {
        let nothing = faults(ctx)?.kernel::<()>("nothing")?;
        for (name, launch) in launches {
            refused(name, ctx.launch(&nothing, launch, ()))?;
        }
        Ok(())
    })
}

fn lengths_that_differ(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        ctx.alloc((zeros::<f32>(10), zeros::<f32>(12), pitched::<f32>(5, 2)), |(mut x, y, mut image)| {
            refused("length_from_host", x.copy_from_host(&[1.0; 9]))?;
            refused("length_to_host", x.copy_to_host(&mut [1.0; 11]))?;
            refused("length_on_the_device", x.copy_from(&y))?;
            refused("shape_on_the_device", x.copy_from(&image))?;
            refused("shape_from_host", image.copy_from_host(&[0.0; 12]))?;
            refused("shape_rows", image.rows_mut(..1).copy_from(&y.slice(..6)))
        })
    })
}

/// A fault, printed: the kernel, the line of PTX, its source, the thread, the buffer and the distance.
fn fault_report(case: &mut Case) -> Result<()> {
    let host = [1.0f32; 1000];
    case.device.scope(|ctx| {
        let module =
            ctx.module_named("ptx/shift_off_by_one.ptx", include_str!("../../ptx/shift_off_by_one.ptx"))?;
        let shift = module.kernel::<(Read<f32>, Write<f32>, u32)>("shift_off_by_one")?;
        ctx.alloc((linear(&host), zeros::<f32>(1000)), |(x, mut y)| {
            ctx.launch(&shift, Launch::cover(1000), (&x, &mut y, 1000))?;
            refused("fault_shift_off_by_one", ctx.synchronize())
        })
    })
}

/// One of each kind of mistake.
fn fault_reports(case: &mut Case) -> Result<()> {
    type Access = (ReadWrite<u32>, u64, u32);
    let mistakes = [
        ("fault_store_before", "store", -8i64),
        ("fault_store_past", "store", 128),
        ("fault_misaligned", "store", 2),
        ("fault_load", "load", 64),
        ("fault_atomic", "add", 68),
        ("fault_half_outside", "store_vector", 48),
        ("fault_trap", "trap", 0),
        ("fault_assert", "assert", 0),
    ];
    let host = case.is_host();
    // A GPU's report of an assertion does not have its text.
    let mistakes = mistakes.into_iter().filter(|(name, ..)| host || *name != "fault_assert");
    case.device.scope(|ctx| {
        let module = faults(ctx)?;
        ctx.alloc((zeros::<u32>(15),), |(mut x,)| {
            for (name, kernel, offset) in mistakes {
                let kernel = module.kernel::<Access>(kernel)?;
                ctx.launch(&kernel, Launch::grid(2, (4, 8)), (&mut x, offset.cast_unsigned(), 3))?;
                refused(name, ctx.synchronize())?;
            }
            let mut y = ctx.buffer::<u32>(15)?;
            let selected = module.kernel::<(Read<u32>, Write<u32>, u32)>("store_selected")?;
            ctx.launch(&selected, Launch::grid(1, 32), (&x, &mut y, 0))?;
            refused("fault_read_only", ctx.synchronize())?;
            let null = module.kernel::<()>("store_null")?;
            ctx.launch(&null, Launch::grid(1, 32), ())?;
            refused("fault_null", ctx.synchronize())
        })
    })
}

/// What is proved of a launch: the same words on every device, names and numbers, and what a launch does about it.
fn verdicts(case: &mut Case) -> Result<()> {
    type Spmv = (Read<i32>, Read<i32>, Read<f32>, Read<f32>, Write<f32>, i32);
    case.device.scope(|ctx| {
        let text = include_str!("../../ptx/shift_off_by_one.ptx");
        let shift = ctx.module_named("shift_off_by_one.ptx", text)?;
        let shift = shift.kernel::<(Read<f32>, Write<f32>, u32)>("shift_off_by_one")?;
        ctx.alloc((zeros::<f32>(1000), zeros::<f32>(1000)), |(x, mut y)| {
            let wrong = shift.verdict(Launch::cover(1000), (&x, &mut y, 1000))?;
            expect("verdict_shift_off_by_one", &wrong.to_string())?;
            let right = shift.verdict(Launch::cover(1000), (&x, &mut y, 999))?;
            assert!(right.all_proved(), "{right}");
            let nothing = shift.verdict(Launch::cover(0), (&x, &mut y, 0))?;
            expect("verdict_of_nothing", &nothing.to_string())
        })?;
        // Columns by their contents: known from an upload, and no more once something wrote them.
        let spmv = ctx.module_named("checks.ptx", include_str!("../corpus/nvcc/checks_sm90.ptx"))?;
        let spmv = spmv.kernel::<Spmv>("spmv")?;
        let specs = (linear(&[0, 2, 3, 4]), linear(&[0, 2, 1, 2]), zeros::<f32>(4), zeros::<f32>(3));
        ctx.alloc(specs, |(starts, mut columns, values, x)| {
            let mut y = ctx.buffer::<f32>(3)?;
            let shape = Launch::grid(1, 32);
            let known = spmv.verdict(shape, (&starts, &columns, &values, &x, &mut y, 3))?;
            assert!(known.all_proved(), "{known}");
            columns.fill(1)?;
            let unknown = spmv.verdict(shape, (&starts, &columns, &values, &x, &mut y, 3))?;
            expect("verdict_spmv", &unknown.to_string())
        })?;
        let module = faults(ctx)?;
        let selected = module.kernel::<(Read<u32>, Write<u32>, u32)>("store_selected")?;
        let both = module.kernel::<(Write<u32>, Write<u32>)>("store_both")?;
        ctx.alloc((zeros::<u32>(15), zeros::<u32>(15)), |(mut x, mut y)| {
            let of_selected = selected.verdict(Launch::grid(1, 1), (&x, &mut y, 1))?;
            let of_both = both.verdict(Launch::grid(1, 1), (&mut x, &mut y))?;
            expect("verdict_faults", &format!("{of_selected}\n{of_both}"))
        })
    })
}

/// An instruction that nobody knows does not stop the module from loading, nor its other kernels.
fn unknown_instruction(case: &mut Case) -> Result<()> {
    let text = format!(
        "{HEAD}.visible .entry unknown()\n{{\n\t.reg .b32 \t%r<3>;\n\tfrobnicate.u32 \t%r1, %r2;\n\tret;\n}}\n\
         .visible .entry known()\n{{\n\tret;\n}}\n"
    );
    case.device.scope(|ctx| {
        let module = ctx.module_named("unknown.ptx", &text)?;
        let (unknown, known) = (module.kernel::<()>("unknown")?, module.kernel::<()>("known")?);
        ctx.launch(&unknown, Launch::grid(1, 32), ())?;
        refused("fault_unsupported", ctx.synchronize())?;
        ctx.launch(&known, Launch::grid(1, 32), ())?;
        Ok(ctx.synchronize()?)
    })
}

fn fault_of_the_budget(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let forever = faults(ctx)?.kernel::<()>("forever")?;
        ctx.launch(&forever, Launch::grid(1, 32).max_steps(500), ())?;
        refused("fault_step_limit", ctx.synchronize())
    })
}

/// A fault without checks, and what every call after it answers.
fn poisoned(case: &mut Case) -> Result<()> {
    let result: Result<()> = case.device.scope(|ctx| {
        let null = faults(ctx)?.kernel::<()>("store_null")?;
        // SAFETY: none; the kernel's mistake is the point, and this process may end by it.
        unsafe { ctx.launch_unchecked(&null, Launch::grid(1, 1), ()) }?;
        refused("fault_unchecked", ctx.synchronize())?;
        refused("poisoned", ctx.buffer::<u8>(1))
    });
    // A closure that made nothing of it: its scope still says that the context came to an end.
    refused("poisoned_at_the_end", result.map_err(|error| error.downcast::<Error>().expect("the scope's")))?;
    case.expected_cleanup();
    Ok(())
}

const TESTS: &[Test] = &[
    test!(malformed_ptx).only_host(),
    test!(missing_kernel),
    test!(wrong_signature).shows(&[38]),
    test!(stores_through_read).shows(&[38]),
    test!(absent_device).shows(&[40]),
    test!(cuda_that_is_not_there).shows(&[40]),
    test!(sizes_that_overflow).shows(&[35]),
    test!(out_of_memory).shows(&[32]).only_host(),
    test!(launches_beyond_limits).shows(&[33, 34]),
    test!(lengths_that_differ),
    test!(fault_report).shows(&[30]),
    test!(verdicts),
    test!(fault_reports).shows(&[30]),
    test!(unknown_instruction).only_host(),
    test!(fault_of_the_budget).only_host(),
    test!(poisoned).shows(&[29]).only_host(),
];

pub const CHAPTER: Chapter = Chapter { name: "errors", tests: TESTS };
