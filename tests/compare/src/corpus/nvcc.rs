//! The kernels of `tests/corpus/nvcc`, which nvcc compiled from CUDA C.

use std::path::Path;
use std::rc::Rc;

use anyhow::Result;

use super::{I32, Rule, Trial, U8, module};
use crate::job::Job;
use crate::random::Random;
use crate::values::Type;

/// Odd lengths among them.
const LENGTHS: [usize; 4] = [1, 127, 1001, 65_537];

/// `ex2.approx` is off by 2 units in the last place on the GPU (PTX manual, ex2), and the host device rounds it
/// correctly; a softmax divides one by a sum of them. The quotient is at most 1, and 2^-20 is 8 units of its last place.
const SOFTMAX: Rule = Rule::Within(1.0 / (1 << 20) as f64);

/// `rsqrt.approx` is off by 2^-22.9 (PTX manual, rsqrt) and enters as its cube; sums of bare products may be fused.
const NBODY: Rule = Rule::Within(2e-5);

/// A bare product of at most 10 beside a difference: one rounding of it, or none.
const STENCIL: Rule = Rule::Within(2e-6);

fn blocks(n: usize, block: usize) -> u32 {
    n.div_ceil(block) as u32
}

/// `tests/corpus/nvcc/checks_sm90.ptx`, all of it.
pub fn checks(root: &Path) -> Result<Vec<Trial>> {
    let text = module(root, "tests/corpus/nvcc/checks_sm90.ptx")?;
    let mut random = Random::new(1001);
    let mut trials = shared_kernels(&text, &mut random);
    for n in LENGTHS {
        let (x, y) = (random.f32s(n, -1e3..1e3), random.f32s(n, -1e3..1e3));
        let job = Job::new(&text, "axpyloop").shape([3, 1], [64, 1]).u32(n as u32).f32(random.f32(-2.0..2.0));
        trials.push(Trial::new(format!("axpyloop {n}"), Type::F32, job.input(&x).output(&y)));
    }
    for n in [1, 19, 40, 131] {
        let (a, b) = (random.f32s(n * n, -1.0..1.0), random.f32s(n * n, -1.0..1.0));
        let grid = [blocks(n, 16), blocks(n, 16)];
        let job = Job::new(&text, "mmnaive").shape(grid, [16, 16]).input(&a).input(&b);
        let job = job.output(&vec![-1.0_f32; n * n]).u32(n as u32);
        trials.push(Trial::new(format!("mmnaive {n}"), Type::F32, job));
    }
    for rows in [1, 143, 1999] {
        let mut starts = vec![0_i32];
        let mut columns = Vec::new();
        for row in 0..rows {
            let entries = if row % 5 == 4 { 0 } else { 1 + random.below(30) };
            columns.extend((0..entries).map(|_| random.below(rows as u64) as i32));
            starts.push(columns.len() as i32);
        }
        let (values, x) = (random.f32s(columns.len(), -1.0..1.0), random.f32s(rows, -9.0..9.0));
        let job = Job::new(&text, "spmv").shape([blocks(rows, 64), 1], [64, 1]);
        let job = job.input(&starts).input(&columns).input(&values).input(&x);
        let job = job.output(&vec![-1.0_f32; rows]).u32(rows as u32);
        trials.push(Trial::new(format!("spmv {rows}"), Type::F32, job));
    }
    Ok(trials)
}

/// The kernels that both files have.
fn shared_kernels(text: &Rc<str>, random: &mut Random) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut push = |name: String, element, rule, job| trials.push(Trial::new(name, element, job).rule(rule));
    for n in LENGTHS {
        let (x, y) = (random.f32s(n, -1e3..1e3), random.f32s(n, -1e3..1e3));
        let job = Job::new(text, "saxpy").shape([blocks(n, 256), 1], [256, 1]);
        let job = job.u32(n as u32).f32(random.f32(-2.0..2.0)).input(&x).output(&y);
        push(format!("saxpy {n}"), Type::F32, Rule::Exact, job);

        let x = random.f32s(4 * n, -9.0..9.0);
        let job = Job::new(text, "vec4").shape([blocks(n, 128), 1], [128, 1]);
        let job = job.u32(n as u32).input(&x).output(&vec![0.0_f32; 4 * n]);
        push(format!("vec4 {n}"), Type::F32, Rule::Exact, job);

        let data = random.u8s(n);
        let job = Job::new(text, "histogram").shape([5, 1], [100, 1]).shared(1024);
        let job = job.input(&data).output(&(0..256).collect::<Vec<u32>>()).u32(n as u32);
        push(format!("histogram {n}"), I32, Rule::Exact, job);
    }
    // One block adds in one order; several add to the result in any order, each with one rounding.
    for (n, grid, block) in [(1, 1, 32), (777, 1, 256), (100, 1, 1024), (5003, 7, 96)] {
        let x = random.f32s(n, -10.0..10.0);
        let job = Job::new(text, "reduce").shape([grid, 1], [block, 1]);
        let job = job.input(&x).output(&[0.5_f32]).u32(n as u32);
        let rule = if grid == 1 { Rule::Exact } else { Rule::Within(1e-4) };
        push(format!("reduce {n} by {grid}"), Type::F32, rule, job);
    }
    for (m, n, k) in [(1, 1, 1), (37, 41, 29), (16, 32, 48), (205, 170, 133)] {
        let (a, b) = (random.f32s(m * k, -1.0..1.0), random.f32s(k * n, -1.0..1.0));
        let job = Job::new(text, "matmul").shape([blocks(n, 16), blocks(m, 16)], [16, 16]);
        let job =
            job.input(&a).input(&b).output(&vec![-1.0_f32; m * n]).u32(m as u32).u32(n as u32).u32(k as u32);
        push(format!("matmul {m} × {n} × {k}"), Type::F32, Rule::Exact, job);
    }
    for (nx, ny) in [(3, 3), (50, 33), (17, 65), (301, 203)] {
        let (from, to) = (random.f32s(nx * ny, -10.0..10.0), random.f32s(nx * ny, -1.0..1.0));
        let job = Job::new(text, "stencil").shape([blocks(nx, 32), blocks(ny, 8)], [32, 8]);
        let job = job.input(&from).output(&to).u32(nx as u32).u32(ny as u32);
        push(format!("stencil {nx} × {ny}"), Type::F32, STENCIL, job);
    }
    for (n, block) in [(2, 32), (65, 64), (150, 256)] {
        let (places, velocities) = (random.f32s(4 * n, 0.1..2.0), random.f32s(4 * n, -1.0..1.0));
        let job = Job::new(text, "nbody").shape([blocks(n, block), 1], [block as u32, 1]);
        let job = job.input(&places).output(&velocities).u32(n as u32).f32(0.01);
        push(format!("nbody {n}"), Type::F32, NBODY, job);
    }
    for (w, h, steps) in [(61_usize, 43_usize, 80), (200, 131, 250)] {
        let job = Job::new(text, "mandel").shape([blocks(w, 32), blocks(h, 8)], [32, 8]);
        let job = job.output(&vec![7_u8; w * h]).u32(w as u32).u32(h as u32);
        let job = job.f32(-2.1).f32(-1.2).f32(3.0 / w as f32).f32(2.4 / h as f32).u32(steps);
        // A fused product decides on the edge of the set.
        push(format!("mandel {w} × {h}"), U8, Rule::Few(0.01), job);
    }
    for (j, k) in [(1, 2), (64, 128), (512, 1024)] {
        let job = Job::new(text, "bitonic").shape([8, 1], [128, 1]);
        let job = job.output(&random.u32s(1024)).u32(j).u32(k);
        push(format!("bitonic {j}, {k}"), I32, Rule::Exact, job);
    }
    for n in [1, 33, 70, 257] {
        let job = Job::new(text, "transpose").shape([blocks(n, 32), blocks(n, 32)], [32, 8]);
        let job = job.input(&random.f32s(n * n, -9.0..9.0)).output(&vec![0.0_f32; n * n]).u32(n as u32);
        push(format!("transpose {n}"), Type::F32, Rule::Exact, job);
    }
    for (rows, n) in [(1, 1), (7, 33), (13, 200), (64, 1000)] {
        let job = Job::new(text, "softmax").shape([rows as u32, 1], [32, 1]);
        let job =
            job.input(&random.f32s(rows * n, -30.0..30.0)).output(&vec![-1.0_f32; rows * n]).u32(n as u32);
        push(format!("softmax {rows} × {n}"), Type::F32, SOFTMAX, job);
    }
    trials
}

/// `tests/corpus/nvcc/common_sm80.ptx` without `bigparam`, whose pointer lies in a structure.
pub fn common(root: &Path) -> Result<Vec<Trial>> {
    let text = module(root, "tests/corpus/nvcc/common_sm80.ptx")?;
    let mut random = Random::new(1002);
    let mut trials = shared_kernels(&text, &mut random);
    trials.extend(arithmetic(&text, &mut random));
    trials.extend(cooperation(&text, &mut random));
    Ok(trials)
}

fn arithmetic(text: &Rc<str>, random: &mut Random) -> Vec<Trial> {
    let doubles = |n: usize, random: &mut Random| -> Vec<f64> {
        (0..n).map(|_| f64::from(random.f32(0.5..1.4)) + f64::from(random.f32(-1.0..1.0)) * 1e-9).collect()
    };
    let n = 4099;
    let cover = |kernel| Job::new(text, kernel).shape([blocks(n, 128), 1], [128, 1]);
    let (x, y) = (doubles(n, random), doubles(n, random));
    let axpy =
        Job::new(text, "saxpy_grid").shape([3, 1], [64, 1]).u64(n as u64).f64(0.1).input(&x).output(&y);
    let floats = random.f32s(n, 0.5..1.4);
    let mathf = cover("mathf").input(&floats).output(&vec![0.0_f32; n]).u32(n as u32);
    let mathd = cover("mathd").input(&x).output(&vec![0.0_f64; n]).u32(n as u32);
    let longs: Vec<u64> = (0..n).map(|_| random.bits()).collect();
    let (a, b) = (random.u32s(n), random.u32s(n));
    let int = cover("ints").input(&a).input(&b).input(&longs);
    let int = int.output(&vec![0_u32; n]).output(&vec![0_u64; n]).u32(n as u32);
    let halves = |random: &mut Random, base: u16| -> Vec<u16> {
        (0..n).map(|_| base + random.below(0x200) as u16).collect()
    };
    // f16 from 1 to 1.5, bf16 from 0.5 to 8.
    let (hx, hy, bx, by) =
        (halves(random, 0x3c00), halves(random, 0x3c00), halves(random, 0x3f00), halves(random, 0x3f00));
    let half = cover("half_k").input(&hx).output(&hy).input(&bx).output(&by).u32(n as u32);
    let fft = Job::new(text, "fft").shape([4, 1], [64, 1]).shared(64 * 8);
    let fft = fft.output(&random.f32s(4 * 64 * 2, -1.0..1.0)).u32(64).u32(6);
    vec![
        Trial::new("saxpy_grid", Type::F64, axpy),
        // Twenty functions of the CUDA library, some by ex2, lg2 and rsqrt; their sum is some tens.
        Trial::new("mathf", Type::F32, mathf).rule(Rule::Within(1e-5)),
        // Corrected by Newton steps that begin with an approximate reciprocal.
        Trial::new("mathd", Type::F64, mathd).rule(Rule::Within(1e-14)),
        Trial::new("ints", I32, int),
        // A square root and an exponential of halves: one unit in the last place of a bf16 is 2^-7.
        Trial::new("half_k", Type::F16, half).rule(Rule::Few(0.02)),
        // Bare products may be fused.
        Trial::new("fft", Type::F32, fft).rule(Rule::Within(1e-5)),
    ]
}

fn cooperation(text: &Rc<str>, random: &mut Random) -> Vec<Trial> {
    let one = |kernel| Job::new(text, kernel).shape([1, 1], [32, 1]);
    let ramp: Vec<u32> = (0..64).collect();
    let scan = |n: usize, random: &mut Random| {
        Job::new(text, "scan")
            .shape([1, 1], [n as u32, 1])
            .shared(n as u32 * 8)
            .output(&random.u32s(n))
            .u32(n as u32)
    };
    // One thread each: with more the results depend on their order.
    let atomics =
        Job::new(text, "atomics").output(&random.u32s(64)).output(&random.u32s(64)).output(&[1.5_f32]);
    let atomics = atomics.output(&[2.5_f64]).output(&[7_u64, 3]).output(&[0x3c00_3c00_u32]);
    let volatile = Job::new(text, "vol").output(&[1_u32]).output(&[5_u32, 0]);
    let small: Vec<f32> = (0..32 * 8).map(|_| random.below(50) as f32).collect();
    vec![
        Trial::new("scan 1", I32, scan(97, random)),
        Trial::new("scan 2", I32, scan(1000, random)),
        Trial::new(
            "warpscan",
            I32,
            Job::new(text, "warpscan").shape([4, 1], [96, 1]).output(&random.u32s(333)).u32(333),
        ),
        Trial::new(
            "bitonic_shared",
            I32,
            Job::new(text, "bitonic_shared").shape([1, 1], [1024, 1]).output(&random.u32s(777)).u32(777),
        ),
        Trial::new("atomics", I32, atomics),
        Trial::new("warpops", I32, one("warpops").output(&[0_u32; 340])).first(300),
        Trial::new("dbg", I32, one("dbg").output(&ramp).u32(32)),
        Trial::new("localmem", Type::F32, one("localmem").input(&small).output(&[0.0_f32; 32]).u32(32)),
        Trial::new("recurse", I32, one("recurse").output(&(0..32).map(|i| i % 11).collect::<Vec<u32>>())),
        Trial::new(
            "indirect",
            Type::F32,
            one("indirect").output(&random.f32s(32, -9.0..9.0)).input(&random.u32s(32)),
        ),
        Trial::new("consts", Type::F32, one("consts").output(&[5.0_f32; 32])),
        Trial::new("vol", I32, volatile),
        Trial::new("sw", I32, one("sw").output(&(0..32).map(|i| i % 9).collect::<Vec<u32>>()).u32(12_345)),
    ]
}
