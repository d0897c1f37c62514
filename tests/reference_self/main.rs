//! Holds the references to facts that do not come from their own code: identities, conservation laws, the
//! standard library, double precision, sums done by hand. What passes here is fit to judge the kernels.

#[path = "../reference/mod.rs"]
mod reference;

mod checks;
mod common;
mod own;
mod python;

use reference::random::Random;
use reference::{Bound, ROUNDOFF, compare_bits, compare_bounds};

/// a, x, y for which a*x + y is 2^-24, the lowest bit of the product: fusing keeps it, rounding twice loses it.
const FUSION: (f32, f32, f32) = (1.0 + 1.0 / 4096.0, 1.0 + 1.0 / 4096.0, -(1.0 + 1.0 / 2048.0));

/// Whether `got` is `exact` up to `roundings` units of roundoff of the magnitudes that went into it.
fn near(got: f32, exact: f64, magnitude: f64, roundings: f64) -> bool {
    Bound { value: exact, error: roundings * ROUNDOFF * magnitude }.admits(got)
}

#[test]
fn random_numbers_are_splitmix64() {
    // The first outputs for seed 1234567 as the generator's public C source prints them.
    let mut random = Random::new(1234567);
    let expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431];
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
    assert!(extremes.iter().any(|&x| x < i32::MIN / 2) && extremes.iter().any(|&x| x > i32::MAX / 2));
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
    assert_eq!(compare_bits(&[1.0], &[]), Err("1 elements, expected 0".to_string()));
    let bound = Bound { value: 1.0, error: 0.25 };
    assert_eq!(compare_bounds(&[0.75, 1.25], &[bound; 2]), Ok(()));
    assert!(compare_bounds(&[1.5], &[bound]).is_err());
    assert!(compare_bounds(&[f32::NAN], &[bound]).is_err());
}
