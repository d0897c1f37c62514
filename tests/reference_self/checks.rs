//! The references of `tests/corpus/nvcc/checks.cu`.

use crate::reference::random::Random;
use crate::reference::{checks, compare_bits};
use crate::{FUSION, near};

#[test]
fn vec4_treats_each_component_by_its_own_rule() {
    let mut out = [[9.0; 4]; 2];
    checks::vec4(1, &[[1.5, 2.5, 3.5, 4.5], [0.0; 4]], &mut out);
    assert_eq!(out, [[3.0, 3.5, 0.5, -4.5], [9.0; 4]]);
}

#[test]
fn reduce_sums_exact_numbers_exactly_and_others_within_the_bound() {
    let mut random = Random::new(6);
    for (n, grid, block) in
        [(0, 1, 32), (1, 1, 64), (31, 1, 32), (1000, 1, 256), (4099, 5, 128), (777, 2, 1024)]
    {
        // Integers this small have exact sums in any order.
        let whole: Vec<f32> = random.i32s(n, -100..100).into_iter().map(|x| x as f32).collect();
        let mut out = 5.0;
        checks::reduce(&whole, &mut out, n as i32, grid, block);
        assert_eq!(out, 5.0 + whole.iter().sum::<f32>());

        let x = random.f32s(n, -1.0..1.0);
        let bound = checks::reduce_any_order(&x, 0.5, n as i32, grid, block);
        let mut out = 0.5;
        checks::reduce(&x, &mut out, n as i32, grid, block);
        assert!(bound.admits(out));
        let exact = 0.5 + x.iter().map(|&x| f64::from(x)).sum::<f64>();
        assert!((bound.value - exact).abs() < 1e-4);
    }
}

#[test]
fn matrix_products_agree_with_double_precision_and_each_other() {
    let mut random = Random::new(7);
    let (m, n, k) = (5, 19, 33);
    let (a, b) = (random.f32s(m * k, -1.0..1.0), random.f32s(k * n, -1.0..1.0));
    let mut c = vec![0.0; m * n];
    checks::matmul(&a, &b, &mut c, m as i32, n as i32, k as i32);
    for row in 0..m {
        for column in 0..n {
            let exact: f64 = (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + column])).sum();
            assert!(near(c[row * n + column], exact, k as f64, k as f64));
        }
    }
    let size = 20;
    let (a, b) = (random.f32s(size * size, -1.0..1.0), random.f32s(size * size, -1.0..1.0));
    let identity: Vec<f32> = (0..size * size).map(|i| f32::from(u8::from(i % (size + 1) == 0))).collect();
    let (mut tiled, mut naive) = (vec![0.0; size * size], vec![0.0; size * size]);
    let edge = size as i32;
    checks::mmnaive(&a, &identity, &mut naive, edge);
    assert_eq!(compare_bits(&naive, &a), Ok(()));
    checks::matmul(&a, &b, &mut tiled, edge, edge, edge);
    checks::mmnaive(&a, &b, &mut naive, edge);
    assert_eq!(compare_bits(&tiled, &naive), Ok(()));
    // Both fuse: a product's low bits survive the addition.
    let (x, y, z) = FUSION;
    checks::matmul(&[z, x], &[1.0, y], &mut c[..1], 1, 1, 2);
    assert_eq!(c[0], 1.0 / (1 << 24) as f32);
}

#[test]
fn histogram_counts_every_byte_once() {
    let bytes = Random::new(8).u8s(5000);
    let mut counts = vec![1; 256];
    checks::histogram(&bytes, &mut counts, 4000);
    assert_eq!(counts.iter().sum::<u32>(), 4000 + 256);
    let sevens = bytes[..4000].iter().filter(|&&byte| byte == 7).count();
    assert_eq!(counts[7], 1 + sevens as u32);
}

#[test]
fn stencil_sees_the_laplacian_and_spares_the_boundary() {
    // For x^2 + y^2 the four neighbours' mean exceeds the centre by 1. Small integers are exact.
    let (nx, ny) = (8, 7);
    let bowl: Vec<f32> = (0..56).map(|i| ((i % nx) * (i % nx) + (i / nx) * (i / nx)) as f32).collect();
    let mut out = vec![7.0; 56];
    checks::stencil(&bowl, &mut out, nx, ny);
    for i in 0..56 {
        let (x, y) = (i % nx, i / nx);
        let interior = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
        assert_eq!(out[i as usize], if interior { 1.0 } else { 7.0 });
    }
    checks::stencil(&bowl[..1], &mut out, 1, 1);
}

#[test]
fn nbody_conserves_momentum() {
    let mut random = Random::new(9);
    let n = 40;
    let body = |_| std::array::from_fn(|axis| random.f32(if axis == 3 { 0.5..2.0 } else { -1.0..1.0 }));
    let bodies: Vec<[f32; 4]> = (0..n).map(body).collect();
    let still = vec![[0.0; 4]; n as usize];
    let step = checks::nbody(&bodies, &still, n, 0.01);
    for axis in 0..3 {
        let momentum: f64 = bodies.iter().zip(&step).map(|(p, v)| f64::from(p[3]) * v[axis].value).sum();
        let size: f64 = bodies.iter().zip(&step).map(|(p, v)| f64::from(p[3]) * v[axis].value.abs()).sum();
        assert!(size > 0.1 && momentum.abs() < 1e-12 * size, "{momentum} of {size}");
    }
    // Two bodies at distance 2 pull with a quarter of the other's mass.
    let pair = [[-1.0, 0.0, 0.0, 8.0], [1.0, 0.0, 0.0, 4.0]];
    let pull = checks::nbody(&pair, &[[0.0, 0.0, 5.0, 0.0]; 2], 2, 1.0);
    assert!((pull[0][0].value - 1.0).abs() < 1e-8 && (pull[1][0].value + 2.0).abs() < 1e-8);
    assert_eq!((pull[0][1].value, pull[0][2].value), (0.0, 5.0));
    assert!(pull[0][0].error < 1e-5);
}

#[test]
fn mandelbrot_set_is_symmetric_and_known_points_escape_when_they_should() {
    let (w, h) = (33, 21);
    let mut picture = vec![0; 33 * 21];
    checks::mandel(&mut picture, w, h, -2.0, -1.25, 0.125, 0.125, 50);
    let row = |y: usize| &picture[y * 33..][..33];
    for y in 0..10 {
        assert_eq!(row(y), row(20 - y));
    }
    // c = 0 and c = -1 never escape, c = -2 stays on the edge |z| = 2, which counts as outside after one step.
    assert_eq!((row(10)[16], row(10)[8], row(10)[0]), (255, 255, (255 / 50) as u8));
    // c = 2: z = 2 after one step.
    assert_eq!(row(10)[32], 5);
}

#[test]
fn a_full_bitonic_network_sorts() {
    let mut data = Random::new(10).i32s(256, i32::MIN..i32::MAX);
    let mut expected = data.clone();
    expected.sort_unstable();
    for k in (1..=8).map(|bit| 1 << bit) {
        for j in (0..8).rev().map(|bit| 1 << bit).filter(|&j| j < k) {
            checks::bitonic(&mut data, j, k);
        }
    }
    assert_eq!(data, expected);
}

#[test]
fn transposing_twice_changes_nothing() {
    let a = Random::new(11).f32s(33 * 33, -1.0..1.0);
    let (mut b, mut c) = (vec![0.0; 33 * 33], vec![0.0; 33 * 33]);
    checks::transpose(&a, &mut b, 33);
    assert_eq!(b[2 * 33 + 5], a[5 * 33 + 2]);
    checks::transpose(&b, &mut c, 33);
    assert_eq!(compare_bits(&c, &a), Ok(()));
}

#[test]
fn softmax_rows_sum_to_one_and_ignore_a_common_shift() {
    let x = Random::new(12).f32s(4 * 100, -8.0..8.0);
    let rows = checks::softmax(&x, 100);
    for row in rows.chunks(100) {
        assert!((row.iter().map(|y| y.value).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(row.iter().all(|y| y.value > 0.0 && y.error < 1e-5 * y.value));
    }
    // exp(x_i) / exp(x_j) is what the quotient of two results must be.
    let ratio = rows[0].value / rows[1].value;
    let expected = (f64::from(x[0]) - f64::from(x[1])).exp();
    assert!((ratio / expected - 1.0).abs() < 1e-12);
    // Whole numbers shift without rounding.
    let whole: Vec<f32> = (0..50).map(|i| (i * i % 17) as f32).collect();
    let shifted: Vec<f32> = whole.iter().map(|x| x + 100.0).collect();
    assert_eq!(checks::softmax(&whole, 50), checks::softmax(&shifted, 50));
}

#[test]
fn sparse_products_agree_with_dense_ones() {
    let mut random = Random::new(13);
    let n = 30usize;
    let x = random.f32s(n, -1.0..1.0);
    let identity: (Vec<i32>, Vec<i32>) = ((0..=30).collect(), (0..30).collect());
    let mut y = vec![0.0; n];
    checks::spmv(&identity.0, &identity.1, &vec![1.0; n], &x, &mut y, n as i32);
    assert_eq!(compare_bits(&y, &x), Ok(()));

    let mut dense = vec![0.0; n * n];
    let (mut rows, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..n {
        for column in 0..n {
            if random.below(5) == 0 {
                dense[row * n + column] = random.f32(-1.0..1.0);
                columns.push(column as i32);
                values.push(dense[row * n + column]);
            }
        }
        rows.push(columns.len() as i32);
    }
    checks::spmv(&rows, &columns, &values, &x, &mut y, n as i32);
    // Fused products with zero leave a sum as it is, so the dense product in the same order has the same bits.
    let mut expected = vec![0.0; n];
    checks::matmul(&dense, &x, &mut expected, n as i32, 1, n as i32);
    assert_eq!(compare_bits(&y, &expected), Ok(()));
}
