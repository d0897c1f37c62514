//! The references of the numba and Triton kernels, and binary16.

use crate::reference::half::{from_f16, to_f16};
use crate::reference::random::Random;
use crate::reference::{compare_bits, python};

#[test]
fn binary16_survives_a_round_trip_and_rounds_to_even() {
    for bits in 0..=u16::MAX {
        let value = from_f16(bits);
        if !value.is_nan() {
            assert_eq!(to_f16(f64::from(value)), bits);
        }
    }
    assert!(from_f16(0x7e00).is_nan() && to_f16(f64::NAN) & 0x7c00 == 0x7c00);
    // The largest number, the smallest normal, the smallest, one, and a third as IEEE 754 tables give them.
    for (bits, value) in
        [(0x7bff, 65504.0), (0x0400, 6.103515625e-5), (0x0001, 2f64.powi(-24)), (0x3c00, 1.0)]
    {
        assert_eq!(f64::from(from_f16(bits)), value);
    }
    assert_eq!(to_f16(1.0 / 3.0), 0x3555);
    // Ties: 1 + 2^-11 down to 1, 1 + 3 * 2^-11 up, 2^-25 down to zero, 65520 up to infinity.
    let ties = [1.0 + 2f64.powi(-11), 1.0 + 3.0 * 2f64.powi(-11), 2f64.powi(-25), 65520.0, -1e9];
    assert_eq!(ties.map(to_f16), [0x3c00, 0x3c02, 0, 0x7c00, 0xfc00]);
}

#[test]
fn numba_kernels_agree_with_exact_sums() {
    let mut random = Random::new(30);
    let whole: Vec<f32> = random.i32s(1000, -50..50).into_iter().map(|x| x as f32).collect();
    let mut sum = 2.0;
    python::numba_reduce(&whole, &mut sum);
    assert_eq!(sum, 2.0 + whole.iter().sum::<f32>());

    let values = random.i32s(500, 0..9);
    let mut counts = [0; 9];
    python::numba_hist(&values, &mut counts);
    assert_eq!(counts.iter().sum::<i32>(), 500);
    assert_eq!(counts[4] as usize, values.iter().filter(|&&value| value == 4).count());

    let mut y = [crate::FUSION.2];
    python::numba_saxpy(crate::FUSION.0, &[crate::FUSION.1], &mut y);
    assert_eq!(y, [1.0 / (1 << 24) as f32]);

    let mut product = [0.0; 4];
    python::numba_matmul(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], &mut product, [2, 2, 2]);
    assert_eq!(product, [19.0, 22.0, 43.0, 50.0]);
}

#[test]
fn triton_add_stops_at_n() {
    let mut o = [9.0; 3];
    python::triton_add(&[1.0, 2.0, 3.0], &[0.5; 3], &mut o, 2);
    assert_eq!(compare_bits(&o, &[1.5, 2.5, 9.0]), Ok(()));
}

#[test]
fn triton_softmax_reads_rows_by_their_stride() {
    let x = Random::new(31).f32s(3 * 20, -3.0..3.0);
    let rows = python::triton_softmax(&x, 20, 15);
    assert_eq!(rows.len(), 3 * 15);
    for (row, input) in rows.chunks(15).zip(x.chunks(20)) {
        assert!((row.iter().map(|y| y.value).sum::<f64>() - 1.0).abs() < 1e-12);
        let ratio = row[14].value / row[0].value;
        assert!((ratio / f64::from(input[14] - input[0]).exp() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn layernorm_rows_have_mean_zero_and_variance_one() {
    let mut random = Random::new(32);
    let x: Vec<u16> = random.f32s(2 * 200, -2.0..5.0).into_iter().map(|x| to_f16(f64::from(x))).collect();
    let rows = python::triton_layernorm(&x, &[1.0; 200], &[0.0; 200], 200, 0.0);
    for row in rows.chunks(200) {
        let mean = row.iter().map(|y| y.value).sum::<f64>() / 200.0;
        let variance = row.iter().map(|y| y.value * y.value).sum::<f64>() / 200.0;
        assert!(mean.abs() < 1e-12 && (variance - 1.0).abs() < 1e-12);
        assert!(row.iter().all(|y| y.error < 2e-3));
    }
    let shifted = python::triton_layernorm(&x, &[2.0; 200], &[10.0; 200], 200, 0.0);
    assert!((shifted[5].value - (2.0 * rows[5].value + 10.0)).abs() < 1e-12);
}
