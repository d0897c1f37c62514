//! Conversions between types, and between address spaces.

use super::function::Body;
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;

impl<'src> Body<'_, '_, 'src> {
    pub(super) fn cvt(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        if m.flag("pack") {
            return self.cvt_pack(i, m);
        }
        let to_integer = m.integer_rounding();
        let rounding = to_integer.or_else(|| m.rounding());
        let flush = m.flag("ftz");
        let saturate = m.flag("sat");
        let saturate_finite = m.flag("satfinite");
        let relu = m.flag("relu");
        let types = m.types();
        m.finish()?;
        let &[dst_ty, src_ty] = types.as_slice() else {
            return Err(Stop::Unsupported);
        };
        if let [dst, a, b] = i.operands.as_slice() {
            let packed = matches!(dst_ty, Type::F16x2 | Type::BF16x2 | Type::E4M3x2 | Type::E5M2x2);
            let (Some(rounding), true, Type::F32) = (rounding, packed, src_ty) else {
                return Err(Stop::Unsupported);
            };
            let (a, b) = (self.value(a, src_ty)?, self.value(b, src_ty)?);
            let dst = self.dst(dst, dst_ty)?;
            self.push(Op::ConvertPair { dst_ty, rounding, flush, relu, saturate_finite, dst, a, b });
            return Ok(());
        }
        let [dst, src] = self.operands(i)?;
        let src = self.value(src, src_ty)?;
        let dst = self.dst(dst, dst_ty)?;
        self.push(Op::Convert(Box::new(Convert {
            dst_ty,
            src_ty,
            rounding,
            to_integer: to_integer.is_some(),
            flush,
            saturate,
            saturate_finite,
            relu,
            dst,
            src,
        })));
        Ok(())
    }

    fn cvt_pack(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        m.flag("sat");
        let types = m.types();
        m.finish()?;
        let (ty, with_c) = match types.as_slice() {
            [ty @ (Type::U16 | Type::S16), Type::S32] => (*ty, false),
            [ty @ (Type::U8 | Type::S8), Type::S32, Type::B32] => (*ty, true),
            _ => return Err(Stop::Unsupported),
        };
        let (dst, a, b, c) = match i.operands.as_slice() {
            [dst, a, b] if !with_c => (dst, a, b, None),
            [dst, a, b, c] if with_c => (dst, a, b, Some(c)),
            _ => return Err(self.wrong_count(i, if with_c { "4" } else { "3" })),
        };
        let (a, b) = (self.value(a, Type::S32)?, self.value(b, Type::S32)?);
        let c = c.map(|c| self.value(c, Type::B32)).transpose()?;
        let dst = self.dst(dst, Type::B32)?;
        self.push(Op::PackSaturate { ty, dst, a, b, c });
        Ok(())
    }

    pub(super) fn cvta(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let to_generic = !m.flag("to");
        let space = m.space();
        let ty = m.ty()?;
        m.finish()?;
        if space == Space::Generic {
            return Err(Stop::Unsupported);
        }
        let [dst, src] = self.operands(i)?;
        let src = self.value(src, ty)?;
        let dst = self.dst(dst, ty)?;
        self.push(Op::ConvertAddress { to_generic, space, dst, src });
        Ok(())
    }

    pub(super) fn isspacep(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let space = m.space();
        m.finish()?;
        if space == Space::Generic {
            return Err(Stop::Unsupported);
        }
        let [dst, a] = self.operands(i)?;
        let a = self.value(a, self.address_type())?;
        let dst = self.dst(dst, Type::Pred)?;
        self.push(Op::IsSpace { space, dst, a });
        Ok(())
    }

    /// The type of a generic address.
    fn address_type(&self) -> Type {
        match self.module.ast.address_size {
            32 => Type::B32,
            _ => Type::B64,
        }
    }

    /// In a cluster of one block, every address maps to itself.
    pub(super) fn mapa(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        m.space();
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, rank] = self.operands(i)?;
        let src = self.value(a, ty)?;
        self.value(rank, Type::U32)?;
        let dst = self.dst(dst, ty)?;
        self.push(Op::Mov { dst, src });
        Ok(())
    }

    /// In a cluster of one block, the rank is 0.
    pub(super) fn getctarank(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        m.space();
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a] = self.operands(i)?;
        self.value(a, ty)?;
        let dst = self.dst(dst, Type::U32)?;
        self.push(Op::Mov { dst, src: Operand::Imm(0) });
        Ok(())
    }
}
