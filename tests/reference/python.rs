//! References for the kernels of `tests/corpus/numba/` and `tests/corpus/triton/`. Array parameters are plain slices:
//! numba's launch passes seven values for a one-dimensional array (0, 0, elements, bytes per element, pointer,
//! elements, bytes per element) and nine for two dimensions; Triton's two last pointers (scratch) are not used.

use super::half::from_f16;
use super::{Bound, ROUNDOFF, checks};

/// numba `saxpy`: y = a*x + y, fused. Exact.
pub fn numba_saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    checks::saxpy(x.len() as i32, a, x, y);
}

/// numba `reduce`: adds the sum of `x` to `o`; blocks of 256 threads. Exact if blocks add in the order of their
/// index.
pub fn numba_reduce(x: &[f32], o: &mut f32) {
    for block in x.chunks(256) {
        let mut sums = [0.0f32; 256];
        sums[..block.len()].copy_from_slice(block);
        let mut half = 128;
        while half > 0 {
            for thread in 0..half {
                sums[thread] += sums[thread + half];
            }
            half /= 2;
        }
        *o += sums[0];
    }
}

/// numba `matmul` for row-major A (m x k) and B (k x n); blocks of 16 x 16. Exact: tiles and order are those of the
/// CUDA C kernel.
#[expect(non_snake_case, reason = "the names of the kernel's parameters")]
pub fn numba_matmul(A: &[f32], B: &[f32], C: &mut [f32], [m, n, k]: [i32; 3]) {
    checks::matmul(A, B, C, m, n, k);
}

/// numba `hist`: counts values, which are indices into `h`. Exact.
pub fn numba_hist(d: &[i32], h: &mut [i32]) {
    for &value in d {
        h[value as usize] = h[value as usize].wrapping_add(1);
    }
}

/// Triton `add`: o = x + y; programs of 1024 elements on 128 threads. Exact.
pub fn triton_add(x: &[f32], y: &[f32], o: &mut [f32], n: i32) {
    for i in 0..n as usize {
        o[i] = x[i] + y[i];
    }
}

/// Triton `softmax` of rows of `n` (at most 1024) elements that start `s` apart; the results of each row, densely.
///
/// Error in units of roundoff: rounding the distance d to the maximum, its product with the logarithm, and that
/// constant itself cost less than 3 |d|, `ex2.approx` 4; the sum over 8 registers, 32 lanes and 4 warps takes 10
/// additions; `div.full` 4.
pub fn triton_softmax(x: &[f32], s: i32, n: i32) -> Vec<Bound> {
    let units = checks::ExponentialUnits { per_distance: 3.0, fixed: 4.0, sum: 10.0, quotient: 4.0 };
    x.chunks(s as usize).flat_map(|row| checks::softmax_row(&row[..n as usize], units)).collect()
}

/// Triton `layernorm` of rows of `n` (at most 1024) binary16 numbers, given as bits; bounds of the binary16 results.
///
/// Error: the mean carries 14 roundings of the mean magnitude, which the standard deviation then divides; the
/// variance, root (`sqrt.approx`, `div.full`) and products less than 40 of the scaled value; the shift 1 of the
/// result. The final rounding to binary16 is half a unit in its 11th bit, or 2^-25 below its normal range.
pub fn triton_layernorm(x: &[u16], w: &[f32], b: &[f32], n: i32, eps: f32) -> Vec<Bound> {
    let row_bounds = |row: &[u16]| {
        let values: Vec<f64> = row.iter().map(|&bits| f64::from(from_f16(bits))).collect();
        let count = f64::from(n);
        let mean = values.iter().sum::<f64>() / count;
        let mean_magnitude = values.iter().map(|v| v.abs()).sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        let deviation = (variance + f64::from(eps)).sqrt();
        let bound = |((v, w), b): ((&f64, &f32), &f32)| {
            let (w, b) = (f64::from(*w), f64::from(*b));
            let scaled = (v - mean) / deviation * w;
            let value = scaled + b;
            let shift = 14.0 * mean_magnitude / deviation * w.abs();
            let single = (shift + 40.0 * scaled.abs() + value.abs()) * ROUNDOFF;
            Bound { value, error: single + value.abs() / 2048.0 + 2f64.powi(-25) }
        };
        values.iter().zip(w).zip(b).map(bound).collect::<Vec<_>>()
    };
    x.chunks_exact(n as usize).flat_map(row_bounds).collect()
}
