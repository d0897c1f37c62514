//! `nvcc/common.cu` for sm_80: numeric kernels over arrays. Those about warps, atomics, calls and local memory are in
//! `nvcc_warps`.

use scoped_gpu::{Launch, Read, ReadWrite};

use crate::launch;
use crate::reference::half::to_f16;
use crate::reference::random::Random;
use crate::reference::{Bound, checks, common, compare_bits, compare_bounds};

pub const COMMON: &str = include_str!("nvcc/common_sm80.ptx");

#[test]
fn saxpy() {
    let mut random = Random::new(1);
    let (n, a) = (700, 2.75f32);
    let (x, y) = (random.f32s(n, -9.0..9.0), random.f32s(n, -9.0..9.0));
    let got = launch!(
        COMMON,
        "saxpy",
        (i32, f32, Read<f32>, ReadWrite<f32>),
        Launch::cover(n),
        [x][y],
        (n as i32, a, &x, &mut y)
    );
    let mut expected = y.clone();
    checks::saxpy(n as i32, a, &x, &mut expected);
    compare_bits(&got, &expected).unwrap();
}

#[test]
fn saxpy_grid_strides_over_a_long_array() {
    let mut random = Random::new(2);
    let doubles = |random: &mut Random| random.f32s(1000, -9.0..9.0).into_iter().map(f64::from).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = (doubles(&mut random), doubles(&mut random));
    let got = launch!(
        COMMON,
        "saxpy_grid",
        (u64, f64, Read<f64>, ReadWrite<f64>),
        Launch::grid(3, 64),
        [x][y],
        (1000, 1.1, &x, &mut y)
    );
    let mut expected = y.clone();
    common::saxpy_grid(1000, 1.1, &x, &mut expected);
    assert_eq!(got, expected);
}

#[test]
fn vec4() {
    let mut random = Random::new(3);
    let x: Vec<[f32; 4]> = (0..150).map(|_| std::array::from_fn(|_| random.f32(-9.0..9.0))).collect();
    let y = vec![[0.0f32; 4]; 150];
    let got = launch!(
        COMMON,
        "vec4",
        (i32, Read<[f32; 4]>, ReadWrite<[f32; 4]>),
        Launch::cover(150),
        [x][y],
        (150, &x, &mut y)
    );
    let mut expected = y.clone();
    checks::vec4(150, &x, &mut expected);
    compare_bits(got.as_flattened(), expected.as_flattened()).unwrap();
}

#[test]
fn reduce() {
    let x = Random::new(4).f32s(1500, -10.0..10.0);
    let out = vec![0.5f32];
    let got = launch!(
        COMMON,
        "reduce",
        (Read<f32>, ReadWrite<f32>, i32),
        Launch::grid(5, 96),
        [x][out],
        (&x, &mut out, 1500)
    );
    let mut expected = 0.5;
    checks::reduce(&x, &mut expected, 1500, 5, 96);
    compare_bits(&got, &[expected]).unwrap();
}

#[test]
fn matmul() {
    let mut random = Random::new(5);
    let (m, n, k) = (37usize, 29usize, 21usize);
    let (a, b, c) = (random.f32s(m * k, -3.0..3.0), random.f32s(k * n, -3.0..3.0), vec![0.0f32; m * n]);
    let got = launch!(
        COMMON,
        "matmul",
        (Read<f32>, Read<f32>, ReadWrite<f32>, i32, i32, i32),
        Launch::grid((2, 3), (16, 16)),
        [a, b][c],
        (&a, &b, &mut c, m as i32, n as i32, k as i32)
    );
    let mut expected = c.clone();
    checks::matmul(&a, &b, &mut expected, m as i32, n as i32, k as i32);
    compare_bits(&got, &expected).unwrap();
}

#[test]
fn histogram() {
    let d = Random::new(6).u8s(2000);
    let h = vec![3u32; 256];
    let got = launch!(
        COMMON,
        "histogram",
        (Read<u8>, ReadWrite<u32>, i32),
        Launch::grid(3, 128).shared_bytes(1024),
        [d][h],
        (&d, &mut h, 2000)
    );
    let mut expected = h.clone();
    checks::histogram(&d, &mut expected, 2000);
    assert_eq!(got, expected);
}

#[test]
fn stencil() {
    let (nx, ny) = (45usize, 23usize);
    let input = Random::new(7).f32s(nx * ny, -5.0..5.0);
    let out = vec![0.25f32; nx * ny];
    let got = launch!(
        COMMON,
        "stencil",
        (Read<f32>, ReadWrite<f32>, i32, i32),
        Launch::cover_2d(nx, ny),
        [input][out],
        (&input, &mut out, nx as i32, ny as i32)
    );
    let mut expected = out.clone();
    checks::stencil(&input, &mut expected, nx as i32, ny as i32);
    compare_bits(&got, &expected).unwrap();
}

#[test]
fn nbody() {
    let mut random = Random::new(8);
    let mut bodies =
        || -> Vec<[f32; 4]> { (0..100).map(|_| std::array::from_fn(|_| random.f32(0.1..4.0))).collect() };
    let (p, v) = (bodies(), bodies());
    let got = launch!(
        COMMON,
        "nbody",
        (Read<[f32; 4]>, ReadWrite<[f32; 4]>, i32, f32),
        Launch::grid(2, 64),
        [p][v],
        (&p, &mut v, 100, 0.01)
    );
    let expected = checks::nbody(&p, &v, 100, 0.01);
    for (got, expected) in got.iter().zip(&expected) {
        compare_bounds(&got[..3], expected).unwrap();
    }
}

#[test]
fn mandel() {
    let (w, h) = (40usize, 24usize);
    let o = vec![0u8; w * h];
    let (x0, y0, sx, sy) = (-2.0, -1.2, 0.07, 0.1);
    let got = launch!(
        COMMON,
        "mandel",
        (ReadWrite<u8>, i32, i32, f32, f32, f32, f32, i32),
        Launch::cover_2d(w, h),
        [][o],
        (&mut o, w as i32, h as i32, x0, y0, sx, sy, 100)
    );
    let mut expected = o.clone();
    checks::mandel(&mut expected, w as i32, h as i32, x0, y0, sx, sy, 100);
    assert_eq!(got, expected);
}

#[test]
fn bitonic_step() {
    let d = Random::new(9).i32s(256, -1000..1000);
    for (j, k) in [(1, 2), (4, 16), (64, 128)] {
        let got = launch!(
            COMMON,
            "bitonic",
            (ReadWrite<i32>, i32, i32),
            Launch::grid(2, 128),
            [][d],
            (&mut d, j, k)
        );
        let mut expected = d.clone();
        checks::bitonic(&mut expected, j, k);
        assert_eq!(got, expected);
    }
}

#[test]
fn bitonic_shared_sorts() {
    let d = Random::new(10).u32s(777);
    let got =
        launch!(COMMON, "bitonic_shared", (ReadWrite<u32>, i32), Launch::grid(1, 1024), [][d], (&mut d, 777));
    let mut expected = d.clone();
    common::bitonic_shared(&mut expected, 777);
    assert_eq!(got, expected);
}

#[test]
fn scan() {
    let n = 200usize;
    let d = Random::new(11).i32s(n, i32::MIN..i32::MAX);
    let launch = Launch::grid(1, n as u32).shared_bytes(n * 8);
    let got = launch!(COMMON, "scan", (ReadWrite<i32>, i32), launch, [][d], (&mut d, n as i32));
    let mut expected = d.clone();
    common::scan(&mut expected, n as i32);
    assert_eq!(got, expected);
}

#[test]
fn fft() {
    let mut random = Random::new(12);
    let d: Vec<[f32; 2]> = (0..192).map(|_| std::array::from_fn(|_| random.f32(-1.0..1.0))).collect();
    let launch = Launch::grid(3, 64).shared_bytes(64 * 8);
    let got = launch!(COMMON, "fft", (ReadWrite<[f32; 2]>, i32, i32), launch, [][d], (&mut d, 64, 6));
    let expected = common::fft(&d, 64, 6);
    compare_bounds(got.as_flattened(), expected.as_flattened()).unwrap();
}

#[test]
fn transpose() {
    let n = 50usize;
    let a = Random::new(13).f32s(n * n, -5.0..5.0);
    let b = vec![0.0f32; n * n];
    let got = launch!(
        COMMON,
        "transpose",
        (Read<f32>, ReadWrite<f32>, i32),
        Launch::grid((2, 2), (32, 8)),
        [a][b],
        (&a, &mut b, n as i32)
    );
    let mut expected = b.clone();
    checks::transpose(&a, &mut expected, n as i32);
    compare_bits(&got, &expected).unwrap();
}

#[test]
fn softmax() {
    let n = 100usize;
    let x = Random::new(14).f32s(n * 5, -8.0..8.0);
    let y = vec![0.0f32; n * 5];
    let got = launch!(
        COMMON,
        "softmax",
        (Read<f32>, ReadWrite<f32>, i32),
        Launch::grid(5, 32),
        [x][y],
        (&x, &mut y, n as i32)
    );
    compare_bounds(&got, &checks::softmax(&x, n as i32)).unwrap();
}

/// The error function by its series about 0, for arguments below 4.
fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..100 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

/// CUDA's table of maximum errors gives at most 4 ulp for each function of the sum; 2^-19 of all magnitudes together
/// is 16.
#[test]
fn mathf_is_made_of_cudas_single_precision_functions() {
    let x = Random::new(15).f32s(200, 0.1..3.9);
    let y = vec![0.0f32; 200];
    let got = launch!(
        COMMON,
        "mathf",
        (Read<f32>, ReadWrite<f32>, i32),
        Launch::cover(200),
        [x][y],
        (&x, &mut y, 200)
    );
    let bound = |&x: &f32| {
        let v = f64::from(x);
        let exponent = f64::from(1.7f32);
        let terms = [
            v.sin(),
            v.cos() * v.tan(),
            v.exp(),
            v.ln(),
            v.powf(exponent),
            v.sqrt(),
            1.0 / v.sqrt(),
            v.tanh(),
            erf(v),
            v.atan2(2.0),
            v.floor(),
            v.ceil(),
            v.round(),
            v.trunc(),
            v.round_ties_even(),
            v % 3.0,
            v.cbrt(),
            1.0 / v,
            v * 8.0,
            -v,
        ];
        let magnitude: f64 = terms.iter().map(|term| term.abs()).sum();
        Bound { value: terms.iter().sum(), error: magnitude * 2f64.powi(-19) }
    };
    let expected: Vec<Bound> = x.iter().map(bound).collect();
    compare_bounds(&got, &expected).unwrap();
}

#[test]
fn mathd_is_made_of_cudas_double_precision_functions() {
    let x: Vec<f64> = Random::new(16).f32s(200, 0.1..9.0).into_iter().map(f64::from).collect();
    let y = vec![0.0f64; 200];
    let got = launch!(
        COMMON,
        "mathd",
        (Read<f64>, ReadWrite<f64>, i32),
        Launch::cover(200),
        [x][y],
        (&x, &mut y, 200)
    );
    for (&v, &got) in x.iter().zip(&got) {
        let terms = [
            v.sin(),
            v.exp(),
            v.ln(),
            v.powf(1.7),
            v.sqrt(),
            1.0 / v.sqrt(),
            v.tanh(),
            v.floor(),
            1.0 / v,
            v % 3.0,
            v.trunc(),
            v.trunc(),
            v.mul_add(v, v),
            v.min(2.0),
        ];
        let (sum, magnitude): (f64, f64) = (terms.iter().sum(), terms.iter().map(|t| t.abs()).sum());
        assert!((got - sum).abs() <= magnitude * 2f64.powi(-48), "{v}: {got} for {sum}");
    }
}

#[test]
fn ints() {
    let mut random = Random::new(17);
    let n = 300;
    let (a, b) = (random.i32s(n, i32::MIN..i32::MAX), random.u32s(n));
    let c: Vec<i64> = (0..n).map(|_| random.bits() as i64).collect();
    let (o, o2) = (vec![0i32; n], vec![0u64; n]);
    let got = launch!(COMMON, "ints", (Read<i32>, Read<u32>, Read<i64>, ReadWrite<i32>, ReadWrite<u64>, i32),
        Launch::cover(n), [a, b, c] [o, o2], (&a, &b, &c, &mut o, &mut o2, n as i32));
    let mut expected = (o.clone(), o2.clone());
    common::ints(&a, &b, &c, &mut expected.0, &mut expected.1, n as i32);
    assert_eq!(got, expected);
}

/// The last statement stores the low half of `{x, y} * 2`, so the binary16 result is 2 x whatever came before it. The
/// bfloat16 result is exp(fma(bx, bx, by)), which rounds twice: 2^-6 covers both and `ex2.approx.ftz.bf16`.
#[test]
fn half_precision() {
    let n = 200;
    let mut random = Random::new(18);
    let halves = |values: &[f32]| values.iter().map(|&v| to_f16(f64::from(v))).collect::<Vec<u16>>();
    let brains = |values: &[f32]| values.iter().map(|v| (v.to_bits() >> 16) as u16).collect::<Vec<u16>>();
    let (x, y) = (halves(&random.f32s(n, -3.0..3.0)), halves(&random.f32s(n, 0.0..3.0)));
    let (bx, by) = (brains(&random.f32s(n, -1.0..1.0)), brains(&random.f32s(n, -1.0..1.0)));
    let (got, brain) = launch!(COMMON, "half_k", (Read<u16>, ReadWrite<u16>, Read<u16>, ReadWrite<u16>, i32),
        Launch::cover(n), [x, bx] [y, by], (&x, &mut y, &bx, &mut by, n as i32));
    let number = |bits: u16| f64::from(f32::from_bits(u32::from(bits) << 16));
    for i in 0..n {
        let doubled = to_f16(2.0 * f64::from(crate::reference::half::from_f16(x[i])));
        assert_eq!(got[i], doubled, "element {i}");
        let wanted = number(bx[i]).mul_add(number(bx[i]), number(by[i])).exp();
        assert!(
            (number(brain[i]) - wanted).abs() <= wanted * 2f64.powi(-6),
            "{} for {wanted}",
            number(brain[i])
        );
    }
}
