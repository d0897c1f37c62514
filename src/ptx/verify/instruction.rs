//! Each operation: its type is one of those it has, its operands have the widths that follow.

use super::{Checker, Verified, types};
use crate::ptx::ir::*;

impl Checker<'_> {
    pub(super) fn wrong_type(&self, ty: Type) -> Verified {
        self.error(format!("this instruction has no type .{}", ty.name()))
    }

    pub(super) fn legal(&self, legal: bool, ty: Type) -> Verified {
        match legal {
            true => Ok(()),
            false => self.wrong_type(ty),
        }
    }

    /// `dst` and all of `values` have `ty`.
    pub(super) fn uniform(&self, ty: Type, dst: Reg, values: &[Operand]) -> Verified {
        self.values(values, ty)?;
        self.typed(dst, ty)
    }

    pub(super) fn instruction(&self) -> Verified {
        let Some(inst) = self.inst else {
            return Ok(());
        };
        if let Some(guard) = inst.guard {
            self.reg(guard.predicate, Width::Predicate)?;
        }
        match &inst.op {
            Op::Mov { dst, src } => {
                self.exists(*dst)?;
                self.value(*src, dst.width)
            }
            Op::ReadSpecial { dst, .. } | Op::AddressOf { dst, .. } => {
                if let Op::AddressOf { symbol, .. } = &inst.op {
                    self.symbol(*symbol)?;
                    if let Symbol::Param(ParamBlock::Out | ParamBlock::Call, _) = symbol {
                        return self.error("the address of this parameter cannot be taken");
                    }
                }
                self.wide_enough(*dst, Type::B16)
            }
            Op::Pack { dst, parts } => {
                self.exists(*dst)?;
                let width = self.part(dst.width, parts.len())?;
                parts.iter().try_for_each(|part| self.value(*part, width))
            }
            Op::Unpack { dsts, src } => {
                self.exists(*src)?;
                let width = self.part(src.width, dsts.len())?;
                dsts.iter().try_for_each(|dst| self.maybe_reg(*dst, width))
            }
            op => self.arithmetic(op),
        }
    }

    /// The width of one of `count` parts.
    fn part(&self, whole: Width, count: usize) -> Result<Width, crate::ptx::source::SyntaxError> {
        let bits = match count {
            2 | 4 | 8 | 16 => whole.bits() / count as u32,
            _ => 0,
        };
        match bits {
            8 => Ok(Width::B8),
            16 => Ok(Width::B16),
            32 => Ok(Width::B32),
            64 => Ok(Width::B64),
            _ => self.error(format!("{} bits cannot be cut into {count} parts", whole.bits())),
        }
    }

    fn arithmetic(&self, op: &Op) -> Verified {
        match op {
            Op::Integer { op, ty, saturate, dst, a, b } => {
                self.legal(types::integer(*op, *ty, *saturate), *ty)?;
                self.values(&[*a, *b], *ty)?;
                let wide = *op == IntegerOp::MulWide;
                self.reg(*dst, self.result(*ty, wide))
            }
            Op::MultiplyAdd { part, ty, saturate, dst, a, b, c } => {
                self.legal(types::multiply_add(*part, *ty, *saturate), *ty)?;
                self.values(&[*a, *b], *ty)?;
                let width = self.result(*ty, *part == MulPart::Wide);
                self.value(*c, width)?;
                self.reg(*dst, width)
            }
            Op::Carry { ty, dst, a, b, .. } => {
                self.legal(types::carry(*ty), *ty)?;
                self.uniform(*ty, *dst, &[*a, *b])
            }
            Op::MultiplyAddCarry { part, ty, dst, a, b, c, .. } => {
                let parts = matches!(part, MulPart::Lo | MulPart::Hi);
                self.legal(types::carry(*ty) && parts, *ty)?;
                self.uniform(*ty, *dst, &[*a, *b, *c])
            }
            Op::SumAbsoluteDifference { ty, dst, a, b, c } => {
                self.legal(types::plain_integer(*ty), *ty)?;
                self.uniform(*ty, *dst, &[*a, *b, *c])
            }
            Op::DotProduct { dst, a, b, c, .. } => self.uniform(Type::B32, *dst, &[*a, *b, *c]),
            Op::IntegerUnary { op, ty, dst, a } => {
                self.legal(types::integer_unary(*op, *ty), *ty)?;
                self.typed_value(*a, *ty)?;
                match op {
                    IntegerUnaryOp::Popc
                    | IntegerUnaryOp::Clz
                    | IntegerUnaryOp::Bfind
                    | IntegerUnaryOp::BfindShift => self.reg(*dst, Width::B32),
                    _ => self.typed(*dst, *ty),
                }
            }
            op => self.bits(op),
        }
    }

    /// The width of `ty`, or twice of it.
    fn result(&self, ty: Type, wide: bool) -> Width {
        match (ty.bits(), wide) {
            (16, false) => Width::B16,
            (16, true) | (32, false) => Width::B32,
            _ => Width::B64,
        }
    }

    fn bits(&self, op: &Op) -> Verified {
        match op {
            Op::Logic { ty, dst, a, b, .. } => {
                self.legal(types::logic(*ty), *ty)?;
                self.uniform(*ty, *dst, &[*a, *b])
            }
            Op::Lop3 { dst, a, b, c, predicate, .. } => {
                self.values(&[*a, *b, *c], Type::B32)?;
                if let Some(predicate) = predicate {
                    self.predicate(predicate.q)?;
                    self.reg(predicate.dst, Width::Predicate)?;
                }
                self.maybe_reg(*dst, Width::B32)
            }
            Op::Shift { ty, dst, a, b, .. } => {
                self.legal(types::shift(*ty), *ty)?;
                self.word(*b)?;
                self.uniform(*ty, *dst, &[*a])
            }
            Op::FunnelShift { dst, a, b, c, .. }
            | Op::FindNthSet { dst, mask: a, base: b, offset: c }
            | Op::Permute { dst, a, b, selector: c, .. } => self.uniform(Type::B32, *dst, &[*a, *b, *c]),
            Op::BitFieldExtract { ty, dst, a, position, length } => {
                self.legal(types::carry(*ty), *ty)?;
                self.values(&[*position, *length], Type::B32)?;
                self.uniform(*ty, *dst, &[*a])
            }
            Op::BitFieldInsert { ty, dst, a, b, position, length } => {
                self.legal(matches!(ty, Type::B32 | Type::B64), *ty)?;
                self.values(&[*position, *length], Type::B32)?;
                self.uniform(*ty, *dst, &[*a, *b])
            }
            Op::BitMask { dst, position, length, .. } => self.uniform(Type::B32, *dst, &[*position, *length]),
            Op::Extend { ty, dst, a, length, .. } => {
                self.legal(matches!(ty, Type::U32 | Type::S32), *ty)?;
                self.uniform(*ty, *dst, &[*a, *length])
            }
            op => self.float(op),
        }
    }

    fn float(&self, op: &Op) -> Verified {
        match op {
            Op::Float { op, ty, modifiers, dst, a, b, .. } => {
                self.legal(types::float(*op, *ty), *ty)?;
                self.typed_value(*a, self.input(*ty, *modifiers)?)?;
                self.uniform(*ty, *dst, &[*b])
            }
            Op::FloatMultiplyAdd { ty, modifiers, dst, a, b, c, .. } => {
                self.legal(types::fma(*ty), *ty)?;
                self.values(&[*a, *b], self.input(*ty, *modifiers)?)?;
                self.uniform(*ty, *dst, &[*c])
            }
            Op::FloatUnary { op, ty, dst, a, .. } => {
                self.legal(types::float_unary(*op, *ty), *ty)?;
                self.uniform(*ty, *dst, &[*a])
            }
            Op::FloatMinMax3 { dst, a, b, c, .. } => self.uniform(Type::F32, *dst, &[*a, *b, *c]),
            Op::TestProperty { ty, dst, a, .. } => {
                self.legal(matches!(ty, Type::F32 | Type::F64), *ty)?;
                self.typed_value(*a, *ty)?;
                self.reg(*dst, Width::Predicate)
            }
            op => self.compare(op),
        }
    }

    /// The type of the narrow inputs of mixed-precision arithmetic.
    fn input(&self, ty: Type, modifiers: FloatModifiers) -> Result<Type, crate::ptx::source::SyntaxError> {
        match (modifiers.narrow, ty) {
            (None, ty) => Ok(ty),
            (Some(NarrowFloat::F16), Type::F32) => Ok(Type::F16),
            (Some(NarrowFloat::BF16), Type::F32) => Ok(Type::BF16),
            (Some(_), ty) => self.error(format!("16-bit inputs have a result of .f32, not .{}", ty.name())),
        }
    }

    fn compare(&self, op: &Op) -> Verified {
        match op {
            Op::SetPredicate { comparison, ty, combine, dst, other, a, b, .. } => {
                self.legal(types::comparison(*comparison, *ty), *ty)?;
                self.values(&[*a, *b], *ty)?;
                if let Some((_, predicate)) = combine {
                    self.predicate(*predicate)?;
                }
                self.maybe_reg(*dst, Width::Predicate)?;
                self.maybe_reg(*other, Width::Predicate)
            }
            Op::Set { comparison, dst_ty, ty, combine, dst, a, b, .. } => {
                self.legal(types::comparison(*comparison, *ty), *ty)?;
                self.legal(types::set_result(*dst_ty, *ty), *dst_ty)?;
                self.values(&[*a, *b], *ty)?;
                if let Some((_, predicate)) = combine {
                    self.predicate(*predicate)?;
                }
                self.typed(*dst, *dst_ty)
            }
            Op::Select { dst, a, b, predicate } => {
                self.predicate(*predicate)?;
                self.same(*dst, &[*a, *b])
            }
            Op::SelectBySign { dst, a, b, selector_ty, c, .. } => {
                self.legal(matches!(selector_ty, Type::S32 | Type::F32), *selector_ty)?;
                self.word(*c)?;
                self.same(*dst, &[*a, *b])
            }
            op => self.convert(op),
        }
    }

    /// All have the width of `dst`, which is no predicate.
    fn same(&self, dst: Reg, values: &[Operand]) -> Verified {
        self.wide_enough(dst, Type::B8)?;
        values.iter().try_for_each(|value| self.value(*value, dst.width))
    }

    fn convert(&self, op: &Op) -> Verified {
        match op {
            Op::Convert(convert) => self.convert_one(convert),
            Op::ConvertPair { dst_ty, rounding, dst, a, b, .. } => {
                use Type::{BF16x2, E4M3x2, E5M2x2, F16x2};
                self.legal(matches!(dst_ty, F16x2 | BF16x2 | E4M3x2 | E5M2x2), *dst_ty)?;
                if !matches!(rounding, Rounding::NearestEven | Rounding::Zero) {
                    return self.error("pairs are rounded by .rn or .rz");
                }
                self.values(&[*a, *b], Type::F32)?;
                self.typed(*dst, *dst_ty)
            }
            Op::PackSaturate { ty, dst, a, b, c } => {
                use Type::{S8, S16, U8, U16};
                self.legal(matches!(ty, S8 | S16 | U8 | U16), *ty)?;
                if c.is_some() != (ty.bits() == 8) {
                    return self.error("the third value belongs to packed bytes only");
                }
                self.values(&[*a, *b], Type::B32)?;
                self.values(c.as_slice(), Type::B32)?;
                self.reg(*dst, Width::B32)
            }
            Op::ConvertAddress { dst, src, .. } => {
                self.wide_enough(*dst, Type::B32)?;
                self.value(*src, dst.width)
            }
            Op::IsSpace { dst, a, .. } => {
                if let Operand::Reg(reg) = a {
                    self.wide_enough(*reg, Type::B32)?;
                }
                self.reg(*dst, Width::Predicate)
            }
            op => self.other(op),
        }
    }

    fn convert_one(&self, convert: &Convert) -> Verified {
        let Convert { dst_ty, src_ty, rounding, to_integer, dst, src, .. } = *convert;
        if !types::convert(dst_ty, src_ty) {
            return self.error(format!(
                "there is no conversion from .{} to .{}",
                src_ty.name(),
                dst_ty.name()
            ));
        }
        let rounded = match (dst_ty.is_float(), src_ty.is_float()) {
            (false, true) => rounding.is_some() && to_integer,
            (true, false) => rounding.is_some() && !to_integer,
            (true, true) if dst_ty.bits() < src_ty.bits() || dst_ty == Type::TF32 => {
                rounding.is_some() && !to_integer
            }
            (true, true) => !to_integer || dst_ty == src_ty,
            (false, false) => rounding.is_none(),
        };
        if !rounded {
            return self.error(format!(
                "the conversion from .{} to .{} has another rounding",
                src_ty.name(),
                dst_ty.name()
            ));
        }
        if dst_ty.is_float() {
            self.typed(dst, dst_ty)?;
        } else {
            self.wide_enough(dst, dst_ty)?;
        }
        match src {
            Operand::Reg(reg) if !src_ty.is_float() => self.wide_enough(reg, src_ty),
            src => self.typed_value(src, src_ty),
        }
    }
}
