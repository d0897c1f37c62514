//! References for the 14 kernels of `tests/corpus/nvcc/checks.cu`, as compiled to `checks_sm90.ptx`: sums of
//! products follow the `fma.rn` of that file. Launch shapes are parameters only where the result depends on them.

use super::{Bound, ROUNDOFF};

/// y = a*x + y, fused. Exact.
pub fn saxpy(n: i32, a: f32, x: &[f32], y: &mut [f32]) {
    for i in 0..n as usize {
        y[i] = a.mul_add(x[i], y[i]);
    }
}

/// Doubles x, adds 1 to y, takes 3 from z, negates w of each vector. Exact.
pub fn vec4(n: i32, x: &[[f32; 4]], y: &mut [[f32; 4]]) {
    for i in 0..n as usize {
        let [a, b, c, d] = x[i];
        y[i] = [a * 2.0, b + 1.0, c - 3.0, -d];
    }
}

/// The sum of one block of [`reduce`], before it is added to the result. `block` is a multiple of 32, as the
/// kernel's full-warp shuffles ask. Exact.
pub fn reduce_block(x: &[f32], n: i32, index: usize, grid: usize, block: usize) -> f32 {
    let x = &x[..n as usize];
    let thread_sum = |thread| {
        let visited = x.iter().skip(index * block + thread).step_by(grid * block);
        visited.fold(0.0, |sum: f32, x| sum + x)
    };
    let mut warp_sums = [0.0f32; 32];
    for (warp, sum) in warp_sums[..block / 32].iter_mut().enumerate() {
        let mut lanes: [f32; 32] = std::array::from_fn(|lane| thread_sum(warp * 32 + lane));
        for offset in [16, 8, 4, 2, 1] {
            // A lane without a partner above it adds its own value; lane 0 never sees the difference.
            lanes = std::array::from_fn(|l| lanes[l] + lanes.get(l + offset).unwrap_or(&lanes[l]));
        }
        *sum = lanes[0];
    }
    for offset in [16, 8, 4, 2, 1] {
        warp_sums = std::array::from_fn(|l| warp_sums[l] + warp_sums[l ^ offset]);
    }
    warp_sums[0]
}

/// Adds the sum of `x` to `out`. Exact if blocks add in the order of their index, and for one block anyhow.
pub fn reduce(x: &[f32], out: &mut f32, n: i32, grid: usize, block: usize) {
    for index in 0..grid {
        *out += reduce_block(x, n, index, grid, block);
    }
}

/// [`reduce`] for blocks that add in any order: each of the `grid` additions rounds a partial result, and none
/// exceeds the sum of the magnitudes.
pub fn reduce_any_order(x: &[f32], out: f32, n: i32, grid: usize, block: usize) -> Bound {
    let sums: Vec<f64> = (0..grid).map(|index| f64::from(reduce_block(x, n, index, grid, block))).collect();
    let magnitude = f64::from(out).abs() + sums.iter().map(|sum| sum.abs()).sum::<f64>();
    Bound {
        value: f64::from(out) + sums.iter().sum::<f64>(),
        error: (grid as f64 + 1.0) * ROUNDOFF * magnitude,
    }
}

/// C = A B with A of m x k and B of k x n, row-major: fused, in order of k. Exact.
#[expect(non_snake_case, reason = "the names of the kernel's parameters")]
pub fn matmul(A: &[f32], B: &[f32], C: &mut [f32], M: i32, N: i32, K: i32) {
    const TILE: usize = 16;
    let (m, n, k) = (M as usize, N as usize, K as usize);
    for row in 0..m {
        for column in 0..n {
            let mut sum = 0.0f32;
            for i in 0..k.next_multiple_of(TILE) {
                // The last tile is padded with zeros, and adding 0 * 0 turns -0 into 0.
                let (a, b) = if i < k { (A[row * k + i], B[i * n + column]) } else { (0.0, 0.0) };
                sum = a.mul_add(b, sum);
            }
            C[row * n + column] = sum;
        }
    }
}

/// Counts each byte value in `h`, on top of what it holds. Exact. (256 counters in dynamic shared memory.)
pub fn histogram(d: &[u8], h: &mut [u32], n: i32) {
    for &byte in &d[..n as usize] {
        h[usize::from(byte)] = h[usize::from(byte)].wrapping_add(1);
    }
}

/// Mean of the four neighbours minus the centre; the boundary of `out` keeps what it held.
/// Exact; *may fuse* on a GPU (one product).
pub fn stencil(input: &[f32], out: &mut [f32], nx: i32, ny: i32) {
    let (nx, ny) = (nx as usize, ny as usize);
    for y in 1..ny.saturating_sub(1) {
        for x in 1..nx.saturating_sub(1) {
            let i = y * nx + x;
            out[i] = 0.25 * (input[i - 1] + input[i + 1] + input[i - nx] + input[i + nx]) - input[i];
        }
    }
}

/// One velocity step under softened gravity: the new x, y, z of each `v` (w is left alone).
///
/// Error of one term `d * w * r^3` in units of roundoff: `d` 1; the squared distance 2 from its differences and 4
/// from its own operations, of which `rsqrt` halves the sum to 3 and adds its own 2^-22.9, less than 2.2; the cube
/// makes that 15.6, and three products add 3. That is below 20. Each of the sums adds one per term, and the last
/// product and sum one each.
pub fn nbody(p: &[[f32; 4]], v: &[[f32; 4]], n: i32, dt: f32) -> Vec<[Bound; 3]> {
    const TERM: f64 = 20.0;
    let bodies = &p[..n as usize];
    let step = |(me, v): (&[f32; 4], &[f32; 4])| {
        let term = |other: &[f32; 4]| {
            let d: [f64; 3] = std::array::from_fn(|axis| f64::from(other[axis]) - f64::from(me[axis]));
            let squared = d.iter().map(|d| d * d).sum::<f64>() + f64::from(1e-9f32);
            d.map(|d| d * f64::from(other[3]) * squared.powf(-1.5))
        };
        std::array::from_fn(|axis| {
            let dt = f64::from(dt);
            let sum: f64 = bodies.iter().map(|other| term(other)[axis]).sum();
            let magnitude: f64 = bodies.iter().map(|other| term(other)[axis].abs()).sum();
            let value = f64::from(v[axis]) + sum * dt;
            let error = (TERM + n as f64 + 2.0) * magnitude * dt.abs() + value.abs();
            Bound { value, error: error * ROUNDOFF }
        })
    };
    bodies.iter().zip(v).map(step).collect()
}

/// Escape times of the Mandelbrot iteration as grey values. Exact for `it` > 0; *may fuse* on a GPU, where a
/// pixel on the edge of the set may then take another number of steps.
#[expect(clippy::too_many_arguments, reason = "the kernel's parameters")]
pub fn mandel(o: &mut [u8], w: i32, h: i32, x0: f32, y0: f32, sx: f32, sy: f32, it: i32) {
    for y in 0..h {
        for x in 0..w {
            let cr = (x as f32).mul_add(sx, x0);
            let ci = (y as f32).mul_add(sy, y0);
            let (mut zr, mut zi) = (0.0f32, 0.0f32);
            let mut k = 0;
            while k < it && zr * zr + zi * zi < 4.0 {
                let next = zr * zr - zi * zi + cr;
                zi = (2.0 * zr).mul_add(zi, ci);
                zr = next;
                k += 1;
            }
            o[(y * w + x) as usize] = (255.0 * k as f32 / it as f32) as u8;
        }
    }
}

/// One compare-and-exchange step of a bitonic network over all of `d`, whose length is a power of two and the
/// number of threads. Exact.
pub fn bitonic(d: &mut [i32], j: i32, k: i32) {
    for i in 0..d.len() {
        let partner = i ^ j as usize;
        let ascending = i & k as usize == 0;
        if partner > i && (d[i] > d[partner]) == ascending {
            d.swap(i, partner);
        }
    }
}

/// b = the transpose of the n x n matrix a. Exact.
pub fn transpose(a: &[f32], b: &mut [f32], n: i32) {
    let n = n as usize;
    for row in 0..n {
        for column in 0..n {
            b[column * n + row] = a[row * n + column];
        }
    }
}

/// Softmax of each row of `n` elements.
///
/// Error in units of roundoff: the distance `d` to the row's maximum is rounded, which the exponential turns into
/// |d|; its range reduction and `ex2.approx` (2 units in the last place) add less than 8; a sum adds one for each
/// of the elements of a lane and five for the tree over lanes; the quotient one.
pub fn softmax(x: &[f32], n: i32) -> Vec<Bound> {
    let n = n as usize;
    let sum = n.div_ceil(32) as f64 + 5.0;
    let units = ExponentialUnits { per_distance: 1.0, fixed: 8.0, sum, quotient: 1.0 };
    x.chunks_exact(n).flat_map(|row| softmax_row(row, units)).collect()
}

/// What the steps of a softmax cost, in units of roundoff of their results.
#[derive(Clone, Copy, Debug)]
pub struct ExponentialUnits {
    /// An exponential, for each unit of distance from the row's maximum.
    pub per_distance: f64,
    /// An exponential, whatever its argument.
    pub fixed: f64,
    /// The additions that one element goes through.
    pub sum: f64,
    /// The quotient.
    pub quotient: f64,
}

/// Softmax of one row. The exponential of a very negative number may be flushed to zero below the smallest normal
/// number.
pub fn softmax_row(row: &[f32], units: ExponentialUnits) -> Vec<Bound> {
    let maximum = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let distances: Vec<f64> = row.iter().map(|&x| f64::from(x) - f64::from(maximum)).collect();
    let cost = |d: f64| units.per_distance * d.abs() + units.fixed;
    let sum: f64 = distances.iter().map(|d| d.exp()).sum();
    let sum_cost = distances.iter().map(|d| d.exp() * cost(*d)).sum::<f64>() / sum + units.sum;
    let bound = |d: &f64| {
        let value = d.exp() / sum;
        let error = value * (cost(*d) + sum_cost + units.quotient) * ROUNDOFF;
        Bound { value, error: error + f64::from(f32::MIN_POSITIVE) }
    };
    distances.iter().map(bound).collect()
}

/// y = A x for a sparse matrix of `n` compressed rows: fused, in order of storage. Exact.
pub fn spmv(rp: &[i32], ci: &[i32], v: &[f32], x: &[f32], y: &mut [f32], n: i32) {
    for row in 0..n as usize {
        let entries = rp[row] as usize..rp[row + 1] as usize;
        y[row] = entries.fold(0.0, |sum, j| v[j].mul_add(x[ci[j] as usize], sum));
    }
}

/// C = A B for n x n matrices: fused, in order of k. Exact.
#[expect(non_snake_case, reason = "the names of the kernel's parameters")]
pub fn mmnaive(A: &[f32], B: &[f32], C: &mut [f32], n: i32) {
    let n = n as usize;
    for row in 0..n {
        for column in 0..n {
            C[row * n + column] = (0..n).fold(0.0, |sum, k| A[row * n + k].mul_add(B[k * n + column], sum));
        }
    }
}

/// y = a*x + y, fused. Exact.
pub fn axpyloop(n: i32, a: f32, x: &[f32], y: &mut [f32]) {
    saxpy(n, a, x, y);
}
