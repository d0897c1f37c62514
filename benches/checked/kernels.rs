//! The kernels at their shapes. `checks.cu` beside the PTX, in `tests/corpus/nvcc`, says what they compute.

use anyhow::Result;
use scoped_gpu::{Context, Element, Kernel, Launch, Read, ReadWrite, Signature, Write, linear, zeros};

use crate::random::Random;
use crate::{Measured, launch, measure};

/// Measures one kernel in a scope.
type Measure = for<'ctx> fn(&Context<'ctx>) -> Result<Measured>;

pub const KERNELS: &[(&str, Measure)] = &[
    ("saxpy", |ctx| axpy(ctx, "saxpy", Launch::grid((N / 256) as u32, 256))),
    ("vec4", vec4),
    ("axpyloop", |ctx| axpy(ctx, "axpyloop", Launch::grid(132 * 16, 256))),
    ("reduce", reduce),
    ("stencil", stencil),
    ("matmul", matmul),
    ("mmnaive", mmnaive),
    ("nbody", nbody),
    ("histogram", histogram),
    ("mandel", mandel),
    ("bitonic", bitonic),
    ("transpose", transpose),
    ("softmax", softmax),
    ("spmv", spmv),
];

/// Elements of the large arrays.
const N: usize = 1 << 27;

fn kernel<'ctx, S: Signature>(ctx: &Context<'ctx>, name: &str) -> Result<Kernel<'ctx, S>> {
    Ok(ctx.module(include_str!("../../tests/corpus/nvcc/checks_sm90.ptx"))?.kernel(name)?)
}

/// Random elements, a million of them over and over.
fn random<T: Element>(len: usize, mut next: impl FnMut(&mut Random) -> T) -> Vec<T> {
    let mut random = Random::new(1);
    let block: Vec<T> = (0..len.min(1 << 20)).map(|_| next(&mut random)).collect();
    block.iter().copied().cycle().take(len).collect()
}

fn floats(len: usize) -> Vec<f32> {
    random(len, |random| random.f32(-1.0..1.0))
}

fn axpy(ctx: &Context<'_>, name: &str, shape: Launch) -> Result<Measured> {
    let axpy = kernel::<(i32, f32, Read<f32>, ReadWrite<f32>)>(ctx, name)?;
    let host = floats(N);
    ctx.alloc((linear(&host), linear(&host)), |(x, mut y)| {
        measure(ctx, |stream, way| launch!(stream, way, axpy, shape, (N as i32, 1e-3, &x, &mut y)))
    })
}

fn vec4(ctx: &Context<'_>) -> Result<Measured> {
    let vec4 = kernel::<(i32, Read<[f32; 4]>, Write<[f32; 4]>)>(ctx, "vec4")?;
    let host = random(N / 4, |random| [0; 4].map(|_: u8| random.f32(-1.0..1.0)));
    let shape = Launch::grid((N / 4 / 256) as u32, 256);
    ctx.alloc((linear(&host), zeros::<[f32; 4]>(N / 4)), |(x, mut y)| {
        measure(ctx, |stream, way| launch!(stream, way, vec4, shape, ((N / 4) as i32, &x, &mut y)))
    })
}

fn reduce(ctx: &Context<'_>) -> Result<Measured> {
    let reduce = kernel::<(Read<f32>, ReadWrite<f32>, i32)>(ctx, "reduce")?;
    let host = floats(N);
    let shape = Launch::grid(132 * 8, 256);
    ctx.alloc((linear(&host), zeros::<f32>(256)), |(x, mut sum)| {
        measure(ctx, |stream, way| launch!(stream, way, reduce, shape, (&x, &mut sum, N as i32)))
    })
}

fn stencil(ctx: &Context<'_>) -> Result<Measured> {
    let stencil = kernel::<(Read<f32>, ReadWrite<f32>, i32, i32)>(ctx, "stencil")?;
    let host = floats(8192 * 8192);
    let shape = Launch::grid((8192 / 32, 8192 / 8), (32, 8));
    ctx.alloc((linear(&host), zeros::<f32>(8192 * 8192)), |(from, mut to)| {
        measure(ctx, |stream, way| launch!(stream, way, stencil, shape, (&from, &mut to, 8192, 8192)))
    })
}

fn matmul(ctx: &Context<'_>) -> Result<Measured> {
    const SIDE: i32 = 4096;
    let matmul = kernel::<(Read<f32>, Read<f32>, Write<f32>, i32, i32, i32)>(ctx, "matmul")?;
    let host = floats((SIDE * SIDE) as usize);
    let shape = Launch::grid((SIDE as u32 / 16, SIDE as u32 / 16), (16, 16));
    ctx.alloc((linear(&host), linear(&host), zeros::<f32>(host.len())), |(a, b, mut c)| {
        measure(ctx, |stream, way| launch!(stream, way, matmul, shape, (&a, &b, &mut c, SIDE, SIDE, SIDE)))
    })
}

fn mmnaive(ctx: &Context<'_>) -> Result<Measured> {
    const SIDE: i32 = 2048;
    let product = kernel::<(Read<f32>, Read<f32>, Write<f32>, i32)>(ctx, "mmnaive")?;
    let host = floats((SIDE * SIDE) as usize);
    let shape = Launch::grid((SIDE as u32 / 32, SIDE as u32 / 8), (32, 8));
    ctx.alloc((linear(&host), linear(&host), zeros::<f32>(host.len())), |(a, b, mut c)| {
        measure(ctx, |stream, way| launch!(stream, way, product, shape, (&a, &b, &mut c, SIDE)))
    })
}

fn nbody(ctx: &Context<'_>) -> Result<Measured> {
    const BODIES: usize = 65_536;
    let nbody = kernel::<(Read<[f32; 4]>, ReadWrite<[f32; 4]>, i32, f32)>(ctx, "nbody")?;
    let host = random(BODIES, |random| [0; 4].map(|_: u8| random.f32(-1.0..1.0)));
    let shape = Launch::grid((BODIES / 256) as u32, 256);
    ctx.alloc((linear(&host), linear(&host)), |(p, mut v)| {
        measure(ctx, |stream, way| launch!(stream, way, nbody, shape, (&p, &mut v, BODIES as i32, 1e-6)))
    })
}

fn histogram(ctx: &Context<'_>) -> Result<Measured> {
    let histogram = kernel::<(Read<u8>, ReadWrite<u32>, i32)>(ctx, "histogram")?;
    let host = random(N, |random| random.bits() as u8);
    let shape = Launch::grid(132 * 8, 256).shared_bytes(1024);
    ctx.alloc((linear(&host), zeros::<u32>(256)), |(data, mut counts)| {
        measure(ctx, |stream, way| launch!(stream, way, histogram, shape, (&data, &mut counts, N as i32)))
    })
}

fn mandel(ctx: &Context<'_>) -> Result<Measured> {
    const SIDE: i32 = 4096;
    let mandel = kernel::<(Write<u8>, i32, i32, f32, f32, f32, f32, i32)>(ctx, "mandel")?;
    let shape = Launch::grid((SIDE as u32 / 32, SIDE as u32 / 8), (32, 8));
    let step = 3.0 / SIDE as f32;
    ctx.alloc((zeros::<u8>((SIDE * SIDE) as usize),), |(mut out,)| {
        measure(ctx, |stream, way| {
            launch!(stream, way, mandel, shape, (&mut out, SIDE, SIDE, -2.0, -1.5, step, step, 200))
        })
    })
}

fn bitonic(ctx: &Context<'_>) -> Result<Measured> {
    let bitonic = kernel::<(ReadWrite<i32>, i32, i32)>(ctx, "bitonic")?;
    let host = random(N, |random| random.bits() as i32);
    let shape = Launch::grid((N / 256) as u32, 256);
    ctx.alloc((linear(&host),), |(mut data,)| {
        measure(ctx, |stream, way| launch!(stream, way, bitonic, shape, (&mut data, 1 << 10, 1 << 20)))
    })
}

fn transpose(ctx: &Context<'_>) -> Result<Measured> {
    let transpose = kernel::<(Read<f32>, Write<f32>, i32)>(ctx, "transpose")?;
    let host = floats(8192 * 8192);
    let shape = Launch::grid((8192 / 32, 8192 / 32), (32, 8));
    ctx.alloc((linear(&host), zeros::<f32>(host.len())), |(a, mut b)| {
        measure(ctx, |stream, way| launch!(stream, way, transpose, shape, (&a, &mut b, 8192)))
    })
}

fn softmax(ctx: &Context<'_>) -> Result<Measured> {
    let softmax = kernel::<(Read<f32>, Write<f32>, i32)>(ctx, "softmax")?;
    let host = floats(N);
    let shape = Launch::grid(65_536, 32);
    ctx.alloc((linear(&host), zeros::<f32>(N)), |(x, mut y)| {
        measure(ctx, |stream, way| launch!(stream, way, softmax, shape, (&x, &mut y, 2048)))
    })
}

/// Rows of 16 entries in random columns.
fn spmv(ctx: &Context<'_>) -> Result<Measured> {
    const ROWS: usize = 1 << 22;
    const ENTRIES: usize = 16;
    let spmv = kernel::<(Read<i32>, Read<i32>, Read<f32>, Read<f32>, Write<f32>, i32)>(ctx, "spmv")?;
    let starts: Vec<i32> = (0..=ROWS).map(|row| (row * ENTRIES) as i32).collect();
    let columns = random(ROWS * ENTRIES, |random| random.below(ROWS as u64) as i32);
    let values = floats(ROWS * ENTRIES);
    let shape = Launch::grid((ROWS / 256) as u32, 256);
    ctx.alloc(
        (linear(&starts), linear(&columns), linear(&values), linear(&values[..ROWS]), zeros::<f32>(ROWS)),
        |(starts, columns, values, x, mut y)| {
            measure(ctx, |stream, way| {
                launch!(stream, way, spmv, shape, (&starts, &columns, &values, &x, &mut y, ROWS as i32))
            })
        },
    )
}
