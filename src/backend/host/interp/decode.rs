//! From the IR to the operations of the fast loop. Immediates become constant rows behind a function's registers,
//! so that every operand is a row. What has no fast form stays [`Op::Other`].

use std::collections::HashMap;

use super::op::{Inst, Op, Special};
use super::program::Layout;
use crate::ptx::ir::{
    self, Accuracy, Address, AddressBase, AtomicOp, Axis, BoolOp, Comparison, FloatModifiers, FloatOp,
    FloatUnaryOp, FunctionKind, IntegerOp, IntegerUnaryOp, MulPart, Operand, ParamBlock, Range, Reg,
    RegClass, Rounding, Space, SpecialReg, Symbol, Type, Width,
};

/// Appends the code of `function`, and gives `layout` its constant rows.
pub(super) fn function(function: &ir::Function, layout: &mut Layout, code: &mut Vec<Inst>) {
    let mut decoder = Decoder {
        function,
        entry: code.len() as u32,
        next32: function.registers.slots32,
        next64: function.registers.slots64,
        constants32: HashMap::new(),
        constants64: HashMap::new(),
    };
    let always = function.registers.predicates;
    for inst in &function.code {
        let (guard, flip) = match inst.guard {
            None => (always, 0),
            Some(guard) => (guard.predicate.index, if guard.negated { u32::MAX } else { 0 }),
        };
        let op = decoder.op(&inst.op).unwrap_or(Op::Other);
        code.push(Inst { guard, flip, op });
    }
    layout.always = always;
    layout.file.predicates += 1;
    layout.file.slots32 = decoder.next32;
    layout.file.slots64 = decoder.next64;
    layout.constants32 = decoder.constants32.into_iter().map(|(value, row)| (row, value)).collect();
    layout.constants64 = decoder.constants64.into_iter().map(|(value, row)| (row, value)).collect();
    layout.constants32.sort_unstable();
    layout.constants64.sort_unstable();
}

struct Decoder<'a> {
    function: &'a ir::Function,
    entry: u32,
    next32: u32,
    next64: u32,
    constants32: HashMap<u32, u32>,
    constants64: HashMap<u64, u32>,
}

impl Decoder<'_> {
    /// The row of a 32-bit operand (of exactly that width).
    fn r32(&mut self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Reg(reg) => d32(reg),
            Operand::Imm(bits) => {
                let next = &mut self.next32;
                Some(*self.constants32.entry(bits as u32).or_insert_with(|| {
                    *next += 1;
                    *next - 1
                }))
            }
        }
    }

    fn r64(&mut self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Reg(reg) => d64(reg),
            Operand::Imm(bits) => {
                let next = &mut self.next64;
                Some(*self.constants64.entry(bits).or_insert_with(|| {
                    *next += 1;
                    *next - 1
                }))
            }
        }
    }

    /// The row of an unsigned 16-bit operand: registers of 16 bits are rows of 32 with zeros above.
    fn r16(&mut self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Reg(reg) => (reg.width == Width::B16).then_some(reg.index),
            Operand::Imm(bits) => self.r32(Operand::Imm(bits & 0xffff)),
        }
    }

    fn op(&mut self, op: &ir::Op) -> Option<Op> {
        Some(match *op {
            ir::Op::Branch { target, .. } => Op::Branch { target: self.entry + target },
            ir::Op::Mov { dst, src } => match dst.width {
                Width::B32 => Op::Mov32 { d: dst.index, a: self.r32(src)? },
                Width::B64 => Op::Mov64 { d: dst.index, a: self.r64(src)? },
                _ => return None,
            },
            ir::Op::ReadSpecial { dst, special } => Op::Special { d: d32(dst)?, which: special_of(special)? },
            ir::Op::ConvertAddress { space: Space::Global | Space::Const, dst, src, .. } => {
                Op::Mov64 { d: d64(dst)?, a: self.r64(src)? }
            }
            ir::Op::Integer { op, ty, saturate: false, dst, a, b } => self.integer(op, ty, dst, a, b)?,
            ir::Op::MultiplyAdd { part, ty, saturate: false, dst, a, b, c } => {
                let (signed, bits) = (ty.is_signed(), ty.bits());
                match (part, bits) {
                    (MulPart::Lo, 32) => {
                        Op::Mad32 { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)?, c: self.r32(c)? }
                    }
                    (MulPart::Wide, 32) => {
                        let (d, a, b, c) = (d64(dst)?, self.r32(a)?, self.r32(b)?, self.r64(c)?);
                        if signed { Op::MadWideS { d, a, b, c } } else { Op::MadWideU { d, a, b, c } }
                    }
                    _ => return None,
                }
            }
            ir::Op::IntegerUnary { op, ty, dst, a } if ty.bits() == 32 => {
                let (d, a) = (d32(dst)?, self.r32(a)?);
                match op {
                    IntegerUnaryOp::Not => Op::Not32 { d, a },
                    IntegerUnaryOp::Neg => Op::Neg32 { d, a },
                    _ => return None,
                }
            }
            ir::Op::Logic { op, ty, dst, a, b } => self.logic(op, ty, dst, a, b)?,
            ir::Op::Lop3 { lut, dst: Some(dst), a, b, c, predicate: None } => {
                Op::Lop3 { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)?, c: self.r32(c)?, lut }
            }
            ir::Op::Shift { left, ty, dst, a, b } => match (ty.bits(), left, ty.is_signed()) {
                (32, true, _) => Op::Shl32 { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)? },
                (32, false, false) => Op::ShrU32 { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)? },
                (32, false, true) => Op::ShrS32 { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)? },
                (64, true, _) => Op::Shl64 { d: d64(dst)?, a: self.r64(a)?, b: self.r32(b)? },
                (64, false, false) => Op::ShrU64 { d: d64(dst)?, a: self.r64(a)?, b: self.r32(b)? },
                (64, false, true) => Op::ShrS64 { d: d64(dst)?, a: self.r64(a)?, b: self.r32(b)? },
                _ => return None,
            },
            ir::Op::FunnelShift { left: true, range: Range::Wrap, dst, a, b, c } => {
                Op::FunnelLeft { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)?, c: self.r32(c)? }
            }
            ir::Op::Float { op, ty, accuracy, modifiers, dst, a, b } => {
                self.float(op, ty, accuracy, modifiers, dst, a, b)?
            }
            ir::Op::FloatMultiplyAdd { ty, rounding: Rounding::NearestEven, modifiers, dst, a, b, c }
                if modifiers == FloatModifiers::default() =>
            {
                match ty {
                    Type::F32 => {
                        Op::FmaF32 { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)?, c: self.r32(c)? }
                    }
                    Type::F64 => {
                        Op::FmaF64 { d: d64(dst)?, a: self.r64(a)?, b: self.r64(b)?, c: self.r64(c)? }
                    }
                    _ => return None,
                }
            }
            ir::Op::FloatUnary { op, ty, accuracy, modifiers, dst, a }
                if modifiers == FloatModifiers::default() && to_nearest(accuracy) =>
            {
                match (ty, op) {
                    (Type::F32, FloatUnaryOp::Neg) => Op::NegF32 { d: d32(dst)?, a: self.r32(a)? },
                    (Type::F32, FloatUnaryOp::Abs) => Op::AbsF32 { d: d32(dst)?, a: self.r32(a)? },
                    (Type::F32, FloatUnaryOp::Sqrt) => Op::SqrtF32 { d: d32(dst)?, a: self.r32(a)? },
                    (Type::F32, FloatUnaryOp::Rsqrt) => Op::RsqrtF32 { d: d32(dst)?, a: self.r32(a)? },
                    (Type::F32, FloatUnaryOp::Rcp) => Op::RcpF32 { d: d32(dst)?, a: self.r32(a)? },
                    (Type::F64, FloatUnaryOp::Neg) => Op::NegF64 { d: d64(dst)?, a: self.r64(a)? },
                    _ => return None,
                }
            }
            ir::Op::SetPredicate {
                comparison,
                ty,
                flush: false,
                combine: None,
                dst: Some(dst),
                other: None,
                a,
                b,
            } => self.compare(comparison, ty, dst.index, a, b)?,
            ir::Op::Select { dst, a, b, predicate } => {
                let Operand::Reg(p) = predicate.value else { return None };
                let (a, b) = if predicate.negated { (b, a) } else { (a, b) };
                match dst.width {
                    Width::B32 => Op::Select32 { d: dst.index, a: self.r32(a)?, b: self.r32(b)?, p: p.index },
                    Width::B64 => Op::Select64 { d: dst.index, a: self.r64(a)?, b: self.r64(b)?, p: p.index },
                    _ => return None,
                }
            }
            ir::Op::Convert(ref c) => self.convert(c)?,
            ir::Op::Load(ref load) => self.load(load)?,
            ir::Op::Store(ref store) => self.store(store)?,
            ir::Op::Atomic(ref atomic) => self.atomic(atomic)?,
            _ => return None,
        })
    }

    fn integer(&mut self, op: IntegerOp, ty: Type, dst: Reg, a: Operand, b: Operand) -> Option<Op> {
        use IntegerOp::*;
        let signed = ty.is_signed();
        if ty == Type::U16x2 || ty == Type::S16x2 {
            return None;
        }
        Some(match (ty.bits(), op) {
            (16, MulWide) if !signed => Op::Mul32 { d: d32(dst)?, a: self.r16(a)?, b: self.r16(b)? },
            (32, MulWide) => {
                let (d, a, b) = (d64(dst)?, self.r32(a)?, self.r32(b)?);
                if signed { Op::MulWideS { d, a, b } } else { Op::MulWideU { d, a, b } }
            }
            (32, _) => {
                let (d, a, b) = (d32(dst)?, self.r32(a)?, self.r32(b)?);
                match (op, signed) {
                    (Add, _) => Op::Add32 { d, a, b },
                    (Sub, _) => Op::Sub32 { d, a, b },
                    (MulLo, _) => Op::Mul32 { d, a, b },
                    (MulHi, true) => Op::MulHiS32 { d, a, b },
                    (MulHi, false) => Op::MulHiU32 { d, a, b },
                    (Min, true) => Op::MinS32 { d, a, b },
                    (Min, false) => Op::MinU32 { d, a, b },
                    (Max, true) => Op::MaxS32 { d, a, b },
                    (Max, false) => Op::MaxU32 { d, a, b },
                    _ => return None,
                }
            }
            (64, Add | Sub | MulLo) => {
                let (d, a, b) = (d64(dst)?, self.r64(a)?, self.r64(b)?);
                match op {
                    Add => Op::Add64 { d, a, b },
                    Sub => Op::Sub64 { d, a, b },
                    _ => Op::Mul64 { d, a, b },
                }
            }
            _ => return None,
        })
    }

    fn logic(&mut self, op: BoolOp, ty: Type, dst: Reg, a: Operand, b: Operand) -> Option<Op> {
        Some(match (ty.bits(), op) {
            (1, _) => {
                let (Operand::Reg(a), Operand::Reg(b)) = (a, b) else { return None };
                let (d, a, b) = (dst.index, a.index, b.index);
                match op {
                    BoolOp::And => Op::AndP { d, a, b },
                    BoolOp::Or => Op::OrP { d, a, b },
                    BoolOp::Xor => Op::XorP { d, a, b },
                }
            }
            (32, BoolOp::And) => Op::And32 { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)? },
            (32, BoolOp::Or) => Op::Or32 { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)? },
            (32, BoolOp::Xor) => Op::Xor32 { d: d32(dst)?, a: self.r32(a)?, b: self.r32(b)? },
            (64, BoolOp::And) => Op::And64 { d: d64(dst)?, a: self.r64(a)?, b: self.r64(b)? },
            (64, BoolOp::Or) => Op::Or64 { d: d64(dst)?, a: self.r64(a)?, b: self.r64(b)? },
            (64, BoolOp::Xor) => Op::Xor64 { d: d64(dst)?, a: self.r64(a)?, b: self.r64(b)? },
            _ => return None,
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of the instruction")]
    fn float(
        &mut self,
        op: FloatOp,
        ty: Type,
        accuracy: Accuracy,
        modifiers: FloatModifiers,
        dst: Reg,
        a: Operand,
        b: Operand,
    ) -> Option<Op> {
        if modifiers != FloatModifiers::default() || !to_nearest(accuracy) {
            return None;
        }
        Some(match ty {
            Type::F32 => {
                let (d, a, b) = (d32(dst)?, self.r32(a)?, self.r32(b)?);
                match op {
                    FloatOp::Add => Op::AddF32 { d, a, b },
                    FloatOp::Sub => Op::SubF32 { d, a, b },
                    FloatOp::Mul => Op::MulF32 { d, a, b },
                    FloatOp::Div => Op::DivF32 { d, a, b },
                    FloatOp::Min => Op::MinF32 { d, a, b },
                    FloatOp::Max => Op::MaxF32 { d, a, b },
                    FloatOp::CopySign => return None,
                }
            }
            Type::F64 => {
                let (d, a, b) = (d64(dst)?, self.r64(a)?, self.r64(b)?);
                match op {
                    FloatOp::Add => Op::AddF64 { d, a, b },
                    FloatOp::Sub => Op::SubF64 { d, a, b },
                    FloatOp::Mul => Op::MulF64 { d, a, b },
                    FloatOp::Div => Op::DivF64 { d, a, b },
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    fn compare(&mut self, comparison: Comparison, ty: Type, d: u32, a: Operand, b: Operand) -> Option<Op> {
        use Comparison::*;
        const NO: u32 = 0;
        const YES: u32 = u32::MAX;
        if matches!(ty, Type::F32 | Type::F64) {
            // the unordered forms are the negations of the opposite ordered ones
            let (swap, flip, kind) = match comparison {
                Eq => (false, NO, 0),
                NeU => (false, YES, 0),
                Lt => (false, NO, 1),
                Gt => (true, NO, 1),
                GeU => (false, YES, 1),
                LeU => (true, YES, 1),
                Le => (false, NO, 2),
                Ge => (true, NO, 2),
                GtU => (false, YES, 2),
                LtU => (true, YES, 2),
                _ => return None,
            };
            let (a, b) = if swap { (b, a) } else { (a, b) };
            return Some(match (ty, kind) {
                (Type::F32, 0) => Op::EqF32 { d, a: self.r32(a)?, b: self.r32(b)?, flip },
                (Type::F32, 1) => Op::LtF32 { d, a: self.r32(a)?, b: self.r32(b)?, flip },
                (Type::F32, _) => Op::LeF32 { d, a: self.r32(a)?, b: self.r32(b)?, flip },
                (_, 0) => Op::EqF64 { d, a: self.r64(a)?, b: self.r64(b)?, flip },
                (_, 1) => Op::LtF64 { d, a: self.r64(a)?, b: self.r64(b)?, flip },
                (_, _) => Op::LeF64 { d, a: self.r64(a)?, b: self.r64(b)?, flip },
            });
        }
        if ty.is_float() {
            return None;
        }
        let (swap, flip, equal) = match comparison {
            Eq => (false, NO, true),
            Ne => (false, YES, true),
            Lt | Lo => (false, NO, false),
            Gt | Hi => (true, NO, false),
            Ge | Hs => (false, YES, false),
            Le | Ls => (true, YES, false),
            _ => return None,
        };
        let signed = ty.is_signed() && !matches!(comparison, Lo | Hi | Hs | Ls);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        match ty.bits() {
            32 => {
                let (a, b) = (self.r32(a)?, self.r32(b)?);
                Some(match (equal, signed) {
                    (true, _) => Op::Eq32 { d, a, b, flip },
                    (_, true) => Op::LtS32 { d, a, b, flip },
                    (_, false) => Op::LtU32 { d, a, b, flip },
                })
            }
            64 => {
                let (a, b) = (self.r64(a)?, self.r64(b)?);
                Some(match (equal, signed) {
                    (true, _) => Op::Eq64 { d, a, b, flip },
                    (_, true) => Op::LtS64 { d, a, b, flip },
                    (_, false) => Op::LtU64 { d, a, b, flip },
                })
            }
            _ => None,
        }
    }

    fn convert(&mut self, c: &ir::Convert) -> Option<Op> {
        if c.flush || c.saturate || c.saturate_finite || c.relu {
            return None;
        }
        let nearest = matches!(c.rounding, None | Some(Rounding::NearestEven));
        let to_zero = c.rounding == Some(Rounding::Zero);
        let integer = |ty: Type| !ty.is_float();
        let (from, to) = (c.src_ty, c.dst_ty);
        Some(match (from.bits(), to.bits()) {
            (32, 32) if integer(from) && to == Type::F32 && nearest => {
                let (d, a) = (d32(c.dst)?, self.r32(c.src)?);
                if from.is_signed() { Op::IntToF32 { d, a } } else { Op::UintToF32 { d, a } }
            }
            (32, 32) if from == Type::F32 && integer(to) && to_zero => {
                let (d, a) = (d32(c.dst)?, self.r32(c.src)?);
                if to.is_signed() { Op::F32ToInt { d, a } } else { Op::F32ToUint { d, a } }
            }
            (32, 64) if integer(from) && integer(to) => {
                let (d, a) = (d64(c.dst)?, self.r32(c.src)?);
                if from.is_signed() { Op::ExtendS { d, a } } else { Op::ExtendU { d, a } }
            }
            (64, 32) if integer(from) && integer(to) => Op::Truncate { d: d32(c.dst)?, a: self.r64(c.src)? },
            (32, 64) if from == Type::F32 && to == Type::F64 => {
                Op::F32ToF64 { d: d64(c.dst)?, a: self.r32(c.src)? }
            }
            (64, 32) if from == Type::F64 && to == Type::F32 && nearest && !c.to_integer => {
                Op::F64ToF32 { d: d32(c.dst)?, a: self.r64(c.src)? }
            }
            _ => return None,
        })
    }

    fn load(&mut self, load: &ir::Load) -> Option<Op> {
        let bits = load.ty.bits();
        if load.space == Space::Param {
            let AddressBase::Symbol(Symbol::Param(ParamBlock::In, index)) = load.address.base else {
                return None;
            };
            let [Some(dst)] = load.dsts[..] else { return None };
            if self.function.kind != FunctionKind::Kernel {
                return None;
            }
            let param = self.function.params.get(index as usize)?;
            let offset = i64::from(param.offset) + load.address.offset;
            let inside = offset >= 0
                && offset + i64::from(load.ty.bytes()) <= i64::from(self.function.param_bytes)
                && offset % i64::from(load.ty.bytes()) == 0;
            return match bits {
                _ if !inside => None,
                32 => Some(Op::Param32 { d: d32(dst)?, offset: offset as u32 }),
                64 => Some(Op::Param64 { d: d64(dst)?, offset: offset as u32 }),
                _ => None,
            };
        }
        let (reg, offset) = behind_register(load.address)?;
        if let (Space::Global, Width::B64, 8, false, [Some(dst)]) =
            (load.space, reg.width, bits, load.ty.is_signed(), &load.dsts[..])
        {
            let d = (dst.class() == RegClass::Slot32).then_some(dst.index)?;
            return Some(Op::Load8 { d, a: reg.index, offset });
        }
        let dsts: Option<Vec<u32>> = load
            .dsts
            .iter()
            .map(|dst| dst.and_then(|reg| if bits == 64 { d64(reg) } else { d32(reg) }))
            .collect();
        let dsts = dsts?;
        match (load.space, reg.width, bits, dsts.as_slice()) {
            (Space::Global, Width::B64, 32, &[d]) => Some(Op::Load32 { d, a: reg.index, offset }),
            (Space::Global, Width::B64, 64, &[d]) => Some(Op::Load64 { d, a: reg.index, offset }),
            (Space::Global, Width::B64, 32, &[x, y]) => {
                Some(Op::Load32x2 { d: [x, y], a: reg.index, offset })
            }
            (Space::Global, Width::B64, 32, &[x, y, z, w]) => {
                Some(Op::Load32x4 { d: [x, y, z, w], a: reg.index, offset })
            }
            (Space::Shared, Width::B32, 32, &[d]) => Some(Op::LoadShared32 { d, a: reg.index, offset }),
            (Space::Shared, Width::B32, 32, &[x, y]) => {
                Some(Op::LoadShared32x2 { d: [x, y], a: reg.index, offset })
            }
            (Space::Shared, Width::B32, 32, &[x, y, z, w]) => {
                Some(Op::LoadShared32x4 { d: [x, y, z, w], a: reg.index, offset })
            }
            _ => None,
        }
    }

    fn atomic(&mut self, atomic: &ir::Atomic) -> Option<Op> {
        let (reg, offset) = behind_register(atomic.address)?;
        let adds = atomic.op == AtomicOp::Add && matches!(atomic.ty, Type::U32 | Type::S32);
        let d = match atomic.dsts[..] {
            [] | [None] => None,
            [Some(dst)] => Some(d32(dst)?),
            _ => return None,
        };
        match (atomic.space, reg.width, &atomic.a[..]) {
            (Space::Shared, Width::B32, &[s]) if adds => {
                Some(Op::AddShared32 { d, s: self.r32(s)?, a: reg.index, offset })
            }
            _ => None,
        }
    }

    fn store(&mut self, store: &ir::Store) -> Option<Op> {
        let (reg, offset) = behind_register(store.address)?;
        let bits = store.ty.bits();
        if !matches!(bits, 32 | 64) {
            return None;
        }
        let srcs: Option<Vec<u32>> =
            store.srcs.iter().map(|&src| if bits == 64 { self.r64(src) } else { self.r32(src) }).collect();
        let srcs = srcs?;
        match (store.space, reg.width, bits, srcs.as_slice()) {
            (Space::Global, Width::B64, 32, &[s]) => Some(Op::Store32 { s, a: reg.index, offset }),
            (Space::Global, Width::B64, 64, &[s]) => Some(Op::Store64 { s, a: reg.index, offset }),
            (Space::Global, Width::B64, 32, &[x, y]) => {
                Some(Op::Store32x2 { s: [x, y], a: reg.index, offset })
            }
            (Space::Global, Width::B64, 32, &[x, y, z, w]) => {
                Some(Op::Store32x4 { s: [x, y, z, w], a: reg.index, offset })
            }
            (Space::Shared, Width::B32, 32, &[s]) => Some(Op::StoreShared32 { s, a: reg.index, offset }),
            _ => None,
        }
    }
}

fn d32(reg: Reg) -> Option<u32> {
    (reg.width == Width::B32).then_some(reg.index)
}

fn d64(reg: Reg) -> Option<u32> {
    (reg.class() == RegClass::Slot64).then_some(reg.index)
}

fn behind_register(address: Address) -> Option<(Reg, i32)> {
    match address.base {
        AddressBase::Reg(reg) => Some((reg, i32::try_from(address.offset).ok()?)),
        _ => None,
    }
}

fn to_nearest(accuracy: Accuracy) -> bool {
    matches!(
        accuracy,
        Accuracy::Default | Accuracy::Rounded(Rounding::NearestEven) | Accuracy::Approx | Accuracy::Full
    )
}

fn special_of(special: SpecialReg) -> Option<Special> {
    let axis = |axis| match axis {
        Axis::X => 0,
        Axis::Y => 1,
        Axis::Z => 2,
    };
    Some(match special {
        SpecialReg::Tid(a) => Special::Tid(axis(a)),
        SpecialReg::NTid(a) => Special::NTid(axis(a)),
        SpecialReg::CtaId(a) => Special::CtaId(axis(a)),
        SpecialReg::NCtaId(a) => Special::NCtaId(axis(a)),
        SpecialReg::LaneId => Special::LaneId,
        _ => return None,
    })
}
