//! The references of the kernels that the crate ships.

use crate::reference::random::Random;
use crate::reference::{ROUNDOFF, checks, compare_bits, own};
use crate::{FUSION, near};

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
    own::daxpy(f64::from(1.7f32), &a.iter().map(|&x| f64::from(x)).collect::<Vec<_>>(), &mut double, 500);
    for i in 0..500 {
        let (a, b, factor) = (f64::from(a[i]), f64::from(b[i]), f64::from(1.7f32));
        // The f64 sum and product of two f32 are exact here, and one rounding to f32 is the definition.
        assert_eq!(sum[i], (a + b) as f32);
        assert_eq!(product[i], (b * factor) as f32);
        assert!(near(combined[i], factor * a + b, (factor * a).abs() + b.abs(), 2.0));
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
            assert_eq!(filled[i], if inside { pattern[i % pitch % size] } else { before[i] });
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
    let plane: Vec<f32> = (0..54).map(|i| (3 * (i % 9) - 2 * (i / 9)) as f32).collect();
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
    let mean = |image: &[f32]| image.iter().map(|&x| f64::from(x)).sum::<f64>() / image.len() as f64;
    let variance = |image: &[f32]| {
        let mean = mean(image);
        image.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / image.len() as f64
    };
    // Each step rounds each pixel a few times to 24 bits of 255, in either direction.
    assert!((mean(&image) - mean(&start)).abs() < 1e-3, "{} {}", mean(&image), mean(&start));
    assert!(variance(&image) < variance(&start));
    let range = |image: &[f32]| image.iter().fold((f32::MAX, f32::MIN), |(a, b), &x| (a.min(x), b.max(x)));
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
        assert!(near(row[1], moved, moved, 6.0) && near(row[2], 100.0 - moved, 100.0, 6.0), "{row:?}");
    }
}

#[test]
fn own_reductions_agree_with_the_standard_library() {
    let mut random = Random::new(5);
    for (n, grid, block) in
        [(0, 1, 32), (1, 2, 64), (1000, 3, 96), (1000, 4, 100), (5000, 7, 1), (999, 1, 1023)]
    {
        let x = random.f32s(n, -1.0..1.0);
        let mut partial = vec![f32::NAN; grid as usize];
        own::reduce_sum(&x, &mut partial, n as u32, grid, block);
        let sum = partial.iter().map(|&x| f64::from(x)).sum::<f64>();
        let magnitude = x.iter().map(|&x| f64::from(x.abs())).sum::<f64>();
        let exact = x.iter().map(|&x| f64::from(x)).sum::<f64>();
        assert!((sum - exact).abs() <= n as f64 * ROUNDOFF * magnitude, "{n} {grid} {block}");

        let integers = random.i32s(n, i32::MIN..i32::MAX);
        let (mut low, mut high) = (vec![0; grid as usize], vec![0; grid as usize]);
        own::reduce_min_max(&integers, &mut low, &mut high, n as u32, grid, block);
        assert_eq!(low.into_iter().min(), Some(integers.iter().copied().min().unwrap_or(i32::MAX)));
        assert_eq!(high.into_iter().max(), Some(integers.iter().copied().max().unwrap_or(i32::MIN)));
    }
    // Three threads over six elements: (x0 + x3) + (x2 + x5), then + (x1 + x4). 2^24 + 1 is not an f32.
    let big = (1 << 24) as f32;
    let mut partial = [0.0];
    own::reduce_sum(&[big, -big, 1.0, 0.0, 0.0, 0.0], &mut partial, 6, 1, 3);
    assert_eq!(partial, [0.0]);
    own::reduce_sum(&[big, 1.0, -big, 0.0, 0.0, 0.0], &mut partial, 6, 1, 3);
    assert_eq!(partial, [1.0]);
}
