//! Kernels that real compilers made, run against plain Rust: every file of this folder loads, every entry that the
//! public interface can launch gives the reference's result, plain and in strict mode (which must report nothing).
//! `nvcc/checks_sm90.ptx` runs per device in `tests/devices`.

mod damaged;
mod nvcc;
mod nvcc_warps;
mod python;
#[path = "../reference/mod.rs"]
#[expect(dead_code, reason = "references for kernels that other tests run")]
mod reference;

use scoped_gpu::Device;

/// Runs `$kernel` of `$text` on a new host device, plain and in strict mode, and gives what the written arrays hold.
/// Arrays are named before the launch: `[read] [written]`, each a `Vec` of the caller that is left as it is.
macro_rules! launch {
    ($text:expr, $kernel:expr, $signature:ty, $launch:expr, [$($read:ident),*] [$($written:ident),+],
     ($($argument:expr),+ $(,)?)) => {{
        let run = |strict: bool| {
            scoped_gpu::Device::host().scope(|ctx| {
                let kernel = ctx.module_named($kernel, $text)?.kernel::<$signature>($kernel)?;
                $(let $read = crate::upload(ctx, &$read)?;)*
                $(let mut $written = crate::upload(ctx, &$written)?;)+
                let launch: scoped_gpu::Launch = $launch;
                let launch = launch.max_steps(20_000_000);
                let launch = if strict { launch.strict() } else { launch };
                ctx.launch(&kernel, launch, ($($argument,)+))?;
                scoped_gpu::ok(($($written.to_vec()?),+))
            })
        };
        let [plain, strict] = [false, true].map(|strict| match run(strict) {
            Ok(results) => results,
            Err(error) => panic!("{} (strict: {strict}): {error}", $kernel),
        });
        assert!(plain == strict, "{}: strict mode computes something else", $kernel);
        plain
    }};
}
use launch;

fn upload<'ctx, T: scoped_gpu::Element>(
    ctx: &'ctx scoped_gpu::Context<'ctx>,
    values: &[T],
) -> scoped_gpu::Result<scoped_gpu::Buffer<'ctx, T>> {
    let mut buffer = ctx.buffer(values.len())?;
    buffer.copy_from_host(values)?;
    Ok(buffer)
}

/// Name and text of each file.
const FILES: &[(&str, &str)] = &[
    ("nvcc/checks_sm90", include_str!("nvcc/checks_sm90.ptx")),
    ("nvcc/common_sm80", nvcc::COMMON),
    ("numba/hist", include_str!("numba/hist.ptx")),
    ("numba/matmul", include_str!("numba/matmul.ptx")),
    ("numba/reduce", include_str!("numba/reduce.ptx")),
    ("numba/saxpy", include_str!("numba/saxpy.ptx")),
    ("numba/saxpy_dbg", include_str!("numba/saxpy_dbg.ptx")),
    ("triton/add", include_str!("triton/add_80_0.ptx")),
    ("triton/layernorm", include_str!("triton/layernorm_80_0.ptx")),
    ("triton/softmax", include_str!("triton/softmax_80_0.ptx")),
];

#[test]
fn every_file_loads_and_has_the_entries_of_its_text() {
    Device::host()
        .scope(|ctx| {
            for (name, text) in FILES {
                let module = ctx.module_named(name, text)?;
                let entries = text.lines().filter(|line| line.contains(".entry ")).count();
                assert_eq!(module.kernels().count(), entries, "{name}");
            }
            scoped_gpu::ok(())
        })
        .unwrap();
}
