//! Operations of a warp: shuffles, votes, matches, reductions, `bar.warp.sync`, matrix fragments. They gather the
//! lanes that they name, also from different program counters, before anything is computed.

use smallvec::SmallVec;

use super::access::Raise;
use super::context::Context;
use super::global::GlobalMemory;
use super::integer::{limits, mask as ones, value};
use super::other::Flow;
use super::registers::{FULL, LANES, lanes};
use super::warp::{Group, Wait, Warp};
use super::{float, matrix};
use crate::fault::FaultKind;
use crate::ptx::ir::{
    FloatModifiers, Op, Operand, PredicateOperand, ReduceOp, Reg, ShuffleMode, Type, VoteMode,
};

/// Groups that execute one operation together, each at its own instruction.
pub(super) type Parts = SmallVec<[Group; 2]>;

/// What the lanes bring.
#[derive(Clone, Copy)]
struct Inputs {
    rows: [[u64; LANES]; 3],
    predicate: u32,
}

/// What the lanes take away.
struct Outputs {
    row: [u64; LANES],
    predicate: u32,
}

impl<M: GlobalMemory> Context<'_, M> {
    /// Runs a warp operation once all of its lanes are there.
    pub(super) fn warp_operation(
        &mut self,
        warp: &mut Warp,
        group: &mut Group,
        mask: u32,
        op: &Op,
    ) -> Result<Flow, Box<Raise>> {
        // lanes that name other members are another operation
        let (members, mask) = match members_of(op) {
            Members::Operand(operand) => {
                let row = warp.registers.row(&group.frame, operand);
                let first = row[mask.trailing_zeros() as usize % LANES];
                let same = lanes(mask).filter(|&l| row[l] == first).fold(0, |m, l| m | 1 << l);
                (first as u32, same)
            }
            Members::Everybody => (FULL, mask),
            Members::Present => (mask, mask),
        };
        if self.strict.is_some() && mask & !members != 0 {
            let lane = (mask & !members).trailing_zeros() as usize;
            return Err(Raise::new(FaultKind::InactiveLane, lane));
        }
        let here = Group { mask, ..*group };
        let wait = Wait::Lanes { members, tag: tag_of(op) };
        let arrived = warp.waiting.iter().filter(|(_, w)| *w == wait);
        let gathered = arrived.fold(mask, |m, (g, _)| m | g.mask);
        let complete = members & warp.live & !gathered == 0;
        let alone = gathered == mask;
        if !(complete && alone && mask == group.mask) {
            // the lanes that do not take part, or not in this one, go their own way
            self.leave_behind(warp, group, mask);
        }
        if !complete {
            warp.waiting.push((here, wait));
            return Ok(Flow::Parked);
        }
        let mut parts = Parts::new();
        parts.push(here);
        warp.waiting.retain(|(g, w)| {
            let joins = *w == wait;
            if joins {
                parts.push(*g);
            }
            !joins
        });
        parts.sort_by_key(|part| part.mask.trailing_zeros());
        self.run_together(warp, &parts, members, op)?;
        if let Some(strict) = &mut self.strict {
            strict.lanes_synchronised(warp.index, parts.iter().fold(0, |m, part| m | part.mask));
        }
        if alone && mask == group.mask {
            return Ok(Flow::Next);
        }
        for part in &parts {
            warp.park(Group { pc: part.pc + 1, ..*part });
        }
        Ok(Flow::Parked)
    }

    /// Parks the lanes of `group` that are not in `mask`: after the instruction if their guard did not hold, before
    /// it if they name other members.
    fn leave_behind(&self, warp: &mut Warp, group: &Group, mask: u32) {
        let rest = group.mask & !mask;
        let guard = self.program().inst(group.frame.function, group.pc).and_then(|inst| inst.guard);
        let executes = match guard {
            None => FULL,
            Some(guard) => {
                let value = Operand::Reg(guard.predicate);
                warp.registers.holds(&group.frame, PredicateOperand { value, negated: guard.negated })
            }
        };
        warp.park(Group { mask: rest & executes, ..*group });
        warp.park(Group { mask: rest & !executes, pc: group.pc + 1, ..*group });
    }

    fn run_together(
        &mut self,
        warp: &mut Warp,
        parts: &Parts,
        members: u32,
        op: &Op,
    ) -> Result<(), Box<Raise>> {
        let active = parts.iter().fold(0, |m, part| m | part.mask);
        match op {
            Op::LoadMatrix { .. } | Op::StoreMatrix { .. } => {
                return matrix::transfer(self, warp, parts, op);
            }
            Op::TransposeMatrix { .. } | Op::MatrixMultiply(_) => {
                matrix::compute(self, warp, parts, op);
                return Ok(());
            }
            _ => {}
        }
        let inputs = self.collect(warp, parts);
        let strict = self.strict.is_some();
        let outputs = evaluate(op, active, members, &inputs, strict)?;
        for part in parts {
            let Some(inst) = self.program().inst(part.frame.function, part.pc) else { continue };
            let (dst, predicate) = destinations(&inst.op);
            if let Some(dst) = dst {
                warp.registers.set(&part.frame, dst, part.mask, &outputs.row);
            }
            if let Some(predicate) = predicate {
                warp.registers.set_predicate(&part.frame, predicate, part.mask, outputs.predicate);
            }
        }
        Ok(())
    }

    fn collect(&self, warp: &Warp, parts: &Parts) -> Inputs {
        let mut inputs = Inputs { rows: [[0; LANES]; 3], predicate: 0 };
        for part in parts {
            let Some(inst) = self.program().inst(part.frame.function, part.pc) else { continue };
            let (operands, predicate) = sources(&inst.op);
            for (row, operand) in inputs.rows.iter_mut().zip(operands) {
                let Some(operand) = operand else { continue };
                let mine = warp.registers.row(&part.frame, operand);
                lanes(part.mask).for_each(|lane| row[lane] = mine[lane]);
            }
            if let Some(predicate) = predicate {
                inputs.predicate |= warp.registers.holds(&part.frame, predicate) & part.mask;
            }
        }
        inputs
    }
}

enum Members {
    Operand(Operand),
    /// Aligned operations of the whole warp.
    Everybody,
    /// The forms without `.sync`: the lanes that happen to be there.
    Present,
}

fn members_of(op: &Op) -> Members {
    match *op {
        Op::WarpBarrier { mask }
        | Op::Match { mask, .. }
        | Op::Reduce { mask, .. }
        | Op::Elect { mask, .. }
        | Op::Shuffle { mask: Some(mask), .. }
        | Op::Vote { mask: Some(mask), .. } => Members::Operand(mask),
        Op::Shuffle { mask: None, .. } | Op::Vote { mask: None, .. } => Members::Present,
        _ => Members::Everybody,
    }
}

/// Distinguishes operations that cannot complete each other.
fn tag_of(op: &Op) -> u32 {
    match op {
        Op::WarpBarrier { .. } => 0,
        Op::Shuffle { mode, .. } => 1 + *mode as u32,
        Op::Vote { mode, .. } => 8 + *mode as u32,
        Op::Match { all, .. } => 16 + u32::from(*all),
        Op::Reduce { op, .. } => 24 + *op as u32,
        Op::Elect { .. } => 32,
        Op::LoadMatrix { .. } => 33,
        Op::StoreMatrix { .. } => 34,
        Op::TransposeMatrix { .. } => 35,
        _ => 36,
    }
}

fn sources(op: &Op) -> ([Option<Operand>; 3], Option<PredicateOperand>) {
    match *op {
        Op::Shuffle { a, b, c, .. } => ([Some(a), Some(b), Some(c)], None),
        Op::Match { a, .. } | Op::Reduce { a, .. } => ([Some(a), None, None], None),
        Op::Vote { source, .. } => ([None; 3], Some(source)),
        _ => ([None; 3], None),
    }
}

fn destinations(op: &Op) -> (Option<Reg>, Option<Reg>) {
    match *op {
        Op::Shuffle { dst, predicate, .. }
        | Op::Match { dst, predicate, .. }
        | Op::Elect { dst, predicate, .. } => (dst, predicate),
        Op::Vote { mode: VoteMode::Ballot, dst, .. } | Op::Reduce { dst, .. } => (Some(dst), None),
        Op::Vote { dst, .. } => (None, Some(dst)),
        _ => (None, None),
    }
}

fn evaluate(
    op: &Op,
    active: u32,
    members: u32,
    inputs: &Inputs,
    strict: bool,
) -> Result<Outputs, Box<Raise>> {
    let mut outputs = Outputs { row: [0; LANES], predicate: 0 };
    match *op {
        Op::Shuffle { mode, .. } => {
            for lane in lanes(active) {
                let (from, in_range) =
                    source_lane(mode, lane as u32, inputs.rows[1][lane], inputs.rows[2][lane]);
                let there = active >> from & 1 == 1;
                if strict && in_range && !there {
                    return Err(Raise::new(FaultKind::InactiveLane, lane));
                }
                let from = if there { from as usize } else { lane };
                outputs.row[lane] = inputs.rows[0][from];
                outputs.predicate |= u32::from(in_range) << lane;
            }
        }
        Op::Vote { mode, .. } => {
            let (yes, all) = (inputs.predicate & active, active);
            match mode {
                VoteMode::Ballot => outputs.row = [u64::from(yes); LANES],
                VoteMode::All if yes == all => outputs.predicate = FULL,
                VoteMode::Any if yes != 0 => outputs.predicate = FULL,
                VoteMode::Uni if yes == all || yes == 0 => outputs.predicate = FULL,
                VoteMode::All | VoteMode::Any | VoteMode::Uni => {}
            }
        }
        Op::Match { all, ty, .. } => {
            let key = |lane: usize| inputs.rows[0][lane] & ones(ty.bits());
            for lane in lanes(active) {
                let same = lanes(active).filter(|&l| key(l) == key(lane)).fold(0, |m, l| m | 1_u32 << l);
                if all {
                    let everyone = same == active;
                    outputs.row[lane] = if everyone { u64::from(active) } else { 0 };
                    outputs.predicate |= u32::from(everyone) << lane;
                } else {
                    outputs.row[lane] = u64::from(same);
                }
            }
        }
        Op::Reduce { op, ty, absolute, nan, .. } => {
            let modifiers = FloatModifiers { nan, abs: absolute, ..FloatModifiers::default() };
            let values = lanes(active).map(|lane| inputs.rows[0][lane]);
            let first = |v: u64| match (ty, absolute) {
                (Type::F32, true) => v & ones(31),
                _ => v,
            };
            let result = values.map(first).reduce(|x, y| reduce(op, ty, modifiers, x, y));
            outputs.row = [result.unwrap_or(0); LANES];
        }
        Op::Elect { .. } => {
            let leader = (active & members).trailing_zeros() % 32;
            outputs.row = [u64::from(leader); LANES];
            outputs.predicate = 1 << leader;
        }
        _ => {}
    }
    Ok(outputs)
}

fn reduce(op: ReduceOp, ty: Type, modifiers: FloatModifiers, x: u64, y: u64) -> u64 {
    if ty == Type::F32 {
        return float::min_max(op == ReduceOp::Max, &[x, y], float::format_of(ty), modifiers);
    }
    let (low, _) = limits(ty);
    let result = match op {
        ReduceOp::Add => x.wrapping_add(y),
        ReduceOp::And => x & y,
        ReduceOp::Or => x | y,
        ReduceOp::Xor => x ^ y,
        ReduceOp::Min if low == 0 => x.min(y),
        ReduceOp::Max if low == 0 => x.max(y),
        ReduceOp::Min => value(x, ty).min(value(y, ty)) as u64,
        ReduceOp::Max => value(x, ty).max(value(y, ty)) as u64,
    };
    result & ones(ty.bits())
}

/// The lane that `lane` reads, and whether it lies in the segment; the formulas of the PTX manual.
fn source_lane(mode: ShuffleMode, lane: u32, b: u64, c: u64) -> (u32, bool) {
    let b = b as u32 & 31;
    let clamp = c as u32 & 31;
    let segment = c as u32 >> 8 & 31;
    let max = lane & segment | clamp & !segment;
    let min = lane & segment;
    let (from, in_range) = match mode {
        ShuffleMode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= max as i32),
        ShuffleMode::Down => (lane + b, lane + b <= max),
        ShuffleMode::Bfly => (lane ^ b, lane ^ b <= max),
        ShuffleMode::Idx => (min | b & !segment, min | b & !segment <= max),
    };
    if in_range { (from & 31, true) } else { (lane, false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // the c operands that CUDA's __shfl_*_sync intrinsics make for a width of 32 and of 8
    const DOWN32: u64 = 0x1f;
    const UP32: u64 = 0;
    const DOWN8: u64 = (32 - 8) << 8 | 0x1f;

    #[test]
    fn shuffles_stop_at_their_segment() {
        assert_eq!(source_lane(ShuffleMode::Down, 3, 4, DOWN32), (7, true));
        assert_eq!(source_lane(ShuffleMode::Down, 30, 4, DOWN32), (30, false));
        assert_eq!(source_lane(ShuffleMode::Down, 6, 4, DOWN8), (6, false));
        assert_eq!(source_lane(ShuffleMode::Down, 9, 4, DOWN8), (13, true));
        assert_eq!(source_lane(ShuffleMode::Up, 3, 1, UP32), (2, true));
        assert_eq!(source_lane(ShuffleMode::Up, 0, 1, UP32), (0, false));
        assert_eq!(source_lane(ShuffleMode::Up, 8, 1, (32 - 8) << 8), (8, false));
        assert_eq!(source_lane(ShuffleMode::Bfly, 5, 16, DOWN32), (21, true));
        assert_eq!(source_lane(ShuffleMode::Idx, 21, 3, DOWN8), (19, true));
    }
}
