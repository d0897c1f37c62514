//! References for kernels of `tests/corpus/nvcc/common.cu`, as compiled to `common_sm80.ptx`, that `checks.cu` does
//! not have. Those that both have are compiled to the same operations, so `checks` serves for both.

use super::{Bound, ROUNDOFF};

/// y = a*x + y in double precision, fused. Exact.
pub fn saxpy_grid(n: usize, a: f64, x: &[f64], y: &mut [f64]) {
    for i in 0..n {
        y[i] = a.mul_add(x[i], y[i]);
    }
}

/// Inclusive prefix sums, wrapping. For one block of exactly `n` threads and `2 * n` integers of shared memory.
pub fn scan(d: &mut [i32], n: i32) {
    let mut sum = 0i32;
    for element in &mut d[..n as usize] {
        sum = sum.wrapping_add(*element);
        *element = sum;
    }
}

/// Inclusive prefix sums within each warp of 32 elements, wrapping. For blocks of whole warps.
pub fn warpscan(d: &mut [i32], n: i32) {
    for warp in d[..n as usize].chunks_mut(32) {
        scan(warp, warp.len() as i32);
    }
}

/// Sorts the first `n` (at most 1024) elements. For one block of 1024 threads.
pub fn bitonic_shared(d: &mut [u32], n: i32) {
    d[..n as usize].sort_unstable();
}

/// Discrete Fourier transform of each run of `n` = 2^`lg` complex numbers, sign -1, unscaled; one block of `n`
/// threads each.
///
/// Error, in units of roundoff of the sum of all magnitudes (no intermediate result exceeds it), per stage: 2.5
/// roundings of an angle below pi move the twiddle factor by less than 8, `sincosf` by less than 4; the complex
/// product adds 3 and the sum 1 to each component.
pub fn fft(d: &[[f32; 2]], n: i32, lg: i32) -> Vec<[Bound; 2]> {
    const STAGE: f64 = 16.0;
    let n = n as usize;
    let transform = |run: &[[f32; 2]]| {
        let input: Vec<[f64; 2]> = run.iter().map(|z| z.map(f64::from)).collect();
        let magnitude: f64 = input.iter().map(|[re, im]| re.hypot(*im)).sum();
        let error = STAGE * f64::from(lg) * ROUNDOFF * magnitude;
        let output = |frequency: usize| {
            let term = |(i, [re, im]): (usize, &[f64; 2])| {
                let turns = (frequency * i % n) as f64 / n as f64;
                let (sin, cos) = (-std::f64::consts::TAU * turns).sin_cos();
                [re * cos - im * sin, re * sin + im * cos]
            };
            let sum = input.iter().enumerate().map(term).fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
            sum.map(|value| Bound { value, error })
        };
        (0..n).map(output).collect::<Vec<_>>()
    };
    d.chunks_exact(n).flat_map(transform).collect()
}

/// Integer operations of every kind, added up. Exact, except where the quotient of the smallest integer and -1
/// is asked for, which PTX leaves open.
pub fn ints(a: &[i32], b: &[u32], c: &[i64], o: &mut [i32], o2: &mut [u64], n: i32) {
    for i in 0..n as usize {
        let (x, y, z) = (a[i], b[i], c[i]);
        let first_set = |trailing: u32, width: u32| if trailing == width { 0 } else { trailing + 1 };
        let terms = [
            x / 7,
            x % 5,
            x.wrapping_div((y | 1) as i32),
            y.count_ones() as i32,
            x.leading_zeros() as i32,
            first_set(x.trailing_zeros(), 32) as i32,
            x.wrapping_shl(y & 31),
            x >> 3,
            (y >> 5) as i32,
            ((i64::from(x) * 3) >> 32) as i32,
            x.wrapping_abs(),
            x.min(4),
            x.max(y as i32),
            // Selector 0x5410: the low halves of x (bytes 0, 1) and y (bytes 4, 5).
            (x as u32 & 0xffff | y << 16) as i32,
            (y << 7 | x as u32 >> 25) as i32,
            y.reverse_bits() as i32,
        ];
        o[i] = terms.into_iter().fold(0, i32::wrapping_add);
        let terms = [
            z.wrapping_div(i64::from(x | 1)) as u64,
            z as u64 % u64::from(y | 1),
            u64::from(z.count_ones()),
            u64::from(z.leading_zeros()),
            ((u128::from(z as u64) * u128::from(y)) >> 64) as u64,
            // PTX clamps the distance, which it takes as unsigned.
            (z >> (x as u32).min(63)) as u64,
            u64::from(first_set(z.trailing_zeros(), 64)),
        ];
        o2[i] = terms.into_iter().fold(0, u64::wrapping_add);
    }
}

/// Atomics of every kind, for a launch of **one** thread: with more, results depend on their order. `h` holds two
/// binary16 numbers; it is given as two `f32`, for values that binary16 has exactly. Exact.
pub fn atomics(a: &mut [i32], u: &mut [u32], f: &mut f32, d: &mut f64, l: &mut [u64], h: &mut [f32; 2]) {
    let thread = 0;
    a[0] = a[0].wrapping_add(thread).wrapping_sub(1).min(thread);
    a[1] = a[1].max(thread);
    a[2] &= thread;
    a[3] |= thread;
    a[4] ^= thread;
    // The thread stores what `inc` found over what `inc` wrote, so `dec` finds the first value again.
    let before_dec = u[0];
    u[0] = if before_dec == 0 || before_dec > 7 { 7 } else { before_dec - 1 };
    u[1] = before_dec;
    let before_cas = a[5];
    if before_cas == thread {
        a[5] = thread + 1;
    }
    a[0] = before_cas;
    a[9] = std::mem::replace(&mut a[6], thread);
    *f += 1.0;
    *d += 1.0;
    l[0] = l[0].wrapping_add(1);
    l[1] = l[1].max(5);
    *h = h.map(|half| half + 1.0);
    a[7] = a[7].wrapping_add(1);
    a[8] = a[8].wrapping_add(1);
}

/// Votes, matches, reductions and shuffles of one full warp: for a launch of 32 threads. Exact, but for the clock
/// in `o[300..332]`, which is left alone here.
pub fn warpops(o: &mut [i32]) {
    let lanes = 0..32usize;
    let mask_of =
        |test: &dyn Fn(usize) -> bool| lanes.clone().filter(|&l| test(l)).fold(0u32, |m, l| m | 1 << l);
    for lane in lanes.clone() {
        let ballot = mask_of(&|l| l % 2 == 1);
        let any = u32::from(lanes.clone().any(|l| l > 3));
        let all = u32::from(lanes.clone().all(|l| l < 40));
        let same_four = mask_of(&|l| l / 4 == lane / 4);
        o[lane] = [ballot, any, all, same_four, 32].into_iter().fold(0, u32::wrapping_add) as i32;
        // No two lanes hold the same value, so `match.all` gives an empty mask and false.
        o[lane + 64] = 0;
        let sum = lanes.clone().sum::<usize>();
        let odd = lanes.clone().filter(|l| l % 2 == 1).count();
        let (or, and) = (lanes.clone().any(|l| l > 5), lanes.clone().all(|l| l < 9));
        o[lane + 128] = (sum + odd + usize::from(or) + usize::from(and)) as i32;
        o[lane + 192] = mask_of(&|l| l < lane) as i32;
        // Within its segment of 8 lanes, each reads from the lane whose two lowest bits are flipped.
        o[lane + 256] = (lane / 8 * 8 + (lane ^ 3) % 8) as i32;
    }
}

/// Increments p. For at most `n` threads (the others fail an assertion) and no element that is 42 (a trap).
pub fn dbg(p: &mut [i32], n: i32) {
    for element in &mut p[..n as usize] {
        *element = element.wrapping_add(1);
    }
}

/// A small array per thread, indexed by its own contents, passed by pointer to a function. For one block of
/// `y.len()` threads; `x` holds 8 values per thread, `n` apart, whose whole part fits `i32`. Exact.
pub fn localmem(x: &[f32], y: &mut [f32], n: i32) {
    for (thread, y) in y.iter_mut().enumerate() {
        let mut b: [f32; 8] = std::array::from_fn(|k| x[k * n as usize + thread]);
        for k in 0..n {
            let whole = b[(k & 7) as usize] as i32;
            b[((k * 7).wrapping_add(whole) & 7) as usize] += 1.0;
        }
        *y = b[(n & 7) as usize].mul_add(2.0, b[((n + 3) & 7) as usize]);
    }
}

/// Each element n becomes the n-th Fibonacci number (n itself below 2). The recursion of the kernel is n deep.
pub fn recurse(o: &mut [i32]) {
    for element in o {
        let (mut this, mut next) = (0i32, 1i32);
        for _ in 0..*element {
            (this, next) = (next, this.wrapping_add(next));
        }
        *element = if *element < 2 { *element } else { this };
    }
}

/// Adds 1 where the selector is even, doubles where it is odd, through a table of function pointers. Exact.
pub fn indirect(o: &mut [f32], s: &[i32]) {
    for (o, s) in o.iter_mut().zip(s) {
        *o = if s & 1 == 0 { *o + 1.0 } else { *o * 2.0 };
    }
}

/// Copies the module's constants (zero until somebody sets them); each thread counts in the module's `gcounter`,
/// whose increase is returned.
pub fn consts(o: &mut [f32], coef: &[f32; 16]) -> i32 {
    for (thread, o) in o.iter_mut().enumerate() {
        *o = coef[thread & 15];
    }
    o.len() as i32
}

/// Waits for a flag that is already set, and stores it; for one thread, which then stores its index 0 to `o[0]`,
/// or to shared memory if `o[1]` is set.
pub fn vol(f: &i32, o: &mut [i32]) {
    o[0] = if o[1] == 0 { 0 } else { *f };
}

/// One thread reads a structure passed by value: 40 integers `a` and, at byte 160, the pointer `p`.
pub fn bigparam(a: &[i32; 40], p: &mut [f32], i: i32) {
    p[i as usize] = a[(i & 31) as usize].wrapping_add(a[3]) as f32;
}

/// A switch over seven cases.
pub fn sw(o: &mut [i32], k: i32) {
    for element in o {
        *element = match *element {
            0 => k.wrapping_mul(3),
            1 => k / 5,
            2 => k ^ 77,
            3 => k << 2,
            4 => k.wrapping_sub(9),
            5 => !k,
            6 => k % 11,
            _ => 0,
        };
    }
}
