//! Kernels that compilers made, against plain Rust.

use super::*;

const CHECKS: &str = include_str!("../../../../../tests/corpus/nvcc/checks_sm90.ptx");

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as f32 * 0.25 - 10.0).collect()
}

/// Runs once in the fast loop and once in the watched one, and gives the memory of `out` when both agree.
fn both<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
    text: &str,
    kernel: &str,
    grid: impl Into<Dim3> + Copy,
    block: impl Into<Dim3> + Copy,
    shared: u32,
    prepare: impl Fn(&mut Rig) -> (Vec<Arg>, u64),
) -> Vec<T> {
    let results = [false, true].map(|watched| {
        let mut rig = Rig::new("corpus.ptx", text);
        rig.statistics = watched;
        rig.strict = watched;
        let (args, out) = prepare(&mut rig);
        rig.launch(kernel, grid, block, shared, &args).unwrap_or_else(|fault| panic!("{fault}"));
        rig.download::<T>(out)
    });
    let [fast, watched] = results;
    assert_eq!(fast, watched, "{kernel}: the two loops differ");
    fast
}

#[test]
fn saxpy_and_its_grid_stride_form() {
    let n = 1000;
    let (x, y) = (ramp(n), ramp(n + 5)[5..].to_vec());
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5_f32.mul_add(*x, *y)).collect();
    let run = |kernel, grid: u32| {
        both::<f32>(CHECKS, kernel, grid, 128, 0, |rig| {
            let (x, y) = (rig.upload(&x), rig.upload(&y));
            (vec![Arg::U32(n as u32), Arg::F32(2.5), Arg::In(x), Arg::Out(y)], y)
        })
    };
    assert_eq!(run("saxpy", 8), expected);
    assert_eq!(run("axpyloop", 3), expected);
}

#[test]
fn vec4_moves_four_floats_at_once() {
    let x = ramp(4 * 77);
    let out = both::<f32>(CHECKS, "vec4", 3, 32, 0, |rig| {
        let (a, b) = (rig.upload(&x), rig.upload(&vec![0_f32; x.len()]));
        (vec![Arg::U32(77), Arg::In(a), Arg::Out(b)], b)
    });
    for (v, w) in x.chunks(4).zip(out.chunks(4)) {
        assert_eq!(w, [v[0] * 2.0, v[1] + 1.0, v[2] - 3.0, -v[3]]);
    }
}

#[test]
fn reduce_sums_over_warps_and_blocks() {
    let x: Vec<f32> = (0..5000).map(|i| (i % 17) as f32).collect();
    let out = both::<f32>(CHECKS, "reduce", 4, 256, 0, |rig| {
        let (x, out) = (rig.upload(&x), rig.upload(&[0_f32]));
        (vec![Arg::In(x), Arg::Out(out), Arg::U32(5000)], out)
    });
    // small integers: every order of summation is exact
    assert_eq!(out[0], x.iter().sum::<f32>());
}

#[test]
fn matmul_tiles_in_shared_memory() {
    let (m, n, k) = (37, 41, 29);
    let (a, b) = (ramp(m * k), ramp(k * n));
    let mut expected = vec![0_f32; m * n];
    for r in 0..m {
        for c in 0..n {
            expected[r * n + c] = (0..k).fold(0.0, |s, i| a[r * k + i].mul_add(b[i * n + c], s));
        }
    }
    let out = both::<f32>(CHECKS, "matmul", (3, 3), (16, 16), 0, |rig| {
        let (a, b, c) = (rig.upload(&a), rig.upload(&b), rig.upload(&vec![0_f32; m * n]));
        let sizes = [m, n, k].map(|v| Arg::U32(v as u32));
        (vec![Arg::In(a), Arg::In(b), Arg::Out(c), sizes[0], sizes[1], sizes[2]], c)
    });
    assert_eq!(out, expected);
}

#[test]
fn histogram_counts_in_dynamic_shared_memory() {
    let data: Vec<u8> = (0..3000_u32).map(|i| (i * i % 251) as u8).collect();
    let mut expected = vec![0_u32; 256];
    data.iter().for_each(|&v| expected[v as usize] += 1);
    let out = both::<u32>(CHECKS, "histogram", 3, 128, 1024, |rig| {
        let (d, h) = (rig.upload(&data), rig.upload(&vec![0_u32; 256]));
        (vec![Arg::In(d), Arg::Out(h), Arg::U32(3000)], h)
    });
    assert_eq!(out, expected);
}

#[test]
fn stencil_leaves_the_border() {
    let (nx, ny) = (50, 33);
    let input = ramp(nx * ny);
    let out = both::<f32>(CHECKS, "stencil", (4, 5), (16, 8), 0, |rig| {
        let (a, b) = (rig.upload(&input), rig.upload(&vec![0_f32; nx * ny]));
        (vec![Arg::In(a), Arg::Out(b), Arg::U32(nx as u32), Arg::U32(ny as u32)], b)
    });
    for y in 0..ny {
        for x in 0..nx {
            let inside = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
            let at = |x: usize, y: usize| input[y * nx + x];
            let expected = if inside {
                let sum = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
                sum.mul_add(0.25, -at(x, y))
            } else {
                0.0
            };
            assert_eq!(out[y * nx + x], expected, "({x}, {y})");
        }
    }
}

#[test]
fn transpose_through_shared_memory() {
    let n = 70;
    let a = ramp(n * n);
    let out = both::<f32>(CHECKS, "transpose", (3, 3), (32, 8), 0, |rig| {
        let (a, b) = (rig.upload(&a), rig.upload(&vec![0_f32; n * n]));
        (vec![Arg::In(a), Arg::Out(b), Arg::U32(n as u32)], b)
    });
    for y in 0..n {
        for x in 0..n {
            assert_eq!(out[x * n + y], a[y * n + x]);
        }
    }
}

#[test]
fn bitonic_sorts() {
    let n = 256_u32;
    let data: Vec<i32> = (0..n as i32).map(|i| (i * 7919) % 509 - 250).collect();
    let mut expected = data.clone();
    expected.sort_unstable();
    let mut rig = Rig::new("checks", CHECKS);
    let d = rig.upload(&data);
    let mut k = 2;
    while k <= n {
        let mut j = k / 2;
        while j > 0 {
            rig.launch("bitonic", 2, 128, 0, &[Arg::Out(d), Arg::U32(j), Arg::U32(k)]).unwrap();
            j /= 2;
        }
        k *= 2;
    }
    assert_eq!(rig.download::<i32>(d), expected);
}

#[test]
fn mandel_diverges_and_meets_again() {
    let (w, h, it) = (40_u32, 24_u32, 60_i32);
    let (x0, y0, sx, sy) = (-2.0_f32, -1.0_f32, 0.075_f32, 0.083_f32);
    let out = both::<u8>(CHECKS, "mandel", (3, 3), (16, 8), 0, |rig| {
        let o = rig.upload(&vec![0_u8; (w * h) as usize]);
        let place = [x0, y0, sx, sy].map(Arg::F32);
        let mut args = vec![Arg::Out(o), Arg::U32(w), Arg::U32(h)];
        args.extend(place);
        args.push(Arg::U32(it as u32));
        (args, o)
    });
    let mut wrong = 0;
    for y in 0..h {
        for x in 0..w {
            let (cr, ci) = ((x as f32).mul_add(sx, x0), (y as f32).mul_add(sy, y0));
            let (mut zr, mut zi, mut k) = (0.0_f32, 0.0_f32, 0);
            while k < it && zr.mul_add(zr, zi * zi) < 4.0 {
                let t = zr.mul_add(zr, -(zi * zi)) + cr;
                zi = (zr + zr).mul_add(zi, ci);
                zr = t;
                k += 1;
            }
            let expected = (255.0 * k as f32 / it as f32) as u8;
            wrong += i32::from(out[(y * w + x) as usize] != expected);
        }
    }
    // where the compiler fused differently a point on the edge may escape a step earlier or later
    assert!(wrong <= (w * h / 100) as i32, "{wrong} points differ");
}

#[test]
fn softmax_of_rows() {
    let (rows, n) = (5, 100);
    let x = ramp(rows * n);
    let out = both::<f32>(CHECKS, "softmax", rows as u32, 32, 0, |rig| {
        let (x, y) = (rig.upload(&x), rig.upload(&vec![0_f32; rows * n]));
        (vec![Arg::In(x), Arg::Out(y), Arg::U32(n as u32)], y)
    });
    for (x, y) in x.chunks(n).zip(out.chunks(n)) {
        let most = x.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v.into()));
        let sum: f64 = x.iter().map(|&v| (f64::from(v) - most).exp()).sum();
        for (x, y) in x.iter().zip(y) {
            let expected = (f64::from(*x) - most).exp() / sum;
            assert!((f64::from(*y) - expected).abs() <= 1e-5 * expected + 1e-12, "{y} for {expected}");
        }
    }
}

#[test]
fn spmv_follows_row_pointers() {
    let rows = 50;
    let mut pointers = vec![0_i32];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for r in 0..rows {
        for i in 0..r % 7 {
            columns.push((r * 3 + i * 5) % rows);
            values.push((r + i) as f32 * 0.5);
        }
        pointers.push(columns.len() as i32);
    }
    let x = ramp(rows as usize);
    let out = both::<f32>(CHECKS, "spmv", 2, 32, 0, |rig| {
        let y = rig.upload(&vec![-1_f32; rows as usize]);
        let args = [rig.upload(&pointers), rig.upload(&columns), rig.upload(&values), rig.upload(&x)];
        let mut args: Vec<Arg> = args.into_iter().map(Arg::In).collect();
        args.extend([Arg::Out(y), Arg::U32(rows as u32)]);
        (args, y)
    });
    for r in 0..rows as usize {
        let row = pointers[r] as usize..pointers[r + 1] as usize;
        let expected = row.fold(0.0, |s, j| values[j].mul_add(x[columns[j] as usize], s));
        assert_eq!(out[r], expected);
    }
}

#[test]
fn nbody_and_the_naive_product_run() {
    let n = 64;
    let bodies: Vec<[f32; 4]> =
        (0..n).map(|i| [i as f32, (i * i % 13) as f32, (i % 5) as f32, 1.0 + (i % 3) as f32]).collect();
    let out = both::<[f32; 4]>(CHECKS, "nbody", 1, 64, 0, |rig| {
        let (p, v) = (rig.upload(&bodies), rig.upload(&vec![[0_f32; 4]; n]));
        (vec![Arg::In(p), Arg::Out(v), Arg::U32(n as u32), Arg::F32(0.5)], v)
    });
    for (i, v) in out.iter().enumerate() {
        let me = bodies[i].map(f64::from);
        let mut a = [0.0; 3];
        for q in &bodies {
            let q = q.map(f64::from);
            let d = [q[0] - me[0], q[1] - me[1], q[2] - me[2]];
            let r = 1.0 / (d.iter().map(|d| d * d).sum::<f64>() + 1e-9).sqrt();
            (0..3).for_each(|i| a[i] += d[i] * q[3] * r * r * r);
        }
        for axis in 0..3 {
            let expected = a[axis] * 0.5;
            assert!((f64::from(v[axis]) - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{v:?}");
        }
    }
    let n = 20;
    let (a, b) = (ramp(n * n), ramp(n * n));
    let c = both::<f32>(CHECKS, "mmnaive", (2, 2), (16, 16), 0, |rig| {
        let (a, b, c) = (rig.upload(&a), rig.upload(&b), rig.upload(&vec![0_f32; n * n]));
        (vec![Arg::In(a), Arg::In(b), Arg::Out(c), Arg::U32(n as u32)], c)
    });
    let expected = (0..n).fold(0.0, |s, k| a[3 * n + k].mul_add(b[k * n + 7], s));
    assert_eq!(c[3 * n + 7], expected);
}
