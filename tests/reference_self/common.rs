//! The references of `tests/corpus/nvcc/common.cu`.

use crate::reference::random::Random;
use crate::reference::{checks, common};

#[test]
fn scans_end_in_the_sum_and_restart_where_they_should() {
    let data = Random::new(20).i32s(100, i32::MIN..i32::MAX);
    let sum = |data: &[i32]| data.iter().copied().fold(0, i32::wrapping_add);
    let mut scanned = data.clone();
    common::scan(&mut scanned, 100);
    assert_eq!((scanned[0], scanned[41], scanned[99]), (data[0], sum(&data[..42]), sum(&data)));
    let mut scanned = data.clone();
    common::warpscan(&mut scanned, 70);
    assert_eq!((scanned[31], scanned[32], scanned[69]), (sum(&data[..32]), data[32], sum(&data[64..70])));
    assert_eq!(scanned[70..], data[70..]);
}

#[test]
fn bitonic_shared_sorts_what_it_is_given() {
    let data = Random::new(21).u32s(900);
    let mut sorted = data.clone();
    common::bitonic_shared(&mut sorted, 800);
    assert!(sorted[..800].is_sorted());
    assert_eq!(sorted[800..], data[800..]);
}

#[test]
fn fft_of_a_pulse_is_flat_and_of_a_tone_is_a_pulse() {
    let mut runs = [[0.0f32; 2]; 32];
    runs[0] = [1.0, -2.0];
    for (i, sample) in runs[16..].iter_mut().enumerate() {
        let (sin, cos) = (std::f32::consts::TAU * 3.0 * i as f32 / 16.0).sin_cos();
        *sample = [cos, sin];
    }
    let spectrum = common::fft(&runs, 16, 4);
    for (i, [re, im]) in spectrum.iter().enumerate() {
        let expected = match i {
            0..16 => [1.0, -2.0],
            19 => [16.0, 0.0],
            _ => [0.0, 0.0],
        };
        assert!((re.value - expected[0]).abs() < 1e-5 && (im.value - expected[1]).abs() < 1e-5, "{i}");
        assert!(re.error < 1e-4 && im.error == re.error);
    }
}

#[test]
fn integer_operations_add_up_as_by_hand() {
    let (mut o, mut o2) = ([0; 3], [0; 3]);
    common::ints(&[0, 1, -9], &[0, 1, 0], &[0, 1, -5], &mut o, &mut o2, 3);
    // Of zeros only the leading zeros count: 32 and 64.
    // Of ones: remainder, quotient, population and bit position 1 each, 31 leading zeros, 1 << 1, absolute value
    // and both extremes 1 each make 40; 0x10001 by bytes; 1 << 7 by funnel; the reversed bit is the sign.
    // Of -9 and 0: -1 - 4 - 9 + 1 - 9 - 2 - 1 + 9 - 9 is -25; 0xfff7 by bytes; 127 by funnel.
    assert_eq!(o, [32, i32::MIN + 40 + 0x10001 + 128, -25 + 0xfff7 + 127]);
    // Of ones: quotient, population, bit position 1 each, 63 leading zeros. Of -5: 63 bits, sign -1, position 1.
    assert_eq!(o2, [64, 66, 63]);
    common::ints(&[i32::MIN], &[u32::MAX], &[i64::MIN], &mut o, &mut o2, 1);
}

#[test]
fn one_thread_of_atomics_does_each_once() {
    let mut a = [10, -3, -1, 6, 5, 0, 77, 1, 2, 0];
    let (mut u, mut f, mut d, mut l, mut h) = ([3, 0], 0.5, 0.25, [u64::MAX, 9], [0.0, -1.0]);
    common::atomics(&mut a, &mut u, &mut f, &mut d, &mut l, &mut h);
    // add, sub and min on a[0] are overwritten by what the compare-and-swap found in a[5].
    assert_eq!(a, [0, 0, 0, 6, 5, 1, 0, 2, 3, 77]);
    assert_eq!((u, f, d, l, h), ([2, 3], 1.5, 1.25, [0, 9], [1.0, 0.0]));
}

#[test]
fn warp_operations_give_the_masks_that_cuda_defines() {
    let mut o = [-1; 332];
    common::warpops(&mut o);
    for lane in 0..32u32 {
        let group = 0xf << (lane / 4 * 4);
        let at = |offset: u32| o[(offset + lane) as usize] as u32;
        assert_eq!(at(0), 0xaaaa_aaaau32.wrapping_add(1 + 1 + 32).wrapping_add(group));
        // 0 + 1 + … + 31 is 496; 16 odd lanes; one "or", no "and".
        assert_eq!((at(64), at(128)), (0, 496 + 16 + 1));
        assert_eq!((at(192), at(256)), ((1 << lane) - 1, lane ^ 3));
    }
    assert!(o[300..].iter().all(|&clock| clock == -1));
}

#[test]
fn small_kernels_give_values_worked_out_by_hand() {
    let mut p = [41, i32::MAX, 7];
    common::dbg(&mut p, 2);
    assert_eq!(p, [42, i32::MIN, 7]);

    // b = 1, 2, …, 8: step 0 finds 1 and raises b[1] to 3, step 1 finds 3 and raises b[10 & 7] to 4.
    let x: Vec<f32> = (0..16).map(|i| (i / 2 + 1) as f32).collect();
    let mut y = [0.0; 2];
    common::localmem(&x, &mut y, 2);
    assert_eq!(y, [4.0 * 2.0 + 6.0; 2]);

    let mut o = [-3, 0, 1, 2, 10, 20];
    common::recurse(&mut o);
    assert_eq!(o, [-3, 0, 1, 1, 55, 6765]);

    let mut o = [1.5, 1.5, 1.5];
    common::indirect(&mut o, &[0, 1, -1]);
    assert_eq!(o, [2.5, 3.0, 3.0]);

    let coef = std::array::from_fn(|i| i as f32);
    let mut o = [9.0; 18];
    assert_eq!(common::consts(&mut o, &coef), 18);
    assert_eq!((o[0], o[15], o[17]), (0.0, 15.0, 1.0));

    let (mut seen, mut shared) = ([9, 0], [9, 1]);
    common::vol(&5, &mut seen);
    common::vol(&5, &mut shared);
    assert_eq!((seen, shared), ([0, 0], [5, 1]));

    let a = std::array::from_fn(|i| 10 * i as i32);
    let mut p = [0.0; 40];
    common::bigparam(&a, &mut p, 33);
    assert_eq!(p[33], (10 + 30) as f32);

    for (k, expected) in
        [(100, [300, 20, 41, 400, 91, -101, 1, 0, 0]), (-100, [-300, -20, -47, -400, -109, 99, -1, 0, 0])]
    {
        let mut o = [0, 1, 2, 3, 4, 5, 6, 7, -1];
        common::sw(&mut o, k);
        assert_eq!(o, expected);
    }

    // (1 + 2^-27)^2 is 1 + 2^-26 + 2^-54; only a fused operation keeps the last term.
    let (a, mut y) = (1.0 + 2f64.powi(-27), [-1.0 - 2f64.powi(-26), 9.0]);
    common::saxpy_grid(1, a, &[a, 1.0], &mut y);
    assert_eq!(y, [2f64.powi(-54), 9.0]);
}

#[test]
fn kernels_of_both_files_share_a_reference() {
    // The two bounds are built from one function with other costs: same values, wider errors.
    let x = Random::new(22).f32s(64, -4.0..4.0);
    let first = checks::softmax(&x, 64);
    let second = crate::reference::python::triton_softmax(&x, 64, 64);
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first.value, second.value);
        assert!(first.error < 1e-5 && second.error < 1e-5);
    }
}
