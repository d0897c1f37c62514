//! Integer arithmetic, and the opcodes that integers share with floats (`add`, `mul`, `mad`, `min` …),
//! which hand floats on to `float`.

use super::function::Body;
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;

/// The type of twice the width.
fn widened(ty: Type) -> Lowered<Type> {
    Ok(match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        _ => return Err(Stop::Unsupported),
    })
}

fn part(m: &mut Modifiers) -> Lowered<MulPart> {
    m.needed(&[("lo", MulPart::Lo), ("hi", MulPart::Hi), ("wide", MulPart::Wide)])
}

impl<'src> Body<'_, '_, 'src> {
    pub(super) fn add_or_sub(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let add = i.opcode.text == "add";
        if m.flag("cc") {
            return self.carry(i, m, add, false, true);
        }
        let ty = m.ty()?;
        if ty.is_float() {
            let op = if add { FloatOp::Add } else { FloatOp::Sub };
            return self.float_binary(i, m, op, ty);
        }
        self.integer(i, m, if add { IntegerOp::Add } else { IntegerOp::Sub }, ty)
    }

    pub(super) fn add_or_sub_with_carry(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
    ) -> Lowered<()> {
        let carry_out = m.flag("cc");
        self.carry(i, m, i.opcode.text == "addc", true, carry_out)
    }

    fn carry(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        add: bool,
        carry_in: bool,
        carry_out: bool,
    ) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, b] = self.operands(i)?;
        let (a, b) = (self.value(a, ty)?, self.value(b, ty)?);
        let dst = self.dst(dst, ty)?;
        let op = if add { CarryOp::Add } else { CarryOp::Sub };
        self.push(Op::Carry { op, ty, carry_in, carry_out, dst, a, b });
        Ok(())
    }

    fn integer(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        op: IntegerOp,
        ty: Type,
    ) -> Lowered<()> {
        let saturate = m.flag("sat");
        m.finish()?;
        let [dst, a, b] = self.operands(i)?;
        let (a, b) = (self.value(a, ty)?, self.value(b, ty)?);
        let result = match op {
            IntegerOp::MulWide => widened(ty)?,
            _ => ty,
        };
        let dst = self.dst(dst, result)?;
        self.push(Op::Integer { op, ty, saturate, dst, a, b });
        Ok(())
    }

    pub(super) fn mul(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        if ty.is_float() {
            return self.float_binary(i, m, FloatOp::Mul, ty);
        }
        let op = match part(m)? {
            MulPart::Lo => IntegerOp::MulLo,
            MulPart::Hi => IntegerOp::MulHi,
            _ => IntegerOp::MulWide,
        };
        self.integer(i, m, op, ty)
    }

    pub(super) fn mul24(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let op = m.needed(&[("lo", IntegerOp::Mul24Lo), ("hi", IntegerOp::Mul24Hi)])?;
        let ty = m.ty()?;
        self.integer(i, m, op, ty)
    }

    pub(super) fn mad(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let carry_in = i.opcode.text == "madc";
        let carry_out = m.flag("cc");
        let ty = m.ty()?;
        if ty.is_float() && !carry_in && !carry_out {
            return self.float_multiply_add(i, m, ty);
        }
        let part = part(m)?;
        if !carry_in && !carry_out {
            return self.multiply_add(i, m, part, ty);
        }
        m.finish()?;
        let [dst, a, b, c] = self.operands(i)?;
        let (a, b, c) = (self.value(a, ty)?, self.value(b, ty)?, self.value(c, ty)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::MultiplyAddCarry { part, ty, carry_in, carry_out, dst, a, b, c });
        Ok(())
    }

    pub(super) fn mad24(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let part = m.needed(&[("lo", MulPart::Lo24), ("hi", MulPart::Hi24)])?;
        let ty = m.ty()?;
        self.multiply_add(i, m, part, ty)
    }

    fn multiply_add(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        part: MulPart,
        ty: Type,
    ) -> Lowered<()> {
        let saturate = m.flag("sat");
        m.finish()?;
        let [dst, a, b, c] = self.operands(i)?;
        let result = match part {
            MulPart::Wide => widened(ty)?,
            _ => ty,
        };
        let (a, b, c) = (self.value(a, ty)?, self.value(b, ty)?, self.value(c, result)?);
        let dst = self.dst(dst, result)?;
        self.push(Op::MultiplyAdd { part, ty, saturate, dst, a, b, c });
        Ok(())
    }

    pub(super) fn div(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        match ty.is_float() {
            true => self.float_binary(i, m, FloatOp::Div, ty),
            false => self.integer(i, m, IntegerOp::Div, ty),
        }
    }

    pub(super) fn rem(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        self.integer(i, m, IntegerOp::Rem, ty)
    }

    pub(super) fn min_or_max(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let max = i.opcode.text == "max";
        let ty = m.ty()?;
        if ty.is_float() {
            return match i.operands.len() {
                4 => self.float_min_max3(i, m, max, ty),
                _ => self.float_binary(i, m, if max { FloatOp::Max } else { FloatOp::Min }, ty),
            };
        }
        let op = match (max, m.flag("relu")) {
            (false, false) => IntegerOp::Min,
            (true, false) => IntegerOp::Max,
            (false, true) => IntegerOp::MinRelu,
            (true, true) => IntegerOp::MaxRelu,
        };
        self.integer(i, m, op, ty)
    }

    pub(super) fn abs_or_neg(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let abs = i.opcode.text == "abs";
        let float = i.modifiers.types().any(|ty| Type::from_name(ty.name()).is_some_and(Type::is_float));
        match (float, abs) {
            (true, true) => self.float_unary(i, m, FloatUnaryOp::Abs),
            (true, false) => self.float_unary(i, m, FloatUnaryOp::Neg),
            (false, true) => self.integer_unary(i, m, IntegerUnaryOp::Abs),
            (false, false) => self.integer_unary(i, m, IntegerUnaryOp::Neg),
        }
    }

    pub(super) fn integer_unary(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        op: IntegerUnaryOp,
    ) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a] = self.operands(i)?;
        let a = self.value(a, ty)?;
        let result = match op {
            IntegerUnaryOp::Popc
            | IntegerUnaryOp::Clz
            | IntegerUnaryOp::Bfind
            | IntegerUnaryOp::BfindShift => Type::U32,
            _ => ty,
        };
        let dst = self.dst(dst, result)?;
        self.push(Op::IntegerUnary { op, ty, dst, a });
        Ok(())
    }

    pub(super) fn sad(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, b, c] = self.operands(i)?;
        let (a, b, c) = (self.value(a, ty)?, self.value(b, ty)?, self.value(c, ty)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::SumAbsoluteDifference { ty, dst, a, b, c });
        Ok(())
    }

    pub(super) fn dot_product(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let form = match i.opcode.text {
            "dp4a" => DotForm::Dp4a,
            _ => m.needed(&[("lo", DotForm::Dp2aLo), ("hi", DotForm::Dp2aHi)])?,
        };
        let types = m.types();
        m.finish()?;
        let &[a_ty, b_ty] = types.as_slice() else {
            return Err(Stop::Unsupported);
        };
        if [a_ty, b_ty].iter().any(|ty| !matches!(ty, Type::U32 | Type::S32)) {
            return Err(Stop::Unsupported);
        }
        let [dst, a, b, c] = self.operands(i)?;
        let (a, b, c) = (self.value(a, a_ty)?, self.value(b, b_ty)?, self.value(c, a_ty)?);
        let dst = self.dst(dst, Type::B32)?;
        let (a_signed, b_signed) = (a_ty.is_signed(), b_ty.is_signed());
        self.push(Op::DotProduct { form, a_signed, b_signed, dst, a, b, c });
        Ok(())
    }
}
