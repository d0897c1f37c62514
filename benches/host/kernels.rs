//! The kernels whose speed is measured, with their inputs. What counts as an instruction is what the device itself
//! counts: each instruction of each thread that ran it.

use anyhow::Result;
use scoped_gpu::{
    Arguments, Context, Device, Kernel, Launch, Read, ReadWrite, Signature, Write, linear, zeros,
};

use crate::random::Random;
use crate::sample::Sample;

/// A kernel to measure.
pub struct Measurement {
    pub name: &'static str,
    pub run: fn(&Device) -> Result<Measured>,
    /// Thread-instructions per second on one thread, times 10⁹.
    pub floor: Option<f64>,
}

/// What a measurement found.
pub struct Measured {
    /// Instructions of all threads of one launch.
    pub instructions: u64,
    /// Time of one launch, queued and waited for.
    pub time: Sample,
}

pub const KERNELS: [Measurement; 6] = [
    Measurement { name: "arithmetic", run: arithmetic, floor: Some(5.0) },
    Measurement { name: "saxpy", run: saxpy, floor: Some(1.5) },
    Measurement { name: "stencil 2-D", run: stencil, floor: None },
    Measurement { name: "tiled matmul", run: matmul, floor: None },
    Measurement { name: "histogram", run: histogram, floor: None },
    Measurement { name: "n-body", run: nbody, floor: None },
];

const CHECKS: &str = include_str!("../../tests/corpus/nvcc/checks_sm90.ptx");

/// Counts one launch, then times others.
fn measure(mut launch: impl FnMut(Mode) -> Result<u64>) -> Result<Measured> {
    let instructions = launch(Mode::Counted)?;
    let time = Sample::of(|| launch(Mode::Timed).map(drop))?;
    Ok(Measured { instructions, time })
}

/// Whether a launch is counted, which is slow.
#[derive(Clone, Copy)]
enum Mode {
    Counted,
    Timed,
}

/// One launch, waited for. Returns the instructions of its threads if they are counted.
fn launch<'ctx, S: Signature, A: Arguments<'ctx, S>>(
    ctx: &Context<'ctx>,
    kernel: &Kernel<'ctx, S>,
    shape: Launch,
    arguments: A,
    mode: Mode,
) -> Result<u64> {
    match mode {
        Mode::Counted => Ok(ctx.launch_counted(kernel, shape, arguments)?.thread_instructions),
        Mode::Timed => {
            ctx.launch(kernel, shape, arguments)?;
            ctx.synchronize()?;
            Ok(0)
        }
    }
}

fn arithmetic(device: &Device) -> Result<Measured> {
    const THREADS: usize = 64 * 256;
    let input = Random::new(1).f32s(8 * THREADS, -1.0..1.0);
    device.scope(|ctx| {
        let module = ctx.module_named("arithmetic.ptx", include_str!("arithmetic.ptx"))?;
        let kernel = module.kernel::<(Read<f32>, Write<f32>, u32)>("arithmetic")?;
        ctx.alloc((linear(&input), zeros::<f32>(THREADS)), |(input, mut output)| {
            measure(|mode| launch(ctx, &kernel, Launch::cover(THREADS), (&input, &mut output, 100), mode))
        })
    })
}

fn saxpy(device: &Device) -> Result<Measured> {
    const LEN: usize = 1 << 20;
    let mut random = Random::new(2);
    let (x, y) = (random.f32s(LEN, -1.0..1.0), random.f32s(LEN, -1.0..1.0));
    device.scope(|ctx| {
        let module = ctx.module_named("checks_sm90.ptx", CHECKS)?;
        let kernel = module.kernel::<(u32, f32, Read<f32>, ReadWrite<f32>)>("saxpy")?;
        ctx.alloc((linear(&x), linear(&y)), |(x, mut y)| {
            measure(|mode| launch(ctx, &kernel, Launch::cover(LEN), (LEN as u32, 1e-3, &x, &mut y), mode))
        })
    })
}

fn stencil(device: &Device) -> Result<Measured> {
    const SIDE: usize = 1024;
    let input = Random::new(3).f32s(SIDE * SIDE, -1.0..1.0);
    device.scope(|ctx| {
        let module = ctx.module_named("checks_sm90.ptx", CHECKS)?;
        let kernel = module.kernel::<(Read<f32>, Write<f32>, u32, u32)>("stencil")?;
        ctx.alloc((linear(&input), zeros::<f32>(SIDE * SIDE)), |(input, mut output)| {
            measure(|mode| {
                launch(
                    ctx,
                    &kernel,
                    Launch::cover_2d(SIDE, SIDE),
                    (&input, &mut output, SIDE as u32, SIDE as u32),
                    mode,
                )
            })
        })
    })
}

fn matmul(device: &Device) -> Result<Measured> {
    const SIDE: usize = 256;
    const TILE: u32 = 16;
    let mut random = Random::new(4);
    let (a, b) = (random.f32s(SIDE * SIDE, -1.0..1.0), random.f32s(SIDE * SIDE, -1.0..1.0));
    device.scope(|ctx| {
        let module = ctx.module_named("checks_sm90.ptx", CHECKS)?;
        let kernel = module.kernel::<(Read<f32>, Read<f32>, Write<f32>, u32, u32, u32)>("matmul")?;
        ctx.alloc((linear(&a), linear(&b), zeros::<f32>(SIDE * SIDE)), |(a, b, mut c)| {
            let side = SIDE as u32;
            let shape = Launch::grid((side / TILE, side / TILE), (TILE, TILE));
            measure(|mode| launch(ctx, &kernel, shape, (&a, &b, &mut c, side, side, side), mode))
        })
    })
}

fn histogram(device: &Device) -> Result<Measured> {
    const LEN: usize = 1 << 20;
    let data = Random::new(5).u8s(LEN);
    device.scope(|ctx| {
        let module = ctx.module_named("checks_sm90.ptx", CHECKS)?;
        let kernel = module.kernel::<(Read<u8>, ReadWrite<u32>, u32)>("histogram")?;
        ctx.alloc((linear(&data), zeros::<u32>(256)), |(data, mut counts)| {
            let shape = Launch::grid(64, 256).shared_bytes(256 * size_of::<u32>());
            measure(|mode| launch(ctx, &kernel, shape, (&data, &mut counts, LEN as u32), mode))
        })
    })
}

fn nbody(device: &Device) -> Result<Measured> {
    const BODIES: usize = 2048;
    let mut random = Random::new(6);
    let position = random.f32s(4 * BODIES, -1.0..1.0);
    let velocity = random.f32s(4 * BODIES, -1.0..1.0);
    device.scope(|ctx| {
        let module = ctx.module_named("checks_sm90.ptx", CHECKS)?;
        let kernel = module.kernel::<(Read<f32>, ReadWrite<f32>, u32, f32)>("nbody")?;
        ctx.alloc((linear(&position), linear(&velocity)), |(position, mut velocity)| {
            measure(|mode| {
                launch(
                    ctx,
                    &kernel,
                    Launch::cover(BODIES),
                    (&position, &mut velocity, BODIES as u32, 1e-3),
                    mode,
                )
            })
        })
    })
}
