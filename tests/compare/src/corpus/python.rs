//! The kernels of `tests/corpus/triton` and `tests/corpus/numba`, which those compilers made from Python.

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context as _, Result};

use super::{I32, Rule, Trial, module};
use crate::job::Job;
use crate::random::Random;
use crate::values::Type;

/// Kernels of Triton: blocks of 128 threads for 1024 elements, two pointers to scratch memory that they do not use.
pub fn triton(root: &Path) -> Result<Vec<Trial>> {
    let text = |name: &str| module(root, &format!("tests/corpus/triton/{name}_80_0.ptx"));
    let (add, softmax, layernorm) = (text("add")?, text("softmax")?, text("layernorm")?);
    let mut random = Random::new(3001);
    let scratch = |job: Job| job.input(&[0_u64; 2]).input(&[0_u64; 2]);
    let mut trials = Vec::new();
    for n in [1, 1000, 5001] {
        let job = Job::new(&add, "add").shape([(n as u32).div_ceil(1024), 1], [128, 1]);
        let job = job.input(&random.f32s(n, -1e3..1e3)).input(&random.f32s(n, -1e3..1e3));
        let job = job.output(&vec![0.0_f32; n]).u32(n as u32);
        trials.push(Trial::new(format!("add {n}"), Type::F32, scratch(job)));
    }
    for (rows, n) in [(1, 1), (5, 333), (9, 1024)] {
        let job = Job::new(&softmax, "softmax").shape([rows as u32, 1], [128, 1]).shared(1024);
        let job = job.output(&vec![-1.0_f32; rows * n]).input(&random.f32s(rows * n, -9.0..9.0));
        let job = scratch(job.u32(n as u32).u32(n as u32));
        // `ex2.approx` and `div.full`, 2 units in the last place each (PTX manual), of a quotient of at most 1.
        let rule = Rule::Within(1.0 / (1 << 20) as f64);
        trials.push(Trial::new(format!("softmax {rows} × {n}"), Type::F32, job).rule(rule));

        let halves: Vec<u16> = (0..rows * n).map(|_| 0x3800 + random.below(0x800) as u16).collect();
        let job = Job::new(&layernorm, "layernorm").shape([rows as u32, 1], [128, 1]).shared(1024);
        let job = job.input(&halves).output(&vec![0_u16; rows * n]);
        let job = job.input(&random.f32s(n, 0.5..1.5)).input(&random.f32s(n, -1.0..1.0));
        let job = scratch(job.u32(n as u32).f32(1e-5));
        // An approximate square root and quotient before one rounding to a half of at most 8: one unit of its last place.
        trials.push(
            Trial::new(format!("layernorm {rows} × {n}"), Type::F16, job).rule(Rule::Within(1.0 / 128.0)),
        );
    }
    Ok(trials)
}

/// A one-dimensional array as numba passes it: two pointers that are not used, elements, size of one, data, shape,
/// stride.
fn array(job: Job, n: usize, data: impl FnOnce(Job) -> Job) -> Job {
    data(job.u64(0).u64(0).u64(n as u64).u64(4)).u64(n as u64).u64(4)
}

/// The same for code with debug information, whose PTX says that the first two are pointers.
fn array_with_pointers(job: Job, n: usize, data: impl FnOnce(Job) -> Job) -> Job {
    data(job.input(&[0_u64]).input(&[0_u64]).u64(n as u64).u64(4)).u64(n as u64).u64(4)
}

/// A matrix of floats, row after row.
fn matrix(job: Job, rows: usize, columns: usize, data: impl FnOnce(Job) -> Job) -> Job {
    let job = data(job.u64(0).u64(0).u64((rows * columns) as u64).u64(4));
    job.u64(rows as u64).u64(columns as u64).u64(4 * columns as u64).u64(4)
}

pub fn numba(root: &Path) -> Result<Vec<Trial>> {
    let file = |name: &str| -> Result<(Rc<str>, String)> {
        let text = module(root, &format!("tests/corpus/numba/{name}.ptx"))?;
        // Names are mangled; each file has one kernel.
        let rest = text.split_once(".entry ").context("no kernel")?.1;
        let kernel = rest.split(['(', '\n', ' ']).next().unwrap_or_default().to_owned();
        Ok((text, kernel))
    };
    let mut random = Random::new(3002);
    let mut trials = Vec::new();
    let (text, kernel) = file("saxpy")?;
    let (debug_text, debug_kernel) = file("saxpy_dbg")?;
    for n in [1, 1001] {
        let blocks = [(n as u32).div_ceil(128), 1];
        let (x, y) = (random.f32s(n, -1e3..1e3), random.f32s(n, -1e3..1e3));
        let job = array(Job::new(&text, &kernel).shape(blocks, [128, 1]).f32(1.7), n, |job| job.input(&x));
        trials.push(Trial::new(format!("saxpy {n}"), Type::F32, array(job, n, |job| job.output(&y))));
        let job = Job::new(&debug_text, &debug_kernel).shape(blocks, [128, 1]).f32(1.7);
        let job = array_with_pointers(job, n, |job| job.input(&x));
        let job = array_with_pointers(job, n, |job| job.output(&y));
        trials.push(Trial::new(format!("saxpy_dbg {n}"), Type::F32, job));
    }
    let (text, kernel) = file("reduce")?;
    let x = random.f32s(200, -10.0..10.0);
    let job = array(Job::new(&text, &kernel).shape([1, 1], [256, 1]), 200, |job| job.input(&x));
    trials.push(Trial::new("reduce", Type::F32, array(job, 1, |job| job.output(&[0.5_f32]))));
    let (text, kernel) = file("hist")?;
    let x: Vec<u32> = (0..1001).map(|_| random.below(50) as u32).collect();
    let job = array(Job::new(&text, &kernel).shape([8, 1], [128, 1]), 1001, |job| job.input(&x));
    trials.push(Trial::new("hist", I32, array(job, 50, |job| job.output(&[3_u32; 50]))));
    let (text, kernel) = file("matmul")?;
    let (m, n, k) = (37, 41, 29);
    let (a, b) = (random.f32s(m * k, -1.0..1.0), random.f32s(k * n, -1.0..1.0));
    let job = Job::new(&text, &kernel).shape([(m as u32).div_ceil(16), (n as u32).div_ceil(16)], [16, 16]);
    let job = matrix(job, m, k, |job| job.input(&a));
    let job = matrix(job, k, n, |job| job.input(&b));
    let job = matrix(job, m, n, |job| job.output(&vec![-1.0_f32; m * n]));
    trials.push(Trial::new("matmul", Type::F32, job));
    Ok(trials)
}
