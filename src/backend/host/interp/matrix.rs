//! Matrix fragments of a warp: `ldmatrix`, `stmatrix`, `movmatrix`, `mma.sync`. Which element of a fragment lies in
//! which lane and register is the PTX manual's, section "Matrix fragments for mma".

use super::access::{Place, Raise};
use super::context::Context;
use super::float;
use super::global::GlobalMemory;
use super::integer::{mask, signed};
use super::loads::How;
use super::other::Lanes;
use super::registers::{LANES, lanes};
use super::soft;
use super::sync::Parts;
use super::warp::Warp;
use crate::fault::AccessKind;
use crate::ptx::ir::{MatrixMultiply, Op, Operand, Rounding, Space, Type};

/// `ldmatrix`, `stmatrix`: rows of eight halfwords, whose addresses the first lanes give.
pub(super) fn transfer<M: GlobalMemory>(
    context: &mut Context<'_, M>,
    warp: &mut Warp,
    parts: &Parts,
    op: &Op,
) -> Result<(), Box<Raise>> {
    let (address, space, transpose, count) = match op {
        Op::LoadMatrix { transpose, space, dsts, address } => (address, *space, *transpose, dsts.len()),
        Op::StoreMatrix { transpose, space, srcs, address } => (address, *space, *transpose, srcs.len()),
        _ => return Ok(()),
    };
    // aligned: all lanes are at one instruction
    let Some(part) = parts.first() else { return Ok(()) };
    let mut on = Lanes { warp, frame: part.frame, mask: part.mask };
    let addresses = context.addresses(&on, address);
    let kind = if matches!(op, Op::LoadMatrix { .. }) { AccessKind::Load } else { AccessKind::Store };
    let mut places = [Place::Shared { offset: 0 }; LANES];
    for lane in 0..(8 * count).min(LANES) {
        places[lane] = context.place(&on, space_of(space), addresses[lane], 16, kind, lane)?;
        context.observe(&on, part.pc, lane, places[lane], 16, How::new(kind))?;
    }
    match op {
        Op::LoadMatrix { dsts, .. } => {
            for (matrix, dst) in dsts.iter().enumerate() {
                let mut rows = [[0_u16; 8]; 8];
                for (r, row) in rows.iter_mut().enumerate() {
                    let lane = matrix * 8 + r;
                    let bytes = context.fetch(on.warp, lane, places[lane], 16);
                    for (c, value) in row.iter_mut().enumerate() {
                        *value = u16::from_le_bytes([bytes[2 * c], bytes[2 * c + 1]]);
                    }
                }
                let words = std::array::from_fn(|lane| {
                    let (r, c) = (lane / 4, lane % 4 * 2);
                    let pick =
                        |r: usize, c: usize| u64::from(if transpose { rows[c][r] } else { rows[r][c] });
                    pick(r, c) | pick(r, c + 1) << 16
                });
                if let Some(dst) = dst {
                    on.set(*dst, &words);
                }
            }
        }
        Op::StoreMatrix { srcs, .. } => {
            for (matrix, &src) in srcs.iter().enumerate() {
                let words = on.row(src);
                let mut rows = [[0_u16; 8]; 8];
                for (lane, word) in words.iter().enumerate() {
                    let (r, c) = (lane / 4, lane % 4 * 2);
                    for (half, c) in [(*word, c), (*word >> 16, c + 1)] {
                        let (r, c) = if transpose { (c, r) } else { (r, c) };
                        rows[r][c] = half as u16;
                    }
                }
                for (r, row) in rows.iter().enumerate() {
                    let lane = matrix * 8 + r;
                    let mut bytes = [0; 16];
                    for (c, value) in row.iter().enumerate() {
                        bytes[2 * c..][..2].copy_from_slice(&value.to_le_bytes());
                    }
                    context.put(on.warp, lane, places[lane], &bytes);
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn space_of(space: Space) -> Space {
    space
}

/// `movmatrix`, `mma.sync`.
pub(super) fn compute<M: GlobalMemory>(context: &Context<'_, M>, warp: &mut Warp, parts: &Parts, op: &Op) {
    let _ = context;
    let Some(part) = parts.first() else { return };
    let mut on = Lanes { warp, frame: part.frame, mask: part.mask };
    match op {
        Op::TransposeMatrix { dst, src } => {
            let words = on.row(*src);
            let element = |r: usize, c: usize| words[r * 4 + c / 2] >> (c % 2 * 16) & 0xffff;
            let result = std::array::from_fn(|lane| {
                let (r, c) = (lane / 4, lane % 4 * 2);
                element(c, r) | element(c + 1, r) << 16
            });
            on.set(*dst, &result);
        }
        Op::MatrixMultiply(mma) => multiply(&mut on, mma),
        _ => {}
    }
}

/// Row and column of element `index` of a lane's fragment of `a` (m×k).
fn place_a(mma: &MatrixMultiply, lane: usize, index: usize) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let bits = mma.a_ty.bits() as usize;
    let per = (32 / bits).max(1);
    if bits == 64 {
        // m8n8k4: one element; m16n8k4 and larger: rows alternate first
        return match mma.m {
            8 => (group, thread),
            _ => (group + index % 2 * 8, thread + index / 2 * 4),
        };
    }
    if mma.m == 8 {
        return (group, thread * per + index);
    }
    let (register, inside) = (index / per, index % per);
    let row = group + register % 2 * 8;
    (row, thread * per + inside + register / 2 * per * 4)
}

/// Row and column of element `index` of a lane's fragment of `b` (k×n).
fn place_b(mma: &MatrixMultiply, lane: usize, index: usize) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let per = (32 / mma.b_ty.bits() as usize).max(1);
    let (register, inside) = (index / per, index % per);
    (thread * per + inside + register * per * 4, group)
}

/// Row and column of element `index` of a lane's fragment of `c` and `d` (m×n).
fn place_c(mma: &MatrixMultiply, lane: usize, index: usize) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let row = if mma.m == 8 { group } else { group + index / 2 % 2 * 8 };
    (row, thread * 2 + index % 2)
}

/// Elements of a lane's fragment, one after another.
fn elements(on: &Lanes<'_>, fragment: &[Operand], ty: Type) -> Vec<[u64; LANES]> {
    let bits = if matches!(ty, Type::TF32) { 32 } else { ty.bits() };
    let per = (32 / bits).max(1);
    let mut result = Vec::with_capacity(fragment.len() * per as usize);
    for &operand in fragment {
        let row = on.row(operand);
        for part in 0..per {
            result.push(row.map(|word| word >> (part * bits) & mask(bits)));
        }
    }
    result
}

/// A matrix of `rows × columns` values, filled from fragments.
fn gather(
    rows: usize,
    columns: usize,
    fragment: &[[u64; LANES]],
    place: impl Fn(usize, usize) -> (usize, usize),
) -> Vec<u64> {
    let mut matrix = vec![0; rows * columns];
    for (index, row) in fragment.iter().enumerate() {
        for lane in lanes(u32::MAX) {
            let (r, c) = place(lane, index);
            if let Some(cell) = matrix.get_mut(r * columns + c).filter(|_| c < columns) {
                *cell = row[lane];
            }
        }
    }
    matrix
}

fn multiply(on: &mut Lanes<'_>, mma: &MatrixMultiply) {
    let (m, n, k) = (mma.m as usize, mma.n as usize, mma.k as usize);
    let a = gather(m, k, &elements(on, &mma.a, mma.a_ty), |lane, i| place_a(mma, lane, i));
    let b = gather(k, n, &elements(on, &mma.b, mma.b_ty), |lane, i| place_b(mma, lane, i));
    let c_ty = mma.c_ty;
    let c = gather(m, n, &elements(on, &mma.c, c_ty), |lane, i| place_c(mma, lane, i));
    let mut d = vec![0; m * n];
    for row in 0..m {
        for column in 0..n {
            let pairs = (0..k).map(|i| (a[row * k + i], b[i * n + column]));
            d[row * n + column] = dot(mma, pairs, c[row * n + column]);
        }
    }
    let bits = mma.d_ty.bits();
    let per = (32 / bits).max(1) as usize;
    for (register, dst) in mma.d.iter().enumerate() {
        let Some(dst) = dst else { continue };
        let words = std::array::from_fn(|lane| {
            (0..per).fold(0, |word, part| {
                let (r, c) = place_c(mma, lane, register * per + part);
                word | d.get(r * n + c).copied().unwrap_or(0) << (part as u32 * bits)
            })
        });
        on.set(*dst, &words);
    }
}

/// One element of the product. Products are exact; the sum is rounded once for f16, bf16 and tf32 inputs (the
/// hardware truncates at a width it does not document), at each step for f64.
fn dot(mma: &MatrixMultiply, pairs: impl Iterator<Item = (u64, u64)>, c: u64) -> u64 {
    if !mma.a_ty.is_float() {
        let number = |v: u64, ty: Type| if ty.is_signed() { signed(v, ty.bits()) } else { v as i64 };
        let sum: i64 = pairs.map(|(x, y)| number(x, mma.a_ty) * number(y, mma.b_ty)).sum();
        let sum = sum + signed(c, 32);
        let sum = if mma.saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
        return sum as u64 & mask(32);
    }
    if mma.a_ty == Type::F64 {
        return pairs.fold(c, |sum, (x, y)| float::fused(x, y, sum, soft::F64, Rounding::NearestEven));
    }
    let (input, output) = (float::format_of(mma.a_ty), float::format_of(mma.d_ty));
    let read = |v: u64| {
        let v = if input == soft::TF32 { v >> 13 } else { v };
        f64::from_bits(float::convert(v, input, soft::F64, Rounding::NearestEven))
    };
    let start =
        f64::from_bits(float::convert(c, float::format_of(mma.c_ty), soft::F64, Rounding::NearestEven));
    let sum = pairs.fold(start, |sum, (x, y)| read(x).mul_add(read(y), sum));
    let bits = float::convert(sum.to_bits(), soft::F64, output, Rounding::NearestEven);
    if output.is_nan(bits) { output.nan() } else { bits }
}
