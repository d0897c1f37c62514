//! References for the kernels that the crate ships in `ptx/`. All are exact, bit for bit.

use std::iter;

/// `ptx/add.cu`: c = a + b.
pub fn add(a: &[f32], b: &[f32], c: &mut [f32], n: u32) {
    for i in 0..n as usize {
        c[i] = a[i] + b[i];
    }
}

/// `ptx/scale.cu`: x = x * factor.
pub fn scale(x: &mut [f32], factor: f32, n: u32) {
    for x in &mut x[..n as usize] {
        *x *= factor;
    }
}

/// `ptx/saxpy.cu`: y = a*x + y, the product rounded before the sum.
pub fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32) {
    for i in 0..n as usize {
        y[i] += a * x[i];
    }
}

/// `ptx/saxpy.cu`: the same in double precision.
pub fn daxpy(a: f64, x: &[f64], y: &mut [f64], n: u32) {
    for i in 0..n as usize {
        y[i] += a * x[i];
    }
}

/// `ptx/fill.cu`, every linear fill: `pattern` holds the bytes of one element, `n` counts elements.
/// (`fill_repeat` counts bytes: its `n` is `n * pattern.len()` here.)
pub fn fill(out: &mut [u8], n: u64, pattern: &[u8]) {
    for element in out.chunks_exact_mut(pattern.len()).take(n as usize) {
        element.copy_from_slice(pattern);
    }
}

/// `ptx/fill.cu`, every pitched fill: `width` counts elements of `pattern.len()` bytes, `pitch` bytes.
/// Padding keeps what it held.
pub fn fill_pitched(out: &mut [u8], pitch: u64, width: u64, height: u64, pattern: &[u8]) {
    for y in 0..height {
        let row = &mut out[(y * pitch) as usize..];
        fill(row, width, pattern);
    }
}

/// `ptx/copy.cu`, `copy_u32` and `copy_u128`: `n` counts words.
pub fn copy<T: Copy>(source: &[T], destination: &mut [T], n: u64) {
    destination[..n as usize].copy_from_slice(&source[..n as usize]);
}

/// `ptx/copy.cu`: `width` and both pitches in bytes, `height` in rows. Padding keeps what it held.
pub fn copy_pitched(
    source: &[u8],
    source_pitch: u64,
    destination: &mut [u8],
    destination_pitch: u64,
    width: u64,
    height: u64,
) {
    for y in 0..height {
        let (from, to) = ((y * source_pitch) as usize, (y * destination_pitch) as usize);
        let width = width as usize;
        destination[to..to + width].copy_from_slice(&source[from..from + width]);
    }
}

/// `ptx/stencil.cu` on dense rows: the mean of the four neighbours, the boundary copied.
pub fn stencil(input: &[f32], out: &mut [f32], width: u32, height: u32) {
    let (width, height) = (width as usize, height as usize);
    for y in 0..height {
        for x in 0..width {
            let i = y * width + x;
            let boundary = x == 0 || y == 0 || x == width - 1 || y == height - 1;
            out[i] = if boundary {
                input[i]
            } else {
                0.25 * (input[i - 1] + input[i + 1] + input[i - width] + input[i + width])
            };
        }
    }
}

/// `ptx/perona_malik.cu` on dense rows: one explicit step of anisotropic diffusion.
pub fn perona_malik(input: &[f32], out: &mut [f32], width: u32, height: u32, kappa: f32, lambda: f32) {
    let (width, height) = (width as usize, height as usize);
    for y in 0..height {
        for x in 0..width {
            let centre = input[y * width + x];
            let flux_from = |x: usize, y: usize| {
                let difference = input[y * width + x] - centre;
                let q = difference / kappa;
                let conductance = 1.0 / (1.0 + q * q);
                conductance * difference
            };
            // The image repeats its border outward, so nothing flows through it.
            let (right, down) = ((x + 1).min(width - 1), (y + 1).min(height - 1));
            let sum = flux_from(x, y.saturating_sub(1))
                + flux_from(x, down)
                + flux_from(x.saturating_sub(1), y)
                + flux_from(right, y);
            out[y * width + x] = centre + lambda * sum;
        }
    }
}

/// `ptx/reduce.cu`: one partial sum per block of the launch (`grid` blocks of `block` threads).
pub fn reduce_sum(x: &[f32], partial: &mut [f32], n: u32, grid: u32, block: u32) {
    for (index, partial) in partial[..grid as usize].iter_mut().enumerate() {
        let per_thread = thread_elements(&x[..n as usize], index, grid, block)
            .map(|elements| elements.fold(0.0, |sum, x| sum + x))
            .collect();
        *partial = tree(per_thread, |a, b| a + b);
    }
}

/// `ptx/reduce.cu`: one minimum and one maximum per block of the launch.
pub fn reduce_min_max(x: &[i32], minimum: &mut [i32], maximum: &mut [i32], n: u32, grid: u32, block: u32) {
    for index in 0..grid as usize {
        let elements = || thread_elements(&x[..n as usize], index, grid, block).flatten();
        minimum[index] = elements().min().unwrap_or(i32::MAX);
        maximum[index] = elements().max().unwrap_or(i32::MIN);
    }
}

/// `ptx/shift_off_by_one.cu`, were `y` one element longer than `x`: y[i + 1] = x[i].
pub fn shift_off_by_one(x: &[f32], y: &mut [f32], n: u32) {
    y[1..=n as usize].copy_from_slice(&x[..n as usize]);
}

/// For each thread of block `index`: the elements that its grid-stride loop visits.
fn thread_elements<T: Copy>(
    x: &[T],
    index: usize,
    grid: u32,
    block: u32,
) -> impl Iterator<Item = impl Iterator<Item = T>> {
    let (grid, block) = (grid as usize, block as usize);
    (0..block).map(move |thread| x.iter().copied().skip(index * block + thread).step_by(grid * block))
}

/// Folds the upper half onto the lower until one value is left.
fn tree(mut values: Vec<f32>, join: impl Fn(f32, f32) -> f32) -> f32 {
    let halves = iter::successors(Some(values.len()), |&count| (count > 1).then(|| count.div_ceil(2)));
    for half in halves.skip(1) {
        for (low, high) in (half..values.len()).enumerate() {
            values[low] = join(values[low], values[high]);
        }
        values.truncate(half);
    }
    values[0]
}
