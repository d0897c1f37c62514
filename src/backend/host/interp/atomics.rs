//! `atom` and `red`: one lane after another, lowest first, which is one of the orders the hardware may choose.

use super::access::{Place, Raise};
use super::context::Context;
use super::float;
use super::global::GlobalMemory;
use super::integer::{limits, mask, part_type, value};
use super::loads::How;
use super::other::Lanes;
use super::registers::{LANES, lanes};
use crate::fault::AccessKind;
use crate::ptx::ir::{Atomic, AtomicOp, FloatModifiers, Operand, Rounding, Type};
use smallvec::SmallVec;

impl<M: GlobalMemory> Context<'_, M> {
    /// `atom`, `red`. All lanes are checked before the first one writes.
    pub(super) fn atomic(&mut self, on: &mut Lanes<'_>, atomic: &Atomic, pc: u32) -> Result<(), Box<Raise>> {
        let size = atomic.ty.bytes() as usize;
        let total = size * atomic.a.len();
        let addresses = self.addresses(on, &atomic.address);
        let mut places = [Place::Shared { offset: 0 }; LANES];
        for lane in lanes(on.mask) {
            places[lane] = self.place(on, atomic.space, addresses[lane], total, AccessKind::Atomic, lane)?;
            self.observe(on, pc, lane, places[lane], total, How::new(AccessKind::Atomic))?;
        }
        let wide = |on: &Lanes<'_>, v: Operand| on.warp.registers.wide_row(&on.frame, v);
        let operands: SmallVec<[[u128; LANES]; 2]> = atomic.a.iter().map(|&a| wide(on, a)).collect();
        let swap = atomic.b.map(|b| wide(on, b));
        let mut old_rows: SmallVec<[[u128; LANES]; 2]> = SmallVec::from_elem([0; LANES], atomic.a.len());
        for lane in lanes(on.mask) {
            let place = places[lane];
            let mut bytes = self.fetch(on.warp, lane, place, total);
            // f32 additions flush subnormals in global memory, not in shared memory
            let flush = atomic.ty == Type::F32 && matches!(place, Place::Global { .. });
            for (element, row) in operands.iter().enumerate() {
                let here = &mut bytes[element * size..][..size];
                let mut whole = [0; 16];
                whole[..size].copy_from_slice(here);
                let old = u128::from_le_bytes(whole);
                let new = match atomic.op {
                    AtomicOp::CompareAndSwap => {
                        let same = old == row[lane] & all_ones(size);
                        if same { swap.map_or(old, |b| b[lane]) } else { old }
                    }
                    AtomicOp::Exchange => row[lane],
                    op => u128::from(update(op, atomic.ty, flush, old as u64, row[lane] as u64)),
                };
                here.copy_from_slice(&new.to_le_bytes()[..size]);
                old_rows[element][lane] = old;
            }
            self.put(on.warp, lane, place, &bytes[..total]);
        }
        for (dst, row) in atomic.dsts.iter().zip(&old_rows) {
            if let Some(dst) = dst {
                let extend = atomic.ty.is_signed() && dst.width.bits() > atomic.ty.bits();
                let row = row.map(|v| match extend {
                    true => super::integer::signed(v as u64, atomic.ty.bits()) as u64 as u128,
                    false => v,
                });
                on.warp.registers.set_wide(&on.frame, *dst, on.mask, &row);
            }
        }
        if let Some(statistics) = &mut self.statistics {
            let bytes = u64::from(on.mask.count_ones()) * total as u64;
            statistics.loaded_bytes += bytes;
            statistics.stored_bytes += bytes;
        }
        Ok(())
    }
}

fn all_ones(bytes: usize) -> u128 {
    if bytes >= 16 { u128::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// The new value of an atomic that computes.
fn update(op: AtomicOp, ty: Type, flush: bool, old: u64, a: u64) -> u64 {
    if ty.is_float() {
        return float::each_part(ty, [old, a], |[old, a]| update_float(op, ty, flush, old, a));
    }
    let part = part_type(ty);
    float::each_part(ty, [old, a], |[old, a]| {
        let (low, _) = limits(part);
        let unsigned_order = low == 0;
        let (x, y) = (value(old, part), value(a, part));
        let result = match op {
            AtomicOp::And => old & a,
            AtomicOp::Or => old | a,
            AtomicOp::Xor => old ^ a,
            AtomicOp::Add => old.wrapping_add(a),
            AtomicOp::Inc => {
                if old >= a {
                    0
                } else {
                    old + 1
                }
            }
            AtomicOp::Dec => {
                if old == 0 || old > a {
                    a
                } else {
                    old - 1
                }
            }
            AtomicOp::Min if unsigned_order => old.min(a),
            AtomicOp::Max if unsigned_order => old.max(a),
            AtomicOp::Min => x.min(y) as u64,
            AtomicOp::Max => x.max(y) as u64,
            AtomicOp::Exchange | AtomicOp::CompareAndSwap => a,
        };
        result & mask(part.bits())
    })
}

fn update_float(op: AtomicOp, ty: Type, flush: bool, old: u64, a: u64) -> u64 {
    let format = float::format_of(ty);
    let modifiers = FloatModifiers { flush, ..FloatModifiers::default() };
    match op {
        AtomicOp::Add => {
            let [old, a] = [old, a].map(|v| if flush { float::flush(v, format) } else { v });
            float::finish(float::add(old, a, format, Rounding::NearestEven), format, modifiers)
        }
        AtomicOp::Min | AtomicOp::Max => {
            float::min_max(op == AtomicOp::Max, &[old, a], format, FloatModifiers::default())
        }
        AtomicOp::And => old & a,
        AtomicOp::Or => old | a,
        AtomicOp::Xor => old ^ a,
        _ => a,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inc_and_dec_wrap_at_their_operand() {
        let f = |op, old, a| update(op, Type::U32, false, old, a);
        assert_eq!(f(AtomicOp::Inc, 3, 3), 0);
        assert_eq!(f(AtomicOp::Inc, 2, 3), 3);
        assert_eq!(f(AtomicOp::Dec, 0, 3), 3);
        assert_eq!(f(AtomicOp::Dec, 9, 3), 3);
        assert_eq!(f(AtomicOp::Dec, 2, 3), 1);
    }

    #[test]
    fn order_follows_the_type() {
        assert_eq!(update(AtomicOp::Min, Type::S32, false, 0xffff_ffff, 1), 0xffff_ffff);
        assert_eq!(update(AtomicOp::Min, Type::U32, false, 0xffff_ffff, 1), 1);
        assert_eq!(update(AtomicOp::Max, Type::S64, false, u64::MAX, 1), 1);
    }

    #[test]
    fn f32_additions_flush_only_where_asked() {
        assert_eq!(update(AtomicOp::Add, Type::F32, true, 1, 1), 0);
        assert_eq!(update(AtomicOp::Add, Type::F32, false, 1, 1), 2);
        // two halves, each on its own: 1 + 1 and 2 + 0.5
        assert_eq!(update(AtomicOp::Add, Type::F16x2, false, 0x3c00_4000, 0x3c00_3800), 0x4000_4100);
    }
}
