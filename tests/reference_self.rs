//! Holds the references to facts that do not come from their own code: identities, conservation laws, the
//! standard library, double precision. What passes here is fit to judge the kernels.

mod reference;

use reference::random::Random;
use reference::{Bound, ROUNDOFF, checks, compare_bits, compare_bounds, own};

/// a·x and y whose exact sum is 2^-24, which only a fused operation keeps: the product's last bit is below f32.
const FUSION: (f32, f32, f32) = (
    1.0 + 1.0 / 4096.0,
    1.0 + 1.0 / 4096.0,
    -(1.0 + 1.0 / 2048.0),
);

/// `got` is the f32 next to `exact`, up to `roundings` units of roundoff of the magnitudes that went into it.
fn near(got: f32, exact: f64, magnitude: f64, roundings: f64) -> bool {
    Bound {
        value: exact,
        error: roundings * ROUNDOFF * magnitude,
    }
    .admits(got)
}

#[test]
fn random_numbers_are_splitmix64() {
    // The first outputs for seed 1234567 as the generator's public C source prints them.
    let mut random = Random::new(1234567);
    let expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
    ];
    assert_eq!(std::array::from_fn(|_| random.bits()), expected);
}

#[test]
fn random_numbers_fill_their_ranges() {
    let mut random = Random::new(1);
    let floats = random.f32s(10_000, -2.0..3.0);
    assert!(floats.iter().all(|x| (-2.0..=3.0).contains(x)));
    let mean = floats.iter().sum::<f32>() / 10_000.0;
    assert!((mean - 0.5).abs() < 0.1, "mean {mean}");
    let integers = random.i32s(1_000, -3..3);
    assert!((-3..3).all(|value| integers.contains(&value)));
    assert!(integers.iter().all(|value| (-3..3).contains(value)));
    let extremes = random.i32s(1_000, i32::MIN..i32::MAX);
    assert!(
        extremes.iter().any(|&x| x < i32::MIN / 2) && extremes.iter().any(|&x| x > i32::MAX / 2)
    );
    assert!(random.u32s(100).iter().any(|&x| x > u32::MAX / 2));
    let bytes = random.u8s(10_000);
    assert!((0..=255).all(|value| bytes.contains(&value)));
}

#[test]
fn comparisons_see_bits_and_bounds() {
    assert_eq!(compare_bits(&[f32::NAN, 1.0], &[f32::NAN, 1.0]), Ok(()));
    assert_eq!(
        compare_bits(&[1.0, -0.0, 2.0], &[1.0, 0.0, 3.0]),
        Err("element 1 is -0.0, expected 0.0 (2 of 3 elements differ)".to_string())
    );
    assert_eq!(
        compare_bits(&[1.0], &[]),
        Err("1 elements, expected 0".to_string())
    );
    let bound = Bound {
        value: 1.0,
        error: 0.25,
    };
    assert_eq!(compare_bounds(&[0.75, 1.25], &[bound; 2]), Ok(()));
    assert!(compare_bounds(&[1.5], &[bound]).is_err());
    assert!(compare_bounds(&[f32::NAN], &[bound]).is_err());
}

#[test]
fn own_saxpy_rounds_twice_and_nvccs_once() {
    let (a, x, y) = FUSION;
    let (mut separate, mut fused, mut looped) = ([y, 9.0], [y, 9.0], [y, 9.0]);
    own::saxpy(a, &[x, 1.0], &mut separate, 1);
    checks::saxpy(1, a, &[x, 1.0], &mut fused);
    checks::axpyloop(1, a, &[x, 1.0], &mut looped);
    // The second element lies beyond n.
    assert_eq!(separate, [0.0, 9.0]);
    assert_eq!(fused, [1.0 / (1 << 24) as f32, 9.0]);
    assert_eq!(looped, fused);
}

#[test]
fn own_elementwise_kernels_agree_with_double_precision() {
    let mut random = Random::new(2);
    let (a, b) = (random.f32s(500, -9.0..9.0), random.f32s(500, -9.0..9.0));
    let (mut sum, mut product, mut combined) = (b.clone(), b.clone(), b.clone());
    let mut double: Vec<f64> = b.iter().map(|&x| f64::from(x)).collect();
    own::add(&a, &b, &mut sum, 500);
    own::scale(&mut product, 1.7, 500);
    own::saxpy(1.7, &a, &mut combined, 500);
    own::daxpy(
        f64::from(1.7f32),
        &a.iter().map(|&x| f64::from(x)).collect::<Vec<_>>(),
        &mut double,
        500,
    );
    for i in 0..500 {
        let (a, b, factor) = (f64::from(a[i]), f64::from(b[i]), f64::from(1.7f32));
        // The f64 sum and product of two f32 are exact here, and one rounding to f32 is the definition.
        assert_eq!(sum[i], (a + b) as f32);
        assert_eq!(product[i], (b * factor) as f32);
        assert!(near(
            combined[i],
            factor * a + b,
            (factor * a).abs() + b.abs(),
            2.0
        ));
        assert!((double[i] - f64::mul_add(factor, a, b)).abs() <= 1e-14);
    }
}

#[test]
fn own_fills_and_copies_leave_the_padding_alone() {
    let mut random = Random::new(3);
    for size in [1, 2, 4, 8, 12, 16, 24] {
        let (width, height, pitch) = (7, 5, 7 * size + 9);
        let pattern = random.u8s(size);
        let before = random.u8s(pitch * height);
        let mut filled = before.clone();
        own::fill_pitched(&mut filled, pitch as u64, width, height as u64, &pattern);
        let other = random.u8s(pitch * height);
        let mut copied = other.clone();
        own::copy_pitched(
            &filled,
            pitch as u64,
            &mut copied,
            pitch as u64,
            width * size as u64,
            height as u64,
        );
        for i in 0..pitch * height {
            let inside = i % pitch < 7 * size;
            assert_eq!(
                filled[i],
                if inside {
                    pattern[i % pitch % size]
                } else {
                    before[i]
                }
            );
            assert_eq!(copied[i], if inside { filled[i] } else { other[i] });
        }
        let mut linear = before.clone();
        own::fill(&mut linear, 3, &pattern);
        assert_eq!(linear[..3 * size], pattern.repeat(3));
        assert_eq!(linear[3 * size..], before[3 * size..]);
    }
    let mut words = [9; 4];
    own::copy(&[1, 2, 3, 4], &mut words, 3);
    assert_eq!(words, [1, 2, 3, 9]);
    let mut shifted = [9.0; 4];
    own::shift_off_by_one(&[1.0, 2.0, 3.0], &mut shifted, 3);
    assert_eq!(shifted, [9.0, 1.0, 2.0, 3.0]);
}

#[test]
fn own_stencil_keeps_what_is_harmonic() {
    // Linear functions solve the Laplace equation; small integers make every operation exact.
    let (width, height) = (9, 6);
    let plane: Vec<f32> = (0..54)
        .map(|i| (3 * (i % 9) - 2 * (i / 9)) as f32)
        .collect();
    let mut out = vec![0.0; 54];
    own::stencil(&plane, &mut out, width, height);
    assert_eq!(compare_bits(&out, &plane), Ok(()));
    // A peak spreads to its four neighbours in equal parts and leaves its own place.
    let mut peak = vec![0.0; 54];
    peak[3 * 9 + 4] = 4.0;
    own::stencil(&peak, &mut out, width, height);
    let ones: Vec<usize> = (0..54).filter(|&i| out[i] == 1.0).collect();
    assert_eq!(ones, [2 * 9 + 4, 3 * 9 + 3, 3 * 9 + 5, 4 * 9 + 4]);
    assert_eq!(out.iter().sum::<f32>(), 4.0);
}

#[test]
fn perona_malik_keeps_constants_and_the_mean() {
    let (width, height) = (37u32, 23u32);
    let flat = vec![91.25; 37 * 23];
    let mut image = vec![0.0; 37 * 23];
    own::perona_malik(&flat, &mut image, width, height, 20.0, 0.25);
    assert_eq!(compare_bits(&image, &flat), Ok(()));

    let mut random = Random::new(4);
    let start = random.f32s(37 * 23, 0.0..255.0);
    image.clone_from(&start);
    let mut next = image.clone();
    for _ in 0..100 {
        own::perona_malik(&image, &mut next, width, height, 30.0, 0.2);
        std::mem::swap(&mut image, &mut next);
    }
    let mean =
        |image: &[f32]| image.iter().map(|&x| f64::from(x)).sum::<f64>() / image.len() as f64;
    let variance = |image: &[f32]| {
        let mean = mean(image);
        image
            .iter()
            .map(|&x| (f64::from(x) - mean).powi(2))
            .sum::<f64>()
            / image.len() as f64
    };
    // Each step rounds each pixel a few times to 24 bits of 255, in either direction.
    assert!(
        (mean(&image) - mean(&start)).abs() < 1e-3,
        "{} {}",
        mean(&image),
        mean(&start)
    );
    assert!(variance(&image) < variance(&start));
    let range = |image: &[f32]| {
        image
            .iter()
            .fold((f32::MAX, f32::MIN), |(a, b), &x| (a.min(x), b.max(x)))
    };
    assert!(range(&image).0 >= range(&start).0 && range(&image).1 <= range(&start).1);
}

#[test]
fn perona_malik_keeps_edges_that_are_high_against_kappa() {
    // One step between two levels moves lambda * d / (1 + (d / kappa)^2) across the edge.
    let image: Vec<f32> = [0.0, 0.0, 100.0, 100.0].repeat(3);
    let mut out = vec![0.0; 12];
    own::perona_malik(&image, &mut out, 4, 3, 10.0, 0.25);
    let moved = 0.25 * 100.0 / 101.0;
    for row in out.chunks(4) {
        assert_eq!((row[0], row[3]), (0.0, 100.0));
        assert!(
            near(row[1], moved, moved, 6.0) && near(row[2], 100.0 - moved, 100.0, 6.0),
            "{row:?}"
        );
    }
}

#[test]
fn own_reductions_agree_with_the_standard_library() {
    let mut random = Random::new(5);
    for (n, grid, block) in [
        (0, 1, 32),
        (1, 2, 64),
        (1000, 3, 96),
        (1000, 4, 100),
        (5000, 7, 1),
        (999, 1, 1023),
    ] {
        let x = random.f32s(n, -1.0..1.0);
        let mut partial = vec![f32::NAN; grid as usize];
        own::reduce_sum(&x, &mut partial, n as u32, grid, block);
        let sum = partial.iter().map(|&x| f64::from(x)).sum::<f64>();
        let magnitude = x.iter().map(|&x| f64::from(x.abs())).sum::<f64>();
        let exact = x.iter().map(|&x| f64::from(x)).sum::<f64>();
        assert!(
            (sum - exact).abs() <= n as f64 * ROUNDOFF * magnitude,
            "{n} {grid} {block}"
        );

        let integers = random.i32s(n, i32::MIN..i32::MAX);
        let (mut low, mut high) = (vec![0; grid as usize], vec![0; grid as usize]);
        own::reduce_min_max(&integers, &mut low, &mut high, n as u32, grid, block);
        assert_eq!(
            low.into_iter().min(),
            Some(integers.iter().copied().min().unwrap_or(i32::MAX))
        );
        assert_eq!(
            high.into_iter().max(),
            Some(integers.iter().copied().max().unwrap_or(i32::MIN))
        );
    }
    // Three threads over six elements: (x0 + x3) + (x2 + x5), then + (x1 + x4). 2^24 + 1 is not an f32.
    let big = (1 << 24) as f32;
    let mut partial = [0.0];
    own::reduce_sum(&[big, -big, 1.0, 0.0, 0.0, 0.0], &mut partial, 6, 1, 3);
    assert_eq!(partial, [0.0]);
    own::reduce_sum(&[big, 1.0, -big, 0.0, 0.0, 0.0], &mut partial, 6, 1, 3);
    assert_eq!(partial, [1.0]);
}

#[test]
fn vec4_treats_each_component_by_its_own_rule() {
    let mut out = [[9.0; 4]; 2];
    checks::vec4(1, &[[1.5, 2.5, 3.5, 4.5], [0.0; 4]], &mut out);
    assert_eq!(out, [[3.0, 3.5, 0.5, -4.5], [9.0; 4]]);
}

#[test]
fn reduce_sums_exact_numbers_exactly_and_others_within_the_bound() {
    let mut random = Random::new(6);
    for (n, grid, block) in [
        (0, 1, 32),
        (1, 1, 64),
        (31, 1, 32),
        (1000, 1, 256),
        (4099, 5, 128),
        (777, 2, 1024),
    ] {
        // Integers this small have exact sums in any order.
        let whole: Vec<f32> = random
            .i32s(n, -100..100)
            .into_iter()
            .map(|x| x as f32)
            .collect();
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
            let exact: f64 = (0..k)
                .map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + column]))
                .sum();
            assert!(near(c[row * n + column], exact, k as f64, k as f64));
        }
    }
    let size = 20;
    let (a, b) = (
        random.f32s(size * size, -1.0..1.0),
        random.f32s(size * size, -1.0..1.0),
    );
    let identity: Vec<f32> = (0..size * size)
        .map(|i| f32::from(u8::from(i % (size + 1) == 0)))
        .collect();
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
    let bowl: Vec<f32> = (0..56)
        .map(|i| ((i % nx) * (i % nx) + (i / nx) * (i / nx)) as f32)
        .collect();
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
    let body =
        |_| std::array::from_fn(|axis| random.f32(if axis == 3 { 0.5..2.0 } else { -1.0..1.0 }));
    let bodies: Vec<[f32; 4]> = (0..n).map(body).collect();
    let still = vec![[0.0; 4]; n as usize];
    let step = checks::nbody(&bodies, &still, n, 0.01);
    for axis in 0..3 {
        let momentum: f64 = bodies
            .iter()
            .zip(&step)
            .map(|(p, v)| f64::from(p[3]) * v[axis].value)
            .sum();
        let size: f64 = bodies
            .iter()
            .zip(&step)
            .map(|(p, v)| f64::from(p[3]) * v[axis].value.abs())
            .sum();
        assert!(
            size > 0.1 && momentum.abs() < 1e-12 * size,
            "{momentum} of {size}"
        );
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
    assert_eq!(
        (row(10)[16], row(10)[8], row(10)[0]),
        (255, 255, (255 / 50) as u8)
    );
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
        assert!(
            row.iter()
                .all(|y| y.value > 0.0 && y.error < 1e-5 * y.value)
        );
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
    checks::spmv(
        &identity.0,
        &identity.1,
        &vec![1.0; n],
        &x,
        &mut y,
        n as i32,
    );
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
