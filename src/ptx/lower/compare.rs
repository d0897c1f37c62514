//! Comparison and selection.

use super::function::Body;
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;

/// A boolean operator and the predicate it combines the comparison with.
type Combined = Option<(BoolOp, PredicateOperand)>;

fn comparison(m: &mut Modifiers) -> Lowered<Comparison> {
    m.needed(&[
        ("eq", Comparison::Eq),
        ("ne", Comparison::Ne),
        ("lt", Comparison::Lt),
        ("le", Comparison::Le),
        ("gt", Comparison::Gt),
        ("ge", Comparison::Ge),
        ("lo", Comparison::Lo),
        ("ls", Comparison::Ls),
        ("hi", Comparison::Hi),
        ("hs", Comparison::Hs),
        ("equ", Comparison::EqU),
        ("neu", Comparison::NeU),
        ("ltu", Comparison::LtU),
        ("leu", Comparison::LeU),
        ("gtu", Comparison::GtU),
        ("geu", Comparison::GeU),
        ("num", Comparison::Num),
        ("nan", Comparison::Nan),
    ])
}

fn bool_op(m: &mut Modifiers) -> Option<BoolOp> {
    m.one_of(&[("and", BoolOp::And), ("or", BoolOp::Or), ("xor", BoolOp::Xor)])
}

impl<'src> Body<'_, '_, 'src> {
    /// `a`, `b` and, with a boolean operator, `c`.
    fn compared(
        &mut self,
        i: &ast::Instruction<'src>,
        op: Option<BoolOp>,
        ty: Type,
    ) -> Lowered<(Operand, Operand, Combined)> {
        match (op, i.operands.as_slice()) {
            (None, [_, a, b]) => Ok((self.value(a, ty)?, self.value(b, ty)?, None)),
            (Some(op), [_, a, b, c]) => {
                let (a, b) = (self.value(a, ty)?, self.value(b, ty)?);
                Ok((a, b, Some((op, self.predicate(c)?))))
            }
            (op, _) => Err(self.wrong_count(i, if op.is_some() { "4" } else { "3" })),
        }
    }

    pub(super) fn setp(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let comparison = comparison(m)?;
        let op = bool_op(m);
        let flush = m.flag("ftz");
        let ty = m.ty()?;
        m.finish()?;
        let (a, b, combine) = self.compared(i, op, ty)?;
        let (dst, other) = self.dst_pair(&i.operands[0])?;
        self.push(Op::SetPredicate { comparison, ty, flush, combine, dst, other, a, b });
        Ok(())
    }

    pub(super) fn set(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let comparison = comparison(m)?;
        let op = bool_op(m);
        let flush = m.flag("ftz");
        let types = m.types();
        m.finish()?;
        let &[dst_ty, ty] = types.as_slice() else {
            return Err(Stop::Unsupported);
        };
        let (a, b, combine) = self.compared(i, op, ty)?;
        let dst = self.dst(&i.operands[0], dst_ty)?;
        self.push(Op::Set { comparison, dst_ty, ty, flush, combine, dst, a, b });
        Ok(())
    }

    pub(super) fn selp(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, b, predicate] = self.operands(i)?;
        let (a, b) = (self.value(a, ty)?, self.value(b, ty)?);
        let predicate = self.predicate(predicate)?;
        let dst = self.dst(dst, ty)?;
        self.exact(dst, ty, i.span)?;
        self.push(Op::Select { dst, a, b, predicate });
        Ok(())
    }

    pub(super) fn slct(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let flush = m.flag("ftz");
        let types = m.types();
        m.finish()?;
        let &[ty, selector_ty] = types.as_slice() else {
            return Err(Stop::Unsupported);
        };
        let [dst, a, b, c] = self.operands(i)?;
        let (a, b, c) = (self.value(a, ty)?, self.value(b, ty)?, self.value(c, selector_ty)?);
        let dst = self.dst(dst, ty)?;
        self.exact(dst, ty, i.span)?;
        self.push(Op::SelectBySign { dst, a, b, selector_ty, flush, c });
        Ok(())
    }
}
