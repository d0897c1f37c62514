//! Logic, shifts and bit fields.

use super::function::Body;
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;

fn range(m: &mut Modifiers) -> Lowered<Range> {
    m.needed(&[("clamp", Range::Clamp), ("wrap", Range::Wrap)])
}

impl<'src> Body<'_, '_, 'src> {
    pub(super) fn logic(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers, op: BoolOp) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, b] = self.operands(i)?;
        let (a, b) = (self.value(a, ty)?, self.value(b, ty)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::Logic { op, ty, dst, a, b });
        Ok(())
    }

    pub(super) fn bfind(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let op = match m.flag("shiftamt") {
            true => IntegerUnaryOp::BfindShift,
            false => IntegerUnaryOp::Bfind,
        };
        self.integer_unary(i, m, op)
    }

    pub(super) fn shift(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, b] = self.operands(i)?;
        let (a, b) = (self.value(a, ty)?, self.value(b, Type::U32)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::Shift { left: i.opcode.text == "shl", ty, dst, a, b });
        Ok(())
    }

    pub(super) fn funnel_shift(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let left = m.needed(&[("l", true), ("r", false)])?;
        let range = range(m)?;
        let (dst, [a, b, c]) = self.words(i, m)?;
        self.push(Op::FunnelShift { left, range, dst, a, b, c });
        Ok(())
    }

    /// Four operands of 32 bits: a register to write and three values.
    fn words(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<(Reg, [Operand; 3])> {
        if m.ty()? != Type::B32 {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        let [dst, a, b, c] = self.operands(i)?;
        let values = [self.value(a, Type::B32)?, self.value(b, Type::B32)?, self.value(c, Type::B32)?];
        let dst = self.dst(dst, Type::B32)?;
        Ok((dst, values))
    }

    pub(super) fn lop3(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let op = m.one_of(&[("and", BoolOp::And), ("or", BoolOp::Or)]);
        if m.ty()? != Type::B32 {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        let ty = Type::B32;
        let (dst, a, b, c, lut, q) = match (op, i.operands.as_slice()) {
            (None, [dst, a, b, c, lut]) => (dst, a, b, c, lut, None),
            (Some(op), [dst, a, b, c, lut, q]) => (dst, a, b, c, lut, Some((op, q))),
            (op, _) => return Err(self.wrong_count(i, if op.is_some() { "6" } else { "5" })),
        };
        let (a, b, c) = (self.value(a, ty)?, self.value(b, ty)?, self.value(c, ty)?);
        let Operand::Imm(table) = self.value(lut, ty)? else {
            return self.error(lut.span, "the table of `lop3` is a constant");
        };
        let Ok(table) = u8::try_from(table) else {
            return self.error(lut.span, format!("the table of `lop3` is at most 0xff, not {table:#x}"));
        };
        let Some((op, q)) = q else {
            let dst = Some(self.dst(dst, ty)?);
            self.push(Op::Lop3 { lut: table, dst, a, b, c, predicate: None });
            return Ok(());
        };
        let q = self.predicate(q)?;
        let (result, p) = self.dst_pair(dst)?;
        let Some(p) = p else {
            return self.error(dst.span, "`lop3` with a boolean operator writes `d|p`");
        };
        let predicate = Some(Lop3Predicate { op, dst: p, q });
        self.push(Op::Lop3 { lut: table, dst: result, a, b, c, predicate });
        Ok(())
    }

    pub(super) fn bit_field_extract(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, position, length] = self.operands(i)?;
        let a = self.value(a, ty)?;
        let (position, length) = (self.value(position, Type::U32)?, self.value(length, Type::U32)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::BitFieldExtract { ty, dst, a, position, length });
        Ok(())
    }

    pub(super) fn bit_field_insert(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, b, position, length] = self.operands(i)?;
        let (a, b) = (self.value(a, ty)?, self.value(b, ty)?);
        let (position, length) = (self.value(position, Type::U32)?, self.value(length, Type::U32)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::BitFieldInsert { ty, dst, a, b, position, length });
        Ok(())
    }

    pub(super) fn bit_mask(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let range = range(m)?;
        if m.ty()? != Type::B32 {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        let [dst, position, length] = self.operands(i)?;
        let (position, length) = (self.value(position, Type::U32)?, self.value(length, Type::U32)?);
        let dst = self.dst(dst, Type::B32)?;
        self.push(Op::BitMask { range, dst, position, length });
        Ok(())
    }

    pub(super) fn extend(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let range = range(m)?;
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, length] = self.operands(i)?;
        let (a, length) = (self.value(a, ty)?, self.value(length, Type::U32)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::Extend { range, ty, dst, a, length });
        Ok(())
    }

    pub(super) fn find_nth_set(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let (dst, [mask, base, offset]) = self.words(i, m)?;
        self.push(Op::FindNthSet { dst, mask, base, offset });
        Ok(())
    }

    pub(super) fn permute(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let mode = m.one_of(&[
            ("f4e", PermuteMode::Forward4),
            ("b4e", PermuteMode::Backward4),
            ("rc8", PermuteMode::Replicate8),
            ("ecl", PermuteMode::EdgeClampLeft),
            ("ecr", PermuteMode::EdgeClampRight),
            ("rc16", PermuteMode::Replicate16),
        ]);
        let mode = mode.unwrap_or(PermuteMode::Default);
        let (dst, [a, b, selector]) = self.words(i, m)?;
        self.push(Op::Permute { mode, dst, a, b, selector });
        Ok(())
    }
}
