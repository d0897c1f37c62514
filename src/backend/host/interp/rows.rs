//! Loops over the 32 lanes of rows, written so that the compiler turns each chunk into vector instructions. With a
//! full mask results are stored as they are, else they are blended in.

use super::registers::{FULL, Row32, Row64};

/// `f` of rows `$a…` of `$w` into row `$d` of `$v`, by chunks of `$n` lanes.
macro_rules! by_chunks {
    ($name:ident, $to:ty, $lane:ty, $chunks:literal, $n:literal, $($from:ident: $value:ident),+) => {
        #[inline(always)]
        pub(super) fn $name(
            rows: &mut [$to],
            mask: u32,
            d: u32,
            $($from: u32,)+
            f: impl Fn($(by_chunks!(@lane $from $lane)),+) -> $lane,
        ) {
            if mask == FULL {
                for k in 0..$chunks {
                    $(let $value = rows[$from as usize].0[k];)+
                    let mut out = [0; $n];
                    for i in 0..$n {
                        out[i] = f($($value[i]),+);
                    }
                    rows[d as usize].0[k] = out;
                }
            } else {
                let mask = some_lanes(mask);
                for k in 0..$chunks {
                    $(let $value = rows[$from as usize].0[k];)+
                    let old = rows[d as usize].0[k];
                    let bits = mask >> (k * $n);
                    let mut out = [0; $n];
                    for i in 0..$n {
                        out[i] = if bits >> i & 1 == 1 { f($($value[i]),+) } else { old[i] };
                    }
                    rows[d as usize].0[k] = out;
                }
            }
        }
    };
    (@lane $from:ident $lane:ty) => { $lane };
}

/// The mask of lanes that are not all. The compiler would work its vectors out before it knows the instruction, and
/// pay for them at each; it does not see through this.
#[inline(always)]
pub(super) fn some_lanes(mask: u32) -> u32 {
    std::hint::black_box(mask)
}

/// The statement twice: for the full mask, and for the others.
macro_rules! masked {
    ($mask:ident, $statement:expr) => {
        if $mask == FULL {
            let $mask = FULL;
            $statement
        } else {
            let $mask = some_lanes($mask);
            $statement
        }
    };
}

by_chunks!(map1_32, Row32, u32, 4, 8, a: x);
by_chunks!(map2_32, Row32, u32, 4, 8, a: x, b: y);
by_chunks!(map3_32, Row32, u32, 4, 8, a: x, b: y, c: z);
by_chunks!(map1_64, Row64, u64, 8, 4, a: x);
by_chunks!(map2_64, Row64, u64, 8, 4, a: x, b: y);
by_chunks!(map3_64, Row64, u64, 8, 4, a: x, b: y, c: z);

/// The four lanes of 32 bits that go with chunk `k` of a 64-bit row.
#[inline(always)]
fn quarter(row: &Row32, k: usize) -> [u32; 4] {
    let chunk = row.0[k / 2];
    let from = k % 2 * 4;
    [chunk[from], chunk[from + 1], chunk[from + 2], chunk[from + 3]]
}

#[inline(always)]
fn blend64(old: [u64; 4], new: [u64; 4], bits: u32) -> [u64; 4] {
    std::array::from_fn(|i| if bits >> i & 1 == 1 { new[i] } else { old[i] })
}

/// A 64-bit row from 32-bit rows `a` and `b`.
#[inline(always)]
pub(super) fn widen2(
    to: &mut [Row64],
    from: &[Row32],
    mask: u32,
    d: u32,
    [a, b]: [u32; 2],
    f: impl Fn(u32, u32) -> u64,
) {
    let (a, b) = (&from[a as usize], &from[b as usize]);
    let d = &mut to[d as usize];
    masked!(
        mask,
        for k in 0..8 {
            let (x, y) = (quarter(a, k), quarter(b, k));
            let new = std::array::from_fn(|i| f(x[i], y[i]));
            d.0[k] = if mask == FULL { new } else { blend64(d.0[k], new, mask >> (k * 4)) };
        }
    );
}

/// A 64-bit row from two 32-bit rows and a 64-bit one.
#[inline(always)]
pub(super) fn widen3(
    to: &mut [Row64],
    from: &[Row32],
    mask: u32,
    d: u32,
    [a, b, c]: [u32; 3],
    f: impl Fn(u32, u32, u64) -> u64,
) {
    let (a, b) = (&from[a as usize], &from[b as usize]);
    masked!(
        mask,
        for k in 0..8 {
            let (x, y, z) = (quarter(a, k), quarter(b, k), to[c as usize].0[k]);
            let new = std::array::from_fn(|i| f(x[i], y[i], z[i]));
            let d = &mut to[d as usize];
            d.0[k] = if mask == FULL { new } else { blend64(d.0[k], new, mask >> (k * 4)) };
        }
    );
}

/// A 64-bit row from one 64-bit row and the amounts in a 32-bit one.
#[inline(always)]
pub(super) fn shift64(
    rows: &mut [Row64],
    amounts: &[Row32],
    mask: u32,
    d: u32,
    [a, b]: [u32; 2],
    f: impl Fn(u64, u32) -> u64,
) {
    let b = &amounts[b as usize];
    masked!(
        mask,
        for k in 0..8 {
            let (x, y) = (rows[a as usize].0[k], quarter(b, k));
            let new = std::array::from_fn(|i| f(x[i], y[i]));
            let d = &mut rows[d as usize];
            d.0[k] = if mask == FULL { new } else { blend64(d.0[k], new, mask >> (k * 4)) };
        }
    );
}

/// A 32-bit row from a 64-bit one.
#[inline(always)]
pub(super) fn narrow(to: &mut [Row32], from: &[Row64], mask: u32, d: u32, a: u32, f: impl Fn(u64) -> u32) {
    let a = &from[a as usize];
    let d = &mut to[d as usize];
    masked!(
        mask,
        for k in 0..4 {
            let (low, high) = (a.0[2 * k], a.0[2 * k + 1]);
            let new = std::array::from_fn(|i| f(if i < 4 { low[i] } else { high[i - 4] }));
            d.0[k] = blend32(d.0[k], new, mask, k);
        }
    );
}

#[inline(always)]
fn blend32(old: [u32; 8], new: [u32; 8], mask: u32, k: usize) -> [u32; 8] {
    if mask == FULL {
        return new;
    }
    let bits = mask >> (k * 8);
    std::array::from_fn(|i| if bits >> i & 1 == 1 { new[i] } else { old[i] })
}

/// A whole row into row `d`.
#[inline(always)]
pub(super) fn put32(rows: &mut [Row32], mask: u32, d: u32, new: &Row32) {
    let d = &mut rows[d as usize];
    masked!(
        mask,
        for k in 0..4 {
            d.0[k] = blend32(d.0[k], new.0[k], mask, k);
        }
    );
}

/// A whole row into row `d`.
#[inline(always)]
pub(super) fn put64(rows: &mut [Row64], mask: u32, d: u32, new: &Row64) {
    let d = &mut rows[d as usize];
    masked!(
        mask,
        for k in 0..8 {
            d.0[k] = if mask == FULL { new.0[k] } else { blend64(d.0[k], new.0[k], mask >> (k * 4)) };
        }
    );
}

/// Where `f` holds in two 32-bit rows.
#[inline(always)]
pub(super) fn test32(rows: &[Row32], a: u32, b: u32, f: impl Fn(u32, u32) -> bool) -> u32 {
    let (a, b) = (&rows[a as usize], &rows[b as usize]);
    let mut result = 0;
    for k in 0..4 {
        let (x, y) = (a.0[k], b.0[k]);
        let mut bits = 0;
        for i in 0..8 {
            bits |= u32::from(f(x[i], y[i])) << i;
        }
        result |= bits << (k * 8);
    }
    result
}

/// Where `f` holds in two 64-bit rows.
#[inline(always)]
pub(super) fn test64(rows: &[Row64], a: u32, b: u32, f: impl Fn(u64, u64) -> bool) -> u32 {
    let (a, b) = (&rows[a as usize], &rows[b as usize]);
    let mut result = 0;
    for k in 0..8 {
        let (x, y) = (a.0[k], b.0[k]);
        let mut bits = 0;
        for i in 0..4 {
            bits |= u32::from(f(x[i], y[i])) << i;
        }
        result |= bits << (k * 4);
    }
    result
}

/// `a` where `chosen`, else `b`.
#[inline(always)]
pub(super) fn select32(rows: &mut [Row32], mask: u32, chosen: u32, d: u32, a: u32, b: u32) {
    masked!(
        mask,
        for k in 0..4 {
            let (x, y) = (rows[a as usize].0[k], rows[b as usize].0[k]);
            let bits = chosen >> (k * 8);
            let new = std::array::from_fn(|i| if bits >> i & 1 == 1 { x[i] } else { y[i] });
            let d = &mut rows[d as usize];
            d.0[k] = blend32(d.0[k], new, mask, k);
        }
    );
}

/// `a` where `chosen`, else `b`.
#[inline(always)]
pub(super) fn select64(rows: &mut [Row64], mask: u32, chosen: u32, d: u32, a: u32, b: u32) {
    masked!(
        mask,
        for k in 0..8 {
            let (x, y) = (rows[a as usize].0[k], rows[b as usize].0[k]);
            let new = blend64(y, x, chosen >> (k * 4));
            let d = &mut rows[d as usize];
            d.0[k] = if mask == FULL { new } else { blend64(d.0[k], new, mask >> (k * 4)) };
        }
    );
}
