//! What instructions share: their operands as registers, constants, predicates, vectors and addresses.

use super::scope::Binding;
use super::special;
use super::{Lowered, Stop, not_declared};
use crate::ptx::ast::{self, OperandKind};
use crate::ptx::ir::*;
use crate::ptx::source::{Span, SyntaxError};

use super::function::Body;

/// Bits of an immediate as a value of `ty`, `None` if it is a number of the wrong kind.
///
/// Integers are truncated; a double-precision literal becomes single where `ty` is `f32`. Types without
/// literals of their own (16-bit floats, packed pairs) take integers as bit patterns.
pub(super) fn immediate_bits(value: ast::Immediate, ty: Type) -> Option<u64> {
    let mask = match ty.bits() {
        64.. => u64::MAX,
        bits => (1 << bits) - 1,
    };
    match (value, ty) {
        (ast::Immediate::F32(bits), Type::F32 | Type::B32 | Type::TF32) => Some(u64::from(bits)),
        (ast::Immediate::F32(bits), Type::F64) => Some(f64::from(f32::from_bits(bits)).to_bits()),
        (ast::Immediate::F64(bits), Type::F64 | Type::B64) => Some(bits),
        (ast::Immediate::F64(bits), Type::F32) => Some(u64::from((f64::from_bits(bits) as f32).to_bits())),
        (_, Type::F32 | Type::F64) => None,
        (ast::Immediate::F32(_) | ast::Immediate::F64(_), _) => None,
        (_, Type::Pred) => value.integer_bits().map(|bits| u64::from(bits != 0)),
        (_, _) => value.integer_bits().map(|bits| bits & mask),
    }
}

/// What the text names where a value is wanted.
pub(super) enum Value {
    Operand(Operand),
    Special(SpecialReg),
    Address(Symbol, i64),
    Vector,
}

impl<'src> Body<'_, '_, 'src> {
    /// The operands, exactly `N` of them.
    pub fn operands<'i, const N: usize>(
        &self,
        ast: &'i ast::Instruction<'src>,
    ) -> Lowered<[&'i ast::Operand<'src>; N]> {
        let found = ast.operands.len();
        let mut operands = ast.operands.iter();
        if found != N {
            return Err(self.wrong_count(ast, &N.to_string()));
        }
        Ok(std::array::from_fn(|_| operands.next().unwrap_or(&ast.operands[0])))
    }

    /// The error for an instruction that takes `expected` operands.
    pub fn wrong_count(&self, ast: &ast::Instruction<'src>, expected: &str) -> Stop {
        let noun = if expected == "1" { "operand" } else { "operands" };
        let found = ast.operands.len();
        SyntaxError::new(ast.span, format!("`{}` takes {expected} {noun} here, not {found}", ast.opcode.text))
            .into()
    }

    pub fn error<T>(&self, span: Span, message: impl Into<String>) -> Lowered<T> {
        Err(SyntaxError::new(span, message).into())
    }

    /// What a name stands for.
    pub fn lookup(&self, name: &str, span: Span) -> Lowered<Binding> {
        match self.module.scopes.get(name) {
            Some(Binding::Unsupported) => Err(Stop::Unsupported),
            Some(binding) => Ok(binding),
            None => Err(not_declared(name, span).into()),
        }
    }

    fn named(&mut self, name: &str, offset: i64, span: Span) -> Lowered<Value> {
        if offset == 0
            && self.module.scopes.get(name).is_none()
            && let Some(special) = special::plain(name)
        {
            return Ok(Value::Special(special));
        }
        match self.lookup(name, span)? {
            Binding::Register(reg) if offset == 0 => Ok(Value::Operand(Operand::Reg(reg))),
            Binding::Vector(_) if offset == 0 => Ok(Value::Vector),
            binding => match self.symbol(&binding)? {
                Some(symbol) => Ok(Value::Address(symbol, offset)),
                None => self.error(span, format!("`{name}` is no value")),
            },
        }
    }

    /// The declaration with an address that a name stands for.
    fn symbol(&mut self, binding: &Binding) -> Lowered<Option<Symbol>> {
        Ok(match binding {
            Binding::Variable(id) => {
                let variable = &self.module.variables[id.0 as usize];
                Some(match variable.space {
                    Space::Shared if variable.is_dynamic_shared() => Symbol::DynamicShared(*id),
                    Space::Shared => Symbol::Shared(*id),
                    _ => Symbol::Variable(*id),
                })
            }
            Binding::Local(index) => Some(Symbol::Local(*index)),
            Binding::In(index) => Some(Symbol::Param(ParamBlock::In, *index)),
            Binding::Out(index) => Some(Symbol::Param(ParamBlock::Out, *index)),
            Binding::CallParam(index) => Some(Symbol::Param(ParamBlock::Call, *index)),
            Binding::Function(id) => Some(Symbol::Function(*id)),
            _ => None,
        })
    }

    /// The value of an operand, before anything is moved to a register.
    pub fn read(&mut self, operand: &ast::Operand<'src>, ty: Type) -> Lowered<Value> {
        match &operand.kind {
            OperandKind::Symbol(name) => self.named(name, 0, operand.span),
            OperandKind::Offset { symbol, offset } => self.named(symbol.text, *offset, symbol.span),
            OperandKind::Member { register, member } => {
                if let Some(special) = special::indexed(register.text, member.text) {
                    return Ok(Value::Special(special));
                }
                match self.lookup(register.text, register.span)? {
                    Binding::Vector(elements) => {
                        let index = ["x", "y", "z", "w"].iter().position(|a| *a == member.text);
                        let index =
                            index.or_else(|| ["r", "g", "b", "a"].iter().position(|a| *a == member.text));
                        match index.and_then(|index| elements.get(index)) {
                            Some(reg) => Ok(Value::Operand(Operand::Reg(*reg))),
                            None => self.error(
                                member.span,
                                format!("`{}` has no element `{}`", register.text, member.text),
                            ),
                        }
                    }
                    _ => self.error(register.span, format!("`{}` is no vector", register.text)),
                }
            }
            OperandKind::Immediate(value) => match immediate_bits(*value, ty) {
                Some(bits) => Ok(Value::Operand(Operand::Imm(bits))),
                None => {
                    self.error(operand.span, format!("a number of this kind is no value of .{}", ty.name()))
                }
            },
            OperandKind::Negate(inner) => {
                let a = self.value(inner, ty)?;
                let Some(width) = ty.width() else {
                    return Err(Stop::Unsupported);
                };
                let dst = self.temporary(width);
                self.push(match ty.is_float() {
                    true => Op::FloatUnary {
                        op: FloatUnaryOp::Neg,
                        ty,
                        accuracy: Accuracy::Default,
                        modifiers: FloatModifiers::default(),
                        dst,
                        a,
                    },
                    false => Op::IntegerUnary { op: IntegerUnaryOp::Neg, ty, dst, a },
                });
                Ok(Value::Operand(Operand::Reg(dst)))
            }
            OperandKind::Not(_) if ty == Type::Pred => {
                let predicate = self.predicate(operand)?;
                let dst = self.temporary(Width::Predicate);
                self.push(Op::IntegerUnary {
                    op: IntegerUnaryOp::Not,
                    ty: Type::Pred,
                    dst,
                    a: predicate.value,
                });
                Ok(Value::Operand(Operand::Reg(dst)))
            }
            OperandKind::Element { .. } => Err(Stop::Unsupported),
            _ => self.error(operand.span, "this is no value"),
        }
    }

    /// A value to read. Special registers and addresses are moved to a register of `ty`'s width first.
    pub fn value(&mut self, operand: &ast::Operand<'src>, ty: Type) -> Lowered<Operand> {
        match self.read(operand, ty)? {
            Value::Operand(operand) => Ok(operand),
            Value::Special(special) => {
                let Some(width) = ty.width() else {
                    return Err(Stop::Unsupported);
                };
                let dst = self.temporary(width);
                self.push(Op::ReadSpecial { dst, special });
                Ok(Operand::Reg(dst))
            }
            Value::Address(symbol, offset) => {
                let Some(width) = ty.width() else {
                    return Err(Stop::Unsupported);
                };
                let dst = self.temporary(width);
                self.address_of(dst, symbol, offset)?;
                Ok(Operand::Reg(dst))
            }
            Value::Vector => self.error(operand.span, "a vector stands where one value belongs"),
        }
    }

    /// `dst = &symbol + offset`. In a device function a parameter's address is that of its copy in local
    /// memory.
    pub fn address_of(&mut self, dst: Reg, symbol: Symbol, offset: i64) -> Lowered<()> {
        let symbol = match symbol {
            Symbol::Param(ParamBlock::In, index) if self.kind == FunctionKind::Device => {
                Symbol::Local(self.copy_of_parameter(index)?)
            }
            Symbol::Param(ParamBlock::Out | ParamBlock::Call, _) => {
                return self.error(self.span, "the address of this parameter cannot be taken");
            }
            symbol => symbol,
        };
        self.push(Op::AddressOf { dst, symbol, offset });
        Ok(())
    }

    /// A register has the width of `ty`: for instructions whose type the representation does not keep.
    pub fn exact(&self, reg: Reg, ty: Type, span: Span) -> Lowered<()> {
        match ty.width() == Some(reg.width) {
            true => Ok(()),
            false => self.error(
                span,
                format!(
                    "a register of {} bits stands where .{} has {}",
                    reg.width.bits(),
                    ty.name(),
                    ty.bits()
                ),
            ),
        }
    }

    /// A register to write. A sink gets a fresh register of `ty`'s width.
    pub fn dst(&mut self, operand: &ast::Operand<'src>, ty: Type) -> Lowered<Reg> {
        match self.optional_dst(operand)? {
            Some(reg) => Ok(reg),
            None => match ty.width() {
                Some(width) => Ok(self.temporary(width)),
                None => Err(Stop::Unsupported),
            },
        }
    }

    /// A register to write, or the sink `_`.
    pub fn optional_dst(&mut self, operand: &ast::Operand<'src>) -> Lowered<Option<Reg>> {
        match &operand.kind {
            OperandKind::Sink => Ok(None),
            OperandKind::Symbol(_) | OperandKind::Member { .. } => match self.read(operand, Type::B32)? {
                Value::Operand(Operand::Reg(reg)) => Ok(Some(reg)),
                _ => self.error(operand.span, "a destination must be a register"),
            },
            _ => self.error(operand.span, "a destination must be a register"),
        }
    }

    /// `d|p`, or `d` alone.
    pub fn dst_pair(&mut self, operand: &ast::Operand<'src>) -> Lowered<(Option<Reg>, Option<Reg>)> {
        match &operand.kind {
            OperandKind::Pair(pair) => Ok((self.optional_dst(&pair[0])?, self.optional_dst(&pair[1])?)),
            _ => Ok((self.optional_dst(operand)?, None)),
        }
    }

    /// `p`, `!p` or a constant.
    pub fn predicate(&mut self, operand: &ast::Operand<'src>) -> Lowered<PredicateOperand> {
        if let OperandKind::Not(name) = &operand.kind {
            return match self.lookup(name.text, name.span)? {
                Binding::Register(reg) => Ok(PredicateOperand { value: Operand::Reg(reg), negated: true }),
                _ => self.error(name.span, format!("`{}` is no predicate", name.text)),
            };
        }
        let value = self.value(operand, Type::Pred)?;
        Ok(PredicateOperand { value, negated: false })
    }

    /// `{a, b}`, a vector register, or one register: registers to write.
    pub fn dst_vector(&mut self, operand: &ast::Operand<'src>) -> Lowered<Destinations> {
        match &operand.kind {
            OperandKind::Vector(elements) => {
                elements.iter().map(|element| self.optional_dst(element)).collect()
            }
            OperandKind::Symbol(name) => match self.lookup(name, operand.span)? {
                Binding::Vector(elements) => Ok(elements.into_iter().map(Some).collect()),
                _ => Ok(smallvec::smallvec![self.optional_dst(operand)?]),
            },
            _ => Ok(smallvec::smallvec![self.optional_dst(operand)?]),
        }
    }

    /// `{a, b}`, a vector register, or one value: values to read.
    pub fn value_vector(&mut self, operand: &ast::Operand<'src>, ty: Type) -> Lowered<Operands> {
        match &operand.kind {
            OperandKind::Vector(elements) => elements.iter().map(|element| self.value(element, ty)).collect(),
            OperandKind::Symbol(name)
                if let Some(Binding::Vector(elements)) = self.module.scopes.get(name) =>
            {
                Ok(elements.into_iter().map(Operand::Reg).collect())
            }
            _ => Ok(smallvec::smallvec![self.value(operand, ty)?]),
        }
    }

    /// `[base+offset]`, and the space it lies in if the base is a declaration.
    pub fn address(&mut self, operand: &ast::Operand<'src>) -> Lowered<(Address, Option<Space>)> {
        let OperandKind::Address(address) = &operand.kind else {
            return match operand.kind {
                OperandKind::Element { .. } => Err(Stop::Unsupported),
                _ => self.error(operand.span, "an address in brackets belongs here"),
            };
        };
        if !address.rest.is_empty() {
            return Err(Stop::Unsupported);
        }
        let offset = address.offset;
        let Some(base) = &address.base else {
            return Ok((Address { base: AddressBase::Absolute, offset }, None));
        };
        match self.lookup(base.text, base.span)? {
            Binding::Register(reg) => {
                let base = AddressBase::Reg(self.address_register(reg));
                Ok((Address { base, offset }, None))
            }
            binding => match self.symbol(&binding)? {
                Some(symbol) => {
                    let space = self.space_of(symbol);
                    Ok((Address { base: AddressBase::Symbol(symbol), offset }, space))
                }
                None => self.error(base.span, format!("`{}` has no address", base.text)),
            },
        }
    }

    /// A register of 16 bits or less may hold an address, in shared memory; it is widened first.
    fn address_register(&mut self, reg: Reg) -> Reg {
        let src_ty = match reg.width {
            Width::B8 => Type::U8,
            Width::B16 => Type::U16,
            _ => return reg,
        };
        let dst = self.temporary(Width::B32);
        self.push(Op::Convert(Box::new(Convert {
            dst_ty: Type::U32,
            src_ty,
            rounding: None,
            to_integer: false,
            flush: false,
            saturate: false,
            saturate_finite: false,
            relu: false,
            dst,
            src: Operand::Reg(reg),
        })));
        dst
    }

    fn space_of(&self, symbol: Symbol) -> Option<Space> {
        match symbol {
            Symbol::Variable(id) => Some(self.module.variables[id.0 as usize].space),
            Symbol::Shared(_) | Symbol::DynamicShared(_) => Some(Space::Shared),
            Symbol::Local(_) => Some(Space::Local),
            Symbol::Param(..) => Some(Space::Param),
            Symbol::Function(_) => None,
        }
    }
}
