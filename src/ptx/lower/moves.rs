//! `mov` in all its forms.

use super::function::Body;
use super::modifiers::Modifiers;
use super::operand::Value;
use super::{Lowered, Stop};
use crate::ptx::ast::{self, OperandKind};
use crate::ptx::ir::*;

impl<'src> Body<'_, '_, 'src> {
    pub(super) fn mov(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let vector = m.vector();
        let ty = m.ty()?;
        m.finish()?;
        let [dst, src] = self.operands(i)?;
        if vector > 1 {
            return self.mov_vector(dst, src, ty, vector);
        }
        match (&dst.kind, &src.kind) {
            (OperandKind::Vector(_), OperandKind::Vector(_)) => Err(Stop::Unsupported),
            (OperandKind::Vector(parts), _) => {
                part(ty, parts.len())?;
                let dsts = self.dst_vector(dst)?;
                let src = match self.value(src, ty)? {
                    Operand::Reg(reg) => reg,
                    constant => {
                        let Some(width) = ty.width() else {
                            return Err(Stop::Unsupported);
                        };
                        let dst = self.temporary(width);
                        self.push(Op::Mov { dst, src: constant });
                        dst
                    }
                };
                self.exact(src, ty, i.span)?;
                self.push(Op::Unpack { dsts, src });
                Ok(())
            }
            (_, OperandKind::Vector(parts)) => {
                let part = part(ty, parts.len())?;
                let parts = self.value_vector(src, part)?;
                let dst = self.dst(dst, ty)?;
                self.exact(dst, ty, i.span)?;
                self.push(Op::Pack { dst, parts });
                Ok(())
            }
            _ => {
                let value = self.read(src, ty)?;
                let dst = self.dst(dst, ty)?;
                match value {
                    Value::Operand(_) => self.exact(dst, ty, i.span)?,
                    _ if dst.width == Width::Predicate => {
                        return self.error(i.span, "a predicate holds no such value");
                    }
                    _ => {}
                }
                match value {
                    Value::Operand(src) => self.push(Op::Mov { dst, src }),
                    Value::Special(special) => self.push(Op::ReadSpecial { dst, special }),
                    Value::Address(symbol, offset) => self.address_of(dst, symbol, offset)?,
                    Value::Vector => {
                        return self.error(src.span, "a vector stands where one value belongs");
                    }
                }
                Ok(())
            }
        }
    }

    /// `mov.v2.f32 a, b` between vector registers.
    fn mov_vector(
        &mut self,
        dst: &ast::Operand<'src>,
        src: &ast::Operand<'src>,
        ty: Type,
        count: usize,
    ) -> Lowered<()> {
        let dsts = self.dst_vector(dst)?;
        let srcs = self.value_vector(src, ty)?;
        if dsts.len() != count || srcs.len() != count {
            return self.error(dst.span.to(src.span), format!("both operands need {count} elements"));
        }
        // through fresh registers, as source and destination may overlap crosswise
        let Some(width) = ty.width() else {
            return Err(Stop::Unsupported);
        };
        let copies: Vec<(Reg, Reg)> = dsts
            .iter()
            .zip(srcs)
            .filter_map(|(dst, src)| {
                let copy = self.temporary(width);
                self.push(Op::Mov { dst: copy, src });
                dst.map(|dst| (dst, copy))
            })
            .collect();
        for (dst, copy) in copies {
            self.push(Op::Mov { dst, src: Operand::Reg(copy) });
        }
        Ok(())
    }
}

/// The type of one part when a value of type `ty` is cut into `count`.
fn part(ty: Type, count: usize) -> Lowered<Type> {
    match (ty.bits() as usize).checked_div(count) {
        Some(8) if count > 1 => Ok(Type::B8),
        Some(16) if count > 1 => Ok(Type::B16),
        Some(32) if count > 1 => Ok(Type::B32),
        Some(64) if count > 1 => Ok(Type::B64),
        _ => Err(Stop::Unsupported),
    }
}
