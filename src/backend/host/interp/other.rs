//! Every instruction, from the IR: the complete executor, lane by lane. `fast` runs the common ones on whole rows
//! and leaves the rest to this file. Arithmetic is dispatched here to the pure functions of `integer`, `bits`,
//! `float` and `convert`; memory, warp operations and calls have files of their own.

use super::access::Raise;
use super::context::Context;
use super::float::each_part;
use super::global::GlobalMemory;
use super::registers::{Frame, LANES, lanes};
use super::warp::{Group, Warp};
use super::{bits, convert, float, integer};
use crate::fault::FaultKind;
use crate::ptx::ir::{
    self, BoolOp, Comparison, FloatModifiers, IntegerOp, IntegerUnaryOp, Lop3Predicate, Op, Operand,
    PredicateOperand, Reg, Type,
};

/// What an instruction did to the group that ran it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It goes on with the next instruction.
    Next,
    /// Its program counter, frame or mask are new.
    Moved,
    /// It is parked, waits, or has exited.
    Parked,
}

/// The lanes of an instruction and their registers.
pub(super) struct Lanes<'w> {
    pub(super) warp: &'w mut Warp,
    pub(super) frame: Frame,
    pub(super) mask: u32,
}

impl Lanes<'_> {
    pub(super) fn row(&self, operand: Operand) -> [u64; LANES] {
        self.warp.registers.row(&self.frame, operand)
    }

    pub(super) fn set(&mut self, dst: Reg, values: &[u64; LANES]) {
        self.warp.registers.set(&self.frame, dst, self.mask, values);
    }

    pub(super) fn holds(&self, predicate: PredicateOperand) -> u32 {
        self.warp.registers.holds(&self.frame, predicate)
    }

    pub(super) fn set_predicate(&mut self, dst: Reg, value: u32) {
        self.warp.registers.set_predicate(&self.frame, dst, self.mask, value);
    }

    /// Computes `dst` lane by lane from rows.
    fn map<const N: usize>(&mut self, dst: Reg, from: [Operand; N], f: impl Fn([u64; N]) -> u64) {
        let rows = from.map(|operand| self.row(operand));
        let mut result = [0; LANES];
        for lane in lanes(self.mask) {
            result[lane] = f(std::array::from_fn(|i| rows[i][lane]));
        }
        self.set(dst, &result);
    }

    /// The lanes in which `f` holds.
    fn test<const N: usize>(&self, from: [Operand; N], f: impl Fn([u64; N]) -> bool) -> u32 {
        let rows = from.map(|operand| self.row(operand));
        lanes(self.mask)
            .fold(0, |bits, lane| bits | u32::from(f(std::array::from_fn(|i| rows[i][lane]))) << lane)
    }
}

impl<M: GlobalMemory> Context<'_, M> {
    /// Runs the instruction at `group.pc` in the lanes of `mask`, which are those of the group whose guard holds.
    pub(super) fn execute(
        &mut self,
        warp: &mut Warp,
        group: &mut Group,
        mask: u32,
    ) -> Result<Flow, Box<Raise>> {
        let Some(inst) = self.program().inst(group.frame.function, group.pc) else {
            return Err(Raise::internal(format!("no instruction at {}", group.pc)));
        };
        let first = mask.trailing_zeros() as usize % LANES;
        let on = &mut Lanes { warp, frame: group.frame, mask };
        match &inst.op {
            Op::Load(load) => self.load(on, load, group.pc)?,
            Op::Store(store) => self.store(on, store, group.pc)?,
            Op::Atomic(atomic) => self.atomic(on, atomic, group.pc)?,
            Op::AsyncCopy { .. }
            | Op::AsyncCommit
            | Op::AsyncWait { .. }
            | Op::AsyncArrive { .. }
            | Op::Mbarrier(_) => self.asynchronous(on, &inst.op, group.pc)?,
            Op::Branch { target, .. } => {
                let entry = self.entry(group.frame.function);
                return Ok(branch(warp, group, mask, entry + target));
            }
            Op::BranchIndexed { index, targets, .. } => {
                return self.branch_indexed(warp, group, mask, *index, targets);
            }
            Op::Call(call) => return self.call(warp, group, mask, call),
            Op::Return => return Ok(self.return_from(warp, group, mask)),
            Op::Exit => return Ok(exit(warp, group, mask)),
            Op::Trap => return Err(Raise::new(FaultKind::Trap, first)),
            Op::Barrier(barrier) => return self.barrier(warp, group, mask, barrier),
            Op::WarpBarrier { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Match { .. }
            | Op::Reduce { .. }
            | Op::Elect { .. }
            | Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::TransposeMatrix { .. }
            | Op::MatrixMultiply(_) => return self.warp_operation(warp, group, mask, &inst.op),
            Op::ActiveMask { dst } => on.set(*dst, &[u64::from(mask); LANES]),
            Op::ReadSpecial { dst, special } => self.read_special(on, *dst, *special),
            Op::AddressOf { dst, symbol, offset } => {
                let address = self.symbol_address(&on.frame, *symbol).wrapping_add_signed(*offset);
                on.set(*dst, &[address; LANES]);
            }
            Op::ConvertAddress { to_generic, space, dst, src } => {
                on.map(*dst, [*src], |[a]| super::loads::convert_address(*to_generic, *space, a));
            }
            Op::IsSpace { space, dst, a } => {
                let constant = |address| self.launch.reachable.is_constant(address);
                let inside = on.test([*a], |[a]| super::loads::is_space(*space, a, constant));
                on.set_predicate(*dst, inside);
            }
            Op::Fence { .. } | Op::Hint { .. } | Op::Breakpoint | Op::NanoSleep { .. } => {}
            Op::Unsupported(text) => {
                return Err(Raise::new(FaultKind::Unsupported { opcode: text.to_string() }, first));
            }
            arithmetic => {
                if let Some(strict) = &self.strict {
                    strict.check_arithmetic(on, arithmetic)?;
                }
                compute(on, arithmetic);
            }
        }
        Ok(Flow::Next)
    }

    /// Program counter of a function's first instruction.
    pub(super) fn entry(&self, function: u32) -> u32 {
        self.program().functions.get(function as usize).map_or(0, |layout| layout.entry)
    }

    fn branch_indexed(
        &mut self,
        warp: &mut Warp,
        group: &mut Group,
        mask: u32,
        index: Operand,
        targets: &[u32],
    ) -> Result<Flow, Box<Raise>> {
        let entry = self.entry(group.frame.function);
        let indices = warp.registers.row(&group.frame, index);
        let mut rest = mask;
        warp.park(Group { pc: group.pc + 1, mask: group.mask & !mask, ..*group });
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let chosen = indices[lane];
            let Some(target) = targets.get(chosen as usize) else {
                return Err(Raise::new(FaultKind::BadCall, lane));
            };
            let together = lanes(rest).filter(|&l| indices[l] == chosen).fold(0, |m, l| m | 1 << l);
            warp.park(Group { pc: entry + target, mask: together, ..*group });
            rest &= !together;
        }
        Ok(Flow::Parked)
    }
}

/// The lanes of `mask` go to `target`, the others of the group to the next instruction.
pub(super) fn branch(warp: &mut Warp, group: &mut Group, mask: u32, target: u32) -> Flow {
    let others = group.mask & !mask;
    if others == 0 {
        group.pc = target;
        return Flow::Moved;
    }
    warp.park(Group { pc: group.pc + 1, mask: others, ..*group });
    warp.park(Group { pc: target, mask, ..*group });
    Flow::Parked
}

/// The lanes of `mask` are done.
pub(super) fn exit(warp: &mut Warp, group: &mut Group, mask: u32) -> Flow {
    warp.live &= !mask;
    group.mask &= !mask;
    if group.mask == 0 {
        return Flow::Parked;
    }
    group.pc += 1;
    Flow::Moved
}

/// Everything that only computes on registers.
fn compute(on: &mut Lanes<'_>, op: &Op) {
    match *op {
        Op::Mov { dst, src } => {
            let row = on.warp.registers.wide_row(&on.frame, src);
            on.warp.registers.set_wide(&on.frame, dst, on.mask, &row);
        }
        Op::Pack { dst, ref parts } => pack(on, dst, parts),
        Op::Unpack { ref dsts, src } => unpack(on, dsts, src),
        Op::Integer { op, ty, saturate, dst, a, b } => {
            on.map(dst, [a, b], |v| match op {
                IntegerOp::MulWide => integer::binary(op, ty, saturate, v[0], v[1]),
                _ => each_part(ty, v, |[a, b]| integer::binary(op, ty, saturate, a, b)),
            });
        }
        Op::MultiplyAdd { part, ty, saturate, dst, a, b, c } => {
            on.map(dst, [a, b, c], |[a, b, c]| integer::multiply_add(part, ty, saturate, a, b, c));
        }
        Op::Carry { op, ty, carry_in, carry_out, dst, a, b } => {
            let [a, b] = [a, b].map(|v| on.row(v));
            carry_chain(on, dst, carry_in, carry_out, |lane, carry| {
                integer::carry(op, ty, carry, a[lane], b[lane])
            });
        }
        Op::MultiplyAddCarry { part, ty, carry_in, carry_out, dst, a, b, c } => {
            let [a, b, c] = [a, b, c].map(|v| on.row(v));
            carry_chain(on, dst, carry_in, carry_out, |lane, carry| {
                let product = integer::multiply(part, ty, a[lane], b[lane]);
                integer::carry(ir::CarryOp::Add, ty, carry, product, c[lane])
            });
        }
        Op::SumAbsoluteDifference { ty, dst, a, b, c } => {
            on.map(dst, [a, b, c], |[a, b, c]| integer::sum_absolute_difference(ty, a, b, c));
        }
        Op::DotProduct { form, a_signed, b_signed, dst, a, b, c } => {
            on.map(dst, [a, b, c], |[a, b, c]| integer::dot_product(form, a_signed, b_signed, a, b, c));
        }
        Op::IntegerUnary { op, ty, dst, a } => match op {
            IntegerUnaryOp::Neg | IntegerUnaryOp::Abs => {
                let part = integer::part_type(ty);
                on.map(dst, [a], |v| each_part(ty, v, |[a]| integer::unary(op, part, a)));
            }
            IntegerUnaryOp::Not if ty == Type::Pred => {
                let value = !on.holds(PredicateOperand { value: a, negated: false });
                on.set_predicate(dst, value);
            }
            _ => on.map(dst, [a], |[a]| integer::unary(op, ty, a)),
        },
        Op::Logic { op, ty: Type::Pred, dst, a, b } => {
            let [a, b] = [a, b].map(|value| on.holds(PredicateOperand { value, negated: false }));
            on.set_predicate(dst, bits::logic(op, u64::from(a), u64::from(b)) as u32);
        }
        Op::Logic { op, dst, a, b, .. } => on.map(dst, [a, b], |[a, b]| bits::logic(op, a, b)),
        Op::Lop3 { lut, dst, a, b, c, predicate } => lop3(on, lut, dst, [a, b, c], predicate),
        Op::Shift { left, ty, dst, a, b } => on.map(dst, [a, b], |[a, b]| bits::shift(left, ty, a, b)),
        Op::FunnelShift { left, range, dst, a, b, c } => {
            on.map(dst, [a, b, c], |[a, b, c]| bits::funnel_shift(left, range, a, b, c));
        }
        Op::BitFieldExtract { ty, dst, a, position, length } => {
            on.map(dst, [a, position, length], |[a, p, l]| bits::extract(ty, a, p, l));
        }
        Op::BitFieldInsert { ty, dst, a, b, position, length } => {
            on.map(dst, [a, b, position, length], |[a, b, p, l]| bits::insert(ty, a, b, p, l));
        }
        Op::BitMask { range, dst, position, length } => {
            on.map(dst, [position, length], |[p, l]| bits::bit_mask(range, p, l));
        }
        Op::Extend { range, ty, dst, a, length } => {
            on.map(dst, [a, length], |[a, l]| bits::extend(range, ty, a, l));
        }
        Op::FindNthSet { dst, mask, base, offset } => {
            on.map(dst, [mask, base, offset], |[m, b, o]| bits::find_nth_set(m, b, o));
        }
        Op::Permute { mode, dst, a, b, selector } => {
            on.map(dst, [a, b, selector], |[a, b, s]| bits::permute(mode, a, b, s));
        }
        Op::Float { op, ty, accuracy, modifiers, dst, a, b } => {
            on.map(dst, [a, b], |v| {
                each_part(ty, v, |[a, b]| float::binary(op, ty, accuracy, modifiers, a, b))
            });
        }
        Op::FloatMultiplyAdd { ty, rounding, modifiers, dst, a, b, c } => {
            on.map(dst, [a, b, c], |v| {
                each_part(ty, v, |[a, b, c]| float::multiply_add(ty, rounding, modifiers, a, b, c))
            });
        }
        Op::FloatUnary { op, ty, accuracy, modifiers, dst, a } => {
            on.map(dst, [a], |v| each_part(ty, v, |[a]| float::unary(op, ty, accuracy, modifiers, a)));
        }
        Op::FloatMinMax3 { max, modifiers, dst, a, b, c } => {
            let format = float::format_of(Type::F32);
            on.map(dst, [a, b, c], |v| float::min_max(max, &v, format, modifiers));
        }
        Op::TestProperty { property, ty, dst, a } => {
            let holds = on.test([a], |[a]| float::has_property(property, ty, a));
            on.set_predicate(dst, holds);
        }
        Op::SetPredicate { .. } | Op::Set { .. } => comparison(on, op),
        Op::Select { dst, a, b, predicate } => {
            let chosen = on.holds(predicate);
            let [a, b] = [a, b].map(|v| on.warp.registers.wide_row(&on.frame, v));
            let row = std::array::from_fn(|l| if chosen >> l & 1 == 1 { a[l] } else { b[l] });
            on.warp.registers.set_wide(&on.frame, dst, on.mask, &row);
        }
        Op::SelectBySign { dst, a, b, selector_ty, flush, c } => {
            // −0.0 counts as not negative, NaN selects b
            let format = float::format_of(Type::F32);
            let not_negative = move |c: u64| match selector_ty {
                Type::F32 => {
                    let c = if flush { float::flush(c, format) } else { c };
                    !format.is_nan(c) && (c & format.sign_bit() == 0 || format.is_zero(c))
                }
                _ => integer::signed(c, 32) >= 0,
            };
            on.map(dst, [a, b, c], |[a, b, c]| if not_negative(c) { a } else { b });
        }
        Op::Convert(ref c) => on.map(c.dst, [c.src], |[src]| {
            let result = if matches!(c.src_ty, Type::E4M3x2 | Type::E5M2x2) {
                convert::widen_pair(c.src_ty, c.relu, src)
            } else {
                convert::convert(c, src)
            };
            // a wider destination is filled by the sign (rule 4)
            match c.dst_ty.is_signed() {
                true => integer::signed(result, c.dst_ty.bits()) as u64,
                false => result,
            }
        }),
        Op::ConvertPair { dst_ty, rounding, flush, relu, saturate_finite, dst, a, b } => {
            let modifiers = FloatModifiers { flush, relu, ..FloatModifiers::default() };
            on.map(dst, [a, b], |[a, b]| convert::pair(dst_ty, rounding, modifiers, saturate_finite, a, b));
        }
        Op::PackSaturate { ty, dst, a, b, c } => {
            let c = c.unwrap_or(Operand::Imm(0));
            on.map(dst, [a, b, c], |[a, b, c]| convert::pack_saturate(ty, a, b, c));
        }
        // control, memory and warp operations never get here
        _ => {}
    }
}

fn carry_chain(
    on: &mut Lanes<'_>,
    dst: Reg,
    carry_in: bool,
    carry_out: bool,
    step: impl Fn(usize, bool) -> (u64, bool),
) {
    let before = if carry_in { on.warp.registers.carry } else { 0 };
    let (mut result, mut after) = ([0; LANES], 0);
    for lane in lanes(on.mask) {
        let (value, carry) = step(lane, before >> lane & 1 == 1);
        result[lane] = value;
        after |= u32::from(carry) << lane;
    }
    if carry_out {
        let carry = &mut on.warp.registers.carry;
        *carry = *carry & !on.mask | after;
    }
    on.set(dst, &result);
}

fn lop3(on: &mut Lanes<'_>, lut: u8, dst: Option<Reg>, from: [Operand; 3], predicate: Option<Lop3Predicate>) {
    let rows = from.map(|v| on.row(v));
    let values: [u64; LANES] = std::array::from_fn(|l| bits::lop3(lut, rows[0][l], rows[1][l], rows[2][l]));
    if let Some(p) = predicate {
        let not_zero = (0..LANES).fold(0, |m, l| m | u32::from(values[l] != 0) << l);
        let value = combine(p.op, not_zero, on.holds(p.q));
        on.set_predicate(p.dst, value);
    }
    if let Some(dst) = dst {
        on.set(dst, &values);
    }
}

fn combine(op: BoolOp, a: u32, b: u32) -> u32 {
    match op {
        BoolOp::And => a & b,
        BoolOp::Or => a | b,
        BoolOp::Xor => a ^ b,
    }
}

/// `a cmp b` of one part.
fn compare(comparison: Comparison, ty: Type, flush: bool, a: u64, b: u64) -> bool {
    if !ty.is_float() {
        return integer::compare(comparison, integer::part_type(ty), a, b);
    }
    let format = float::format_of(ty);
    let [a, b] = [a, b].map(|v| if flush { float::flush(v, format) } else { v });
    if format.is_nan(a) || format.is_nan(b) {
        use Comparison::{EqU, GeU, GtU, LeU, LtU, Nan, NeU};
        return matches!(comparison, EqU | NeU | LtU | LeU | GtU | GeU | Nan);
    }
    // magnitudes as integers, with the sign, and one zero
    let number = |v: u64| {
        let magnitude = i128::from(v & (format.sign_bit() - 1));
        if v & format.sign_bit() != 0 { -magnitude } else { magnitude }
    };
    let (x, y) = (number(a), number(b));
    match comparison {
        Comparison::Eq | Comparison::EqU => x == y,
        Comparison::Ne | Comparison::NeU => x != y,
        Comparison::Lt | Comparison::LtU | Comparison::Lo => x < y,
        Comparison::Le | Comparison::LeU | Comparison::Ls => x <= y,
        Comparison::Gt | Comparison::GtU | Comparison::Hi => x > y,
        Comparison::Ge | Comparison::GeU | Comparison::Hs => x >= y,
        Comparison::Num => true,
        Comparison::Nan => false,
    }
}

/// `setp` and `set`.
fn comparison(on: &mut Lanes<'_>, op: &Op) {
    let (comparison, ty, flush, join, a, b) = match *op {
        Op::SetPredicate { comparison, ty, flush, combine, a, b, .. }
        | Op::Set { comparison, ty, flush, combine, a, b, .. } => (comparison, ty, flush, combine, a, b),
        _ => return,
    };
    let joined = |on: &Lanes<'_>, mask: u32| match join {
        Some((op, predicate)) => combine(op, mask, on.holds(predicate)),
        None => mask,
    };
    // of packed values, the two halves
    let width = float::packed_bits(ty);
    let part = |v: u64, high: bool| match width {
        None => v,
        Some(bits) => v >> if high { bits } else { 0 } & integer::mask(bits),
    };
    let low = on.test([a, b], |[a, b]| compare(comparison, ty, flush, part(a, false), part(b, false)));
    let high = match width {
        Some(_) => on.test([a, b], |[a, b]| compare(comparison, ty, flush, part(a, true), part(b, true))),
        None => !low,
    };
    let (first, second) = (joined(on, low), joined(on, high));
    match *op {
        Op::SetPredicate { dst, other, .. } => {
            if let Some(dst) = dst {
                on.set_predicate(dst, first);
            }
            if let Some(other) = other {
                on.set_predicate(other, second);
            }
        }
        Op::Set { dst_ty, dst, .. } => {
            // of packed sources, each half fills its half of the result, also of a 32-bit integer
            let part_bits = width.unwrap_or(dst_ty.bits());
            let yes = match dst_ty.is_float() {
                true => float::convert(
                    1.0_f64.to_bits(),
                    super::soft::F64,
                    float::format_of(dst_ty),
                    ir::Rounding::Zero,
                ),
                false => integer::mask(part_bits),
            };
            let values = std::array::from_fn(|lane| {
                let pick = |mask: u32| if mask >> lane & 1 == 1 { yes } else { 0 };
                match width {
                    Some(_) => pick(second) << part_bits | pick(first),
                    None => pick(first),
                }
            });
            on.set(dst, &values);
        }
        _ => {}
    }
}

fn width_of(reg: Reg, parts: usize) -> u32 {
    reg.width.bits() / parts.max(1) as u32
}

fn pack(on: &mut Lanes<'_>, dst: Reg, parts: &[Operand]) {
    let bits = width_of(dst, parts.len());
    let mut result = [0_u128; LANES];
    for (index, &part) in parts.iter().enumerate() {
        let row = on.row(part);
        for lane in 0..LANES {
            result[lane] |= u128::from(row[lane] & integer::mask(bits)) << (bits * index as u32);
        }
    }
    on.warp.registers.set_wide(&on.frame, dst, on.mask, &result);
}

fn unpack(on: &mut Lanes<'_>, dsts: &[Option<Reg>], src: Reg) {
    let source = on.warp.registers.wide_row(&on.frame, Operand::Reg(src));
    let bits = width_of(src, dsts.len());
    for (index, dst) in dsts.iter().enumerate() {
        let Some(dst) = dst else { continue };
        let part = source.map(|v| (v >> (bits * index as u32)) as u64 & integer::mask(bits));
        on.set(*dst, &part);
    }
}
