//! Moves, arithmetic, comparison, conversion.

use std::fmt;

use super::{Line, special_name};
use crate::ptx::ir::*;

impl Line<'_, '_> {
    pub(super) fn moves(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Mov { dst, src } => {
                self.opcode("mov")?;
                self.operands(&[dst, src])
            }
            Op::ReadSpecial { dst, special } => {
                self.opcode("mov")?;
                self.operands(&[dst, &special_name(*special)])
            }
            Op::AddressOf { dst, symbol, offset } => {
                self.opcode("address")?;
                self.operand(dst)?;
                match offset {
                    0 => self.operand(symbol),
                    offset => self.operand(format!("{symbol}{offset:+}")),
                }
            }
            Op::Pack { dst, parts } => {
                self.opcode("pack")?;
                self.operand(dst)?;
                self.srcs(parts)
            }
            Op::Unpack { dsts, src } => {
                self.opcode("unpack")?;
                self.dsts(dsts)?;
                self.operand(src)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn integer(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Integer { op, ty, saturate, dst, a, b } => {
                self.opcode(match op {
                    IntegerOp::Add => "add",
                    IntegerOp::Sub => "sub",
                    IntegerOp::MulLo => "mul.lo",
                    IntegerOp::MulHi => "mul.hi",
                    IntegerOp::MulWide => "mul.wide",
                    IntegerOp::Mul24Lo => "mul24.lo",
                    IntegerOp::Mul24Hi => "mul24.hi",
                    IntegerOp::Div => "div",
                    IntegerOp::Rem => "rem",
                    IntegerOp::Min => "min",
                    IntegerOp::Max => "max",
                    IntegerOp::MinRelu => "min.relu",
                    IntegerOp::MaxRelu => "max.relu",
                })?;
                self.flag(*saturate, "sat")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])
            }
            Op::MultiplyAdd { part, ty, saturate, dst, a, b, c } => {
                self.opcode("mad")?;
                self.word(part)?;
                self.flag(*saturate, "sat")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b, c])
            }
            Op::Carry { op, ty, carry_in, carry_out, dst, a, b } => {
                self.opcode(if *op == CarryOp::Add { "add" } else { "sub" })?;
                self.opcode(if *carry_in { "c" } else { "" })?;
                self.flag(*carry_out, "cc")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])
            }
            Op::MultiplyAddCarry { part, ty, carry_in, carry_out, dst, a, b, c } => {
                self.opcode(if *carry_in { "madc" } else { "mad" })?;
                self.word(part)?;
                self.flag(*carry_out, "cc")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b, c])
            }
            Op::SumAbsoluteDifference { ty, dst, a, b, c } => {
                self.opcode("sad")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b, c])
            }
            Op::DotProduct { form, a_signed, b_signed, dst, a, b, c } => {
                self.opcode(match form {
                    DotForm::Dp4a => "dp4a",
                    DotForm::Dp2aLo => "dp2a.lo",
                    DotForm::Dp2aHi => "dp2a.hi",
                })?;
                self.ty(if *a_signed { Type::S32 } else { Type::U32 })?;
                self.ty(if *b_signed { Type::S32 } else { Type::U32 })?;
                self.operands(&[dst, a, b, c])
            }
            Op::IntegerUnary { op, ty, dst, a } => {
                self.opcode(match op {
                    IntegerUnaryOp::Neg => "neg",
                    IntegerUnaryOp::Abs => "abs",
                    IntegerUnaryOp::Not => "not",
                    IntegerUnaryOp::CNot => "cnot",
                    IntegerUnaryOp::Popc => "popc",
                    IntegerUnaryOp::Clz => "clz",
                    IntegerUnaryOp::Brev => "brev",
                    IntegerUnaryOp::Bfind => "bfind",
                    IntegerUnaryOp::BfindShift => "bfind.shiftamt",
                })?;
                self.ty(*ty)?;
                self.operands(&[dst, a])
            }
            _ => Ok(()),
        }
    }

    pub(super) fn bits(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Logic { op, ty, dst, a, b } => {
                self.opcode(&format!("{op:?}").to_lowercase())?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])
            }
            Op::Lop3 { lut, dst, a, b, c, predicate } => {
                self.opcode("lop3")?;
                self.combine(predicate.map(|p| (p.op, p.q)))?;
                self.pair(*dst, predicate.map(|p| p.dst))?;
                self.operands(&[a, b, c, &format!("{lut:#04x}")])?;
                self.maybe(predicate.map(|p| p.q))
            }
            Op::Shift { left, ty, dst, a, b } => {
                self.opcode(if *left { "shl" } else { "shr" })?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])
            }
            Op::FunnelShift { left, range, dst, a, b, c } => {
                self.opcode(if *left { "shf.l" } else { "shf.r" })?;
                self.word(range)?;
                self.operands(&[dst, a, b, c])
            }
            Op::BitFieldExtract { ty, dst, a, position, length } => {
                self.opcode("bfe")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, position, length])
            }
            Op::BitFieldInsert { ty, dst, a, b, position, length } => {
                self.opcode("bfi")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b, position, length])
            }
            Op::BitMask { range, dst, position, length } => {
                self.opcode("bmsk")?;
                self.word(range)?;
                self.operands(&[dst, position, length])
            }
            Op::Extend { range, ty, dst, a, length } => {
                self.opcode("szext")?;
                self.word(range)?;
                self.ty(*ty)?;
                self.operands(&[dst, a, length])
            }
            Op::FindNthSet { dst, mask, base, offset } => {
                self.opcode("fns")?;
                self.operands(&[dst, mask, base, offset])
            }
            Op::Permute { mode, dst, a, b, selector } => {
                self.opcode("prmt")?;
                if *mode != PermuteMode::Default {
                    self.word(mode)?;
                }
                self.operands(&[dst, a, b, selector])
            }
            _ => Ok(()),
        }
    }

    pub(super) fn float(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Float { op, ty, accuracy, modifiers, dst, a, b } => {
                self.opcode(&format!("{op:?}").to_lowercase())?;
                self.accuracy(*accuracy)?;
                self.modifiers(*modifiers)?;
                self.ty(*ty)?;
                self.narrow(*modifiers)?;
                self.operands(&[dst, a, b])
            }
            Op::FloatMultiplyAdd { ty, rounding, modifiers, dst, a, b, c } => {
                self.opcode("fma")?;
                self.rounding(*rounding)?;
                self.modifiers(*modifiers)?;
                self.ty(*ty)?;
                self.narrow(*modifiers)?;
                self.operands(&[dst, a, b, c])
            }
            Op::FloatUnary { op, ty, accuracy, modifiers, dst, a } => {
                self.opcode(&format!("{op:?}").to_lowercase())?;
                self.accuracy(*accuracy)?;
                self.modifiers(*modifiers)?;
                self.ty(*ty)?;
                self.operands(&[dst, a])
            }
            Op::FloatMinMax3 { max, modifiers, dst, a, b, c } => {
                self.opcode(if *max { "max" } else { "min" })?;
                self.modifiers(*modifiers)?;
                self.ty(Type::F32)?;
                self.operands(&[dst, a, b, c])
            }
            Op::TestProperty { property, ty, dst, a } => {
                self.opcode("testp")?;
                self.word(property)?;
                self.ty(*ty)?;
                self.operands(&[dst, a])
            }
            _ => Ok(()),
        }
    }

    pub(super) fn compare(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::SetPredicate { comparison, ty, flush, combine, dst, other, a, b } => {
                self.opcode("setp")?;
                self.word(comparison)?;
                self.combine(*combine)?;
                self.flag(*flush, "ftz")?;
                self.ty(*ty)?;
                self.pair(*dst, *other)?;
                self.operands(&[a, b])?;
                self.maybe(combine.map(|(_, p)| p))
            }
            Op::Set { comparison, dst_ty, ty, flush, combine, dst, a, b } => {
                self.opcode("set")?;
                self.word(comparison)?;
                self.combine(*combine)?;
                self.flag(*flush, "ftz")?;
                self.ty(*dst_ty)?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])?;
                self.maybe(combine.map(|(_, p)| p))
            }
            Op::Select { dst, a, b, predicate } => {
                self.opcode("selp")?;
                self.operands(&[dst, a, b, predicate])
            }
            Op::SelectBySign { dst, a, b, selector_ty, flush, c } => {
                self.opcode("slct")?;
                self.flag(*flush, "ftz")?;
                self.ty(*selector_ty)?;
                self.operands(&[dst, a, b, c])
            }
            _ => Ok(()),
        }
    }

    pub(super) fn convert(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Convert(c) => {
                self.opcode("cvt")?;
                if let Some(rounding) = c.rounding {
                    self.rounding(rounding)?;
                    self.opcode(if c.to_integer { "i" } else { "" })?;
                }
                self.flag(c.flush, "ftz")?;
                self.flag(c.relu, "relu")?;
                self.flag(c.saturate, "sat")?;
                self.flag(c.saturate_finite, "satfinite")?;
                self.ty(c.dst_ty)?;
                self.ty(c.src_ty)?;
                self.operands(&[&c.dst, &c.src])
            }
            Op::ConvertPair { dst_ty, rounding, flush, relu, saturate_finite, dst, a, b } => {
                self.opcode("cvt")?;
                self.rounding(*rounding)?;
                self.flag(*flush, "ftz")?;
                self.flag(*relu, "relu")?;
                self.flag(*saturate_finite, "satfinite")?;
                self.ty(*dst_ty)?;
                self.ty(Type::F32)?;
                self.operands(&[dst, a, b])
            }
            Op::PackSaturate { ty, dst, a, b, c } => {
                self.opcode("cvt.pack.sat")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])?;
                self.maybe(*c)
            }
            Op::ConvertAddress { to_generic, space, dst, src } => {
                self.opcode(if *to_generic { "cvta" } else { "cvta.to" })?;
                self.space(*space)?;
                self.operands(&[dst, src])
            }
            Op::IsSpace { space, dst, a } => {
                self.opcode("isspacep")?;
                self.space(*space)?;
                self.operands(&[dst, a])
            }
            _ => Ok(()),
        }
    }
}
