//! Floating-point arithmetic.

use super::function::Body;
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;

impl<'src> Body<'_, '_, 'src> {
    /// The 16-bit input type of `add.f32.f16` and the like.
    fn narrow(m: &mut Modifiers, ty: Type) -> Lowered<Option<NarrowFloat>> {
        match m.ty() {
            Err(_) => Ok(None),
            Ok(Type::F16) if ty == Type::F32 => Ok(Some(NarrowFloat::F16)),
            Ok(Type::BF16) if ty == Type::F32 => Ok(Some(NarrowFloat::BF16)),
            Ok(_) => Err(Stop::Unsupported),
        }
    }

    fn input(narrow: Option<NarrowFloat>, ty: Type) -> Type {
        match narrow {
            None => ty,
            Some(NarrowFloat::F16) => Type::F16,
            Some(NarrowFloat::BF16) => Type::BF16,
        }
    }

    pub(super) fn float_binary(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        op: FloatOp,
        ty: Type,
    ) -> Lowered<()> {
        let accuracy = m.accuracy();
        let mut modifiers = m.float();
        modifiers.narrow = Self::narrow(m, ty)?;
        let narrow_allowed = matches!(op, FloatOp::Add | FloatOp::Sub);
        if modifiers.narrow.is_some() && !narrow_allowed || modifiers.abs {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        let [dst, a, b] = self.operands(i)?;
        let a = self.value(a, Self::input(modifiers.narrow, ty))?;
        let b = self.value(b, ty)?;
        let dst = self.dst(dst, ty)?;
        self.push(Op::Float { op, ty, accuracy, modifiers, dst, a, b });
        Ok(())
    }

    pub(super) fn fma(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        self.float_multiply_add(i, m, ty)
    }

    pub(super) fn float_multiply_add(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        ty: Type,
    ) -> Lowered<()> {
        let rounding = m.rounding().unwrap_or(Rounding::NearestEven);
        let mut modifiers = m.float();
        modifiers.narrow = Self::narrow(m, ty)?;
        m.finish()?;
        let [dst, a, b, c] = self.operands(i)?;
        let input = Self::input(modifiers.narrow, ty);
        let (a, b, c) = (self.value(a, input)?, self.value(b, input)?, self.value(c, ty)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::FloatMultiplyAdd { ty, rounding, modifiers, dst, a, b, c });
        Ok(())
    }

    pub(super) fn float_min_max3(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        max: bool,
        ty: Type,
    ) -> Lowered<()> {
        let modifiers = m.float();
        m.finish()?;
        if ty != Type::F32 {
            return Err(Stop::Unsupported);
        }
        let [dst, a, b, c] = self.operands(i)?;
        let (a, b, c) = (self.value(a, ty)?, self.value(b, ty)?, self.value(c, ty)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::FloatMinMax3 { max, modifiers, dst, a, b, c });
        Ok(())
    }

    pub(super) fn float_unary(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        op: FloatUnaryOp,
    ) -> Lowered<()> {
        let accuracy = m.accuracy();
        let modifiers = m.float();
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a] = self.operands(i)?;
        let a = self.value(a, ty)?;
        let dst = self.dst(dst, ty)?;
        self.push(Op::FloatUnary { op, ty, accuracy, modifiers, dst, a });
        Ok(())
    }

    pub(super) fn copysign(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        self.float_binary(i, m, FloatOp::CopySign, ty)
    }

    pub(super) fn testp(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let property = m.needed(&[
            ("finite", FloatProperty::Finite),
            ("infinite", FloatProperty::Infinite),
            ("number", FloatProperty::Number),
            ("notanumber", FloatProperty::NotANumber),
            ("normal", FloatProperty::Normal),
            ("subnormal", FloatProperty::Subnormal),
        ])?;
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a] = self.operands(i)?;
        let a = self.value(a, ty)?;
        let dst = self.dst(dst, Type::Pred)?;
        self.push(Op::TestProperty { property, ty, dst, a });
        Ok(())
    }
}
