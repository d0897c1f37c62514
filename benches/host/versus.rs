//! The same PTX on `ptoxide` 0.1.0 and on the host device, one thread each. The kernels are `ptoxide`'s own. Results
//! are compared, so that neither is fast by doing less.

use anyhow::{Result, ensure};
use ptoxide::{Argument, LaunchParams};
use scoped_gpu::{Device, Launch, Read, Write, linear, zeros};

use crate::random::Random;
use crate::sample::Sample;

/// Time of one launch on each.
pub struct Pair {
    pub theirs: Sample,
    pub ours: Sample,
}

/// A comparison on a device of ours.
pub type Comparison = fn(&Device) -> Result<Pair>;

pub const KERNELS: [(&str, Comparison); 2] = [("add, 2¹⁸ elements", add), ("gemm, 128 × 128 × 128", gemm)];

const ADD: &str = include_str!("ptoxide/add.ptx");
const GEMM: &str = include_str!("ptoxide/gemm.ptx");

fn add(device: &Device) -> Result<Pair> {
    const LEN: usize = 1 << 18;
    const BLOCK: u32 = 256;
    let mut random = Random::new(7);
    let (a, b) = (random.f32s(LEN, -1.0..1.0), random.f32s(LEN, -1.0..1.0));

    let mut context = ptoxide::Context::new_with_module(ADD)?;
    let [da, db, dc] = [(); 3].map(|()| context.alloc::<f32>(LEN));
    context.write(da, &a);
    context.write(db, &b);
    let arguments = [Argument::ptr(da), Argument::ptr(db), Argument::ptr(dc), Argument::U64(LEN as u64)];
    let shape = || LaunchParams::func_id(0).grid1d(LEN as u32 / BLOCK).block1d(BLOCK);
    let theirs = Sample::of(|| Ok(context.run(shape(), &arguments)?))?;
    let mut expected = vec![0.0_f32; LEN];
    context.read(dc, &mut expected);

    device.scope(|ctx| {
        let module = ctx.module_named("add.ptx", ADD)?;
        let kernel = module.kernel::<(Read<f32>, Read<f32>, Write<f32>, u64)>("_Z3addPfS_S_m")?;
        ctx.alloc((linear(&a), linear(&b), zeros::<f32>(LEN)), |(a, b, mut c)| {
            let ours = Sample::of(|| {
                ctx.launch(&kernel, Launch::grid(LEN as u32 / BLOCK, BLOCK), (&a, &b, &mut c, LEN as u64))?;
                Ok(ctx.synchronize()?)
            })?;
            ensure!(c.to_vec()? == expected, "the two interpreters add differently");
            Ok(Pair { theirs, ours })
        })
    })
}

fn gemm(device: &Device) -> Result<Pair> {
    const SIDE: usize = 128;
    const BLOCK: u32 = 16;
    let mut random = Random::new(8);
    let (a, b) = (random.f32s(SIDE * SIDE, -1.0..1.0), random.f32s(SIDE * SIDE, -1.0..1.0));
    let side = SIDE as u64;
    let grid = SIDE as u32 / BLOCK;

    let mut context = ptoxide::Context::new_with_module(GEMM)?;
    let [da, db, dc] = [(); 3].map(|()| context.alloc::<f32>(SIDE * SIDE));
    context.write(da, &a);
    context.write(db, &b);
    let size = Argument::U64;
    let arguments =
        [Argument::ptr(da), Argument::ptr(db), Argument::ptr(dc), size(side), size(side), size(side)];
    let shape = || LaunchParams::func_id(0).grid2d(grid, grid).block2d(BLOCK, BLOCK);
    let theirs = Sample::of(|| Ok(context.run(shape(), &arguments)?))?;
    let mut expected = vec![0.0_f32; SIDE * SIDE];
    context.read(dc, &mut expected);

    device.scope(|ctx| {
        let module = ctx.module_named("gemm.ptx", GEMM)?;
        type Gemm = (Read<f32>, Read<f32>, Write<f32>, u64, u64, u64);
        let kernel = module.kernel::<Gemm>("_Z4gemmPfS_S_mmm")?;
        ctx.alloc((linear(&a), linear(&b), zeros::<f32>(SIDE * SIDE)), |(a, b, mut c)| {
            let launch = Launch::grid((grid, grid), (BLOCK, BLOCK));
            let ours = Sample::of(|| {
                ctx.launch(&kernel, launch, (&a, &b, &mut c, side, side, side))?;
                Ok(ctx.synchronize()?)
            })?;
            // one interpreter may fuse where the other rounds twice
            let close = |(ours, theirs): (&f32, &f32)| (ours - theirs).abs() <= 1e-3;
            ensure!(
                c.to_vec()?.iter().zip(&expected).all(close),
                "the two interpreters multiply differently"
            );
            Ok(Pair { theirs, ours })
        })
    })
}
