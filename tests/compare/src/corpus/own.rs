//! The kernels of `ptx`, which the crate ships: every operation is exactly rounded, so every bit is compared.

use std::path::Path;

use anyhow::Result;

use super::{I32, Trial, U8, module};
use crate::job::{Argument, Job};
use crate::random::Random;
use crate::values::Type;

const LENGTHS: [usize; 4] = [9, 257, 1003, 70_001];
const PICTURES: [(usize, usize); 4] = [(1, 9), (40, 23), (65, 17), (311, 207)];

/// Bytes from row to row of a picture of floats: no multiple of its width.
fn pitch(width: usize) -> usize {
    (4 * width).next_multiple_of(64) + 64
}

/// A grid of blocks of 32 × 8 threads.
fn cover(job: Job, width: usize, height: usize) -> Job {
    job.shape([width.div_ceil(32) as u32, height.div_ceil(8) as u32], [32, 8])
}

pub fn trials(root: &Path) -> Result<Vec<Trial>> {
    let mut trials = vectors(root)?;
    trials.extend(pictures(root)?);
    trials.extend(fills(root)?);
    Ok(trials)
}

fn vectors(root: &Path) -> Result<Vec<Trial>> {
    let text = |name: &str| module(root, &format!("ptx/{name}.ptx"));
    let (add, scale, saxpy) = (text("add")?, text("scale")?, text("saxpy")?);
    let (copy, reduce, shift) = (text("copy")?, text("reduce")?, text("shift_off_by_one")?);
    let mut random = Random::new(2001);
    let mut trials = Vec::new();
    for n in LENGTHS {
        let blocks = [n.div_ceil(96) as u32, 1];
        let job = |text, kernel: &str| Job::new(text, kernel).shape(blocks, [96, 1]);
        // Any bits: NaN, infinities and numbers too small to be normal among them.
        let (a, b) = (random.u32s(n), random.u32s(n));
        let length = n as u32;
        let float = |name: &str, job| Trial::new(format!("{name} {n}"), Type::F32, job);
        trials.push(float("add", job(&add, "add").input(&a).input(&b).output(&vec![0_u32; n]).u32(length)));
        trials.push(float("scale", job(&scale, "scale").output(&a).f32(0.1).u32(length)));
        trials.push(float("saxpy", job(&saxpy, "saxpy").f32(-1.7).input(&a).output(&b).u32(length)));
        let (x, y): (Vec<u64>, Vec<u64>) = (0..n).map(|_| (random.bits(), random.bits())).unzip();
        let daxpy = job(&saxpy, "daxpy").f64(0.1).input(&x).output(&y).u32(length);
        trials.push(Trial::new(format!("daxpy {n}"), Type::F64, daxpy));
        let words = job(&copy, "copy_u32").input(&a).output(&vec![0_u32; n + 1]).u64(n as u64);
        trials.push(Trial::new(format!("copy_u32 {n}"), I32, words));
        let quads =
            job(&copy, "copy_u128").input(&random.u32s(4 * n)).output(&vec![0_u32; 4 * n + 4]).u64(n as u64);
        trials.push(Trial::new(format!("copy_u128 {n}"), I32, quads));
        let sums = Job::new(&reduce, "reduce_sum").shape([5, 1], [224, 1]);
        let sums = sums.input(&random.f32s(n, -10.0..10.0)).output(&[-1.0_f32; 5]).u32(length);
        trials.push(float("reduce_sum", sums));
        let most = Job::new(&reduce, "reduce_min_max").shape([3, 1], [128, 1]);
        let most = most.input(&a).output(&[7_u32; 3]).output(&[7_u32; 3]).u32(length);
        trials.push(Trial::new(format!("reduce_min_max {n}"), I32, most));
        let shift = job(&shift, "shift_off_by_one").input(&a).output(&vec![0_u32; n + 1]).u32(length);
        trials.push(float("shift_off_by_one", shift));
    }
    Ok(trials)
}

fn pictures(root: &Path) -> Result<Vec<Trial>> {
    let stencil = module(root, "ptx/stencil.ptx")?;
    let diffusion = module(root, "ptx/perona_malik.ptx")?;
    let copy = module(root, "ptx/copy.ptx")?;
    let mut random = Random::new(2002);
    let mut trials = Vec::new();
    for (width, height) in PICTURES {
        let (bytes, w, h) = (pitch(width), width as u32, height as u32);
        let picture = random.f32s(bytes / 4 * height, 0.0..255.0);
        let empty = vec![-1.0_f32; picture.len()];
        let job = cover(Job::new(&stencil, "stencil"), width, height);
        let job = job.input(&picture).output(&empty).u64(bytes as u64).u32(w).u32(h);
        trials.push(Trial::new(format!("stencil {w} × {h}"), Type::F32, job));
        let job = cover(Job::new(&diffusion, "perona_malik"), width, height);
        let job = job.input(&picture).u64(bytes as u64).output(&empty).u64(bytes as u64).u32(w).u32(h);
        trials.push(Trial::new(format!("perona_malik {w} × {h}"), Type::F32, job.f32(20.0).f32(0.2)));
        let job = cover(Job::new(&copy, "copy_pitched"), 4 * width, height);
        let job = job.input(&picture).u64(bytes as u64).output(&empty).u64(bytes as u64);
        let job = job.u64(4 * width as u64).u64(height as u64);
        trials.push(Trial::new(format!("copy_pitched {w} × {h}"), U8, job));
    }
    Ok(trials)
}

/// Fills of every width, with a grid that is smaller than the array.
fn fills(root: &Path) -> Result<Vec<Trial>> {
    let text = module(root, "ptx/fill.ptx")?;
    let mut trials = Vec::new();
    let pattern = [1_u8, 2, 3, 4, 5, 6, 7];
    for (bits, values) in [
        (8, vec![Argument::U8(0xa7)]),
        (16, vec![Argument::U16(0xa7b6)]),
        (32, vec![Argument::U32(!5)]),
        (64, vec![Argument::U64(1 << 40 | 3)]),
        (128, vec![Argument::U64(3), Argument::U64(5)]),
    ] {
        let size = bits / 8;
        let before = vec![0x11_u8; 1003 * size];
        let job = Job::new(&text, &format!("fill_u{bits}")).shape([2, 1], [48, 1]).output(&before).u64(1000);
        let job = values.iter().cloned().fold(job, Job::argument);
        trials.push(Trial::new(format!("fill_u{bits}"), U8, job));
        let (width, height) = (37, 11);
        let pitch = (width * size).next_multiple_of(64);
        let job = Job::new(&text, &format!("fill_pitched_u{bits}")).shape([2, 1], [8, 3]);
        let job =
            job.output(&vec![0x11_u8; pitch * height]).u64(pitch as u64).u64(width as u64).u64(height as u64);
        let job = values.iter().cloned().fold(job, Job::argument);
        trials.push(Trial::new(format!("fill_pitched_u{bits}"), U8, job));
    }
    let job = Job::new(&text, "fill_repeat").shape([2, 1], [48, 1]);
    let job = job.output(&[0_u8; 1003]).u64(994).input(&pattern).u32(7);
    trials.push(Trial::new("fill_repeat", U8, job));
    let job = Job::new(&text, "fill_pitched_repeat").shape([2, 1], [8, 3]);
    let job = job.output(&[0x11_u8; 128 * 9]).u64(128).u64(91).u64(9).input(&pattern).u32(7);
    trials.push(Trial::new("fill_pitched_repeat", U8, job));
    Ok(trials)
}
