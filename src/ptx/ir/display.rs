//! The readable form: one line for each instruction, close to PTX, with resolved registers. For people
//! and for tests; nothing parses it.
//!
//! Registers are `p3` (predicate), `b3`, `h3`, `r3` (8, 16, 32 bits: one file), `d3` (64), `q3` (128).

use std::fmt::{self, Debug, Display, Formatter, Write};

use super::*;

impl Display for Reg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let letter = match self.width {
            Width::Predicate => 'p',
            Width::B8 => 'b',
            Width::B16 => 'h',
            Width::B32 => 'r',
            Width::B64 => 'd',
            Width::B128 => 'q',
        };
        write!(f, "{letter}{}", self.index)
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Reg(reg) => Display::fmt(reg, f),
            Operand::Imm(bits) => write!(f, "{bits:#x}"),
        }
    }
}

impl Display for PredicateOperand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = if self.negated { "!" } else { "" };
        write!(f, "{sign}{}", self.value)
    }
}

impl Display for Symbol {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Variable(id) => write!(f, "variable{}", id.0),
            Symbol::Shared(id) => write!(f, "shared{}", id.0),
            Symbol::DynamicShared(id) => write!(f, "dynamic{}", id.0),
            Symbol::Local(index) => write!(f, "local{index}"),
            Symbol::Param(ParamBlock::In, index) => write!(f, "in{index}"),
            Symbol::Param(ParamBlock::Out, index) => write!(f, "out{index}"),
            Symbol::Param(ParamBlock::Call, index) => write!(f, "call{index}"),
            Symbol::Function(id) => write!(f, "function{}", id.0),
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.base {
            AddressBase::Reg(reg) => write!(f, "[{reg}")?,
            AddressBase::Symbol(symbol) => write!(f, "[{symbol}")?,
            AddressBase::Absolute => return write!(f, "[{:#x}]", self.offset),
        }
        match self.offset {
            0 => f.write_char(']'),
            offset => write!(f, "{offset:+}]"),
        }
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(guard) = self.guard {
            let sign = if guard.negated { "!" } else { "" };
            write!(f, "@{sign}{} ", guard.predicate)?;
        }
        Display::fmt(&self.op, f)
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Line::new(f, self)
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            FunctionKind::Kernel => "kernel",
            FunctionKind::Device => "function",
        };
        writeln!(
            f,
            "{kind} {} (in {} bytes, out {}, call {}, local {})",
            self.name, self.param_bytes, self.return_bytes, self.call_bytes, self.local_bytes
        )?;
        for (index, inst) in self.code.iter().enumerate() {
            for label in self.labels.iter().filter(|l| l.target as usize == index) {
                writeln!(f, "{}:", label.name)?;
            }
            writeln!(f, "{index:5}  {inst}")?;
        }
        Ok(())
    }
}

/// Writes one operation: the opcode with dotted words, then operands with commas.
struct Line<'a, 'f> {
    f: &'a mut Formatter<'f>,
    first: bool,
}

impl<'a, 'f> Line<'a, 'f> {
    /// A word for a variant without fields: its name in small letters.
    fn word(&mut self, word: &dyn Debug) -> fmt::Result {
        write!(self.f, ".{}", format!("{word:?}").to_lowercase())
    }

    fn flag(&mut self, on: bool, word: &str) -> fmt::Result {
        match on {
            true => write!(self.f, ".{word}"),
            false => Ok(()),
        }
    }

    fn ty(&mut self, ty: Type) -> fmt::Result {
        write!(self.f, ".{}", ty.name())
    }

    fn space(&mut self, space: Space) -> fmt::Result {
        match space {
            Space::Generic => Ok(()),
            space => self.word(&space),
        }
    }

    fn operand(&mut self, operand: impl Display) -> fmt::Result {
        let comma = if std::mem::replace(&mut self.first, false) {
            " "
        } else {
            ", "
        };
        write!(self.f, "{comma}{operand}")
    }

    fn operands(&mut self, operands: &[&dyn Display]) -> fmt::Result {
        operands
            .iter()
            .try_for_each(|operand| self.operand(operand))
    }

    fn maybe(&mut self, operand: Option<impl Display>) -> fmt::Result {
        match operand {
            Some(operand) => self.operand(operand),
            None => Ok(()),
        }
    }

    fn dsts(&mut self, dsts: &[Option<Reg>]) -> fmt::Result {
        let names: Vec<String> = dsts.iter().map(|dst| sink(*dst)).collect();
        match names.as_slice() {
            [one] => self.operand(one),
            _ => self.operand(format!("{{{}}}", names.join(", "))),
        }
    }

    fn srcs(&mut self, srcs: &[Operand]) -> fmt::Result {
        let names: Vec<String> = srcs.iter().map(Operand::to_string).collect();
        match names.as_slice() {
            [one] => self.operand(one),
            _ => self.operand(format!("{{{}}}", names.join(", "))),
        }
    }

    fn pair(&mut self, dst: Option<Reg>, other: Option<Reg>) -> fmt::Result {
        match other {
            None => self.operand(sink(dst)),
            Some(other) => self.operand(format!("{}|{other}", sink(dst))),
        }
    }

    fn ordering(&mut self, ordering: Ordering) -> fmt::Result {
        if ordering.order != MemoryOrder::Weak {
            self.word(&ordering.order)?;
        }
        match ordering.scope {
            Some(scope) => self.word(&scope),
            None => Ok(()),
        }
    }

    fn accuracy(&mut self, accuracy: Accuracy) -> fmt::Result {
        match accuracy {
            Accuracy::Default => Ok(()),
            Accuracy::Rounded(rounding) => self.rounding(rounding),
            other => self.word(&other),
        }
    }

    fn rounding(&mut self, rounding: Rounding) -> fmt::Result {
        self.f.write_str(match rounding {
            Rounding::NearestEven => ".rn",
            Rounding::NearestAway => ".rna",
            Rounding::Zero => ".rz",
            Rounding::Down => ".rm",
            Rounding::Up => ".rp",
        })
    }

    fn modifiers(&mut self, modifiers: FloatModifiers) -> fmt::Result {
        self.flag(modifiers.flush, "ftz")?;
        self.flag(modifiers.nan, "NaN")?;
        self.flag(modifiers.xor_sign_abs, "xorsign.abs")?;
        self.flag(modifiers.abs, "abs")?;
        self.flag(modifiers.saturate, "sat")?;
        self.flag(modifiers.relu, "relu")
    }

    fn narrow(&mut self, modifiers: FloatModifiers) -> fmt::Result {
        match modifiers.narrow {
            Some(narrow) => self.word(&narrow),
            None => Ok(()),
        }
    }

    fn combine(&mut self, combine: Option<(BoolOp, PredicateOperand)>) -> fmt::Result {
        match combine {
            Some((op, _)) => self.word(&op),
            None => Ok(()),
        }
    }

    fn new(f: &'a mut Formatter<'f>, op: &Op) -> fmt::Result {
        let mut line = Line { f, first: true };
        match op {
            Op::Mov { .. }
            | Op::ReadSpecial { .. }
            | Op::AddressOf { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. } => line.moves(op),
            Op::Integer { .. }
            | Op::MultiplyAdd { .. }
            | Op::Carry { .. }
            | Op::MultiplyAddCarry { .. }
            | Op::SumAbsoluteDifference { .. }
            | Op::DotProduct { .. }
            | Op::IntegerUnary { .. } => line.integer(op),
            Op::Logic { .. }
            | Op::Lop3 { .. }
            | Op::Shift { .. }
            | Op::FunnelShift { .. }
            | Op::BitFieldExtract { .. }
            | Op::BitFieldInsert { .. }
            | Op::BitMask { .. }
            | Op::Extend { .. }
            | Op::FindNthSet { .. }
            | Op::Permute { .. } => line.bits(op),
            Op::Float { .. }
            | Op::FloatMultiplyAdd { .. }
            | Op::FloatUnary { .. }
            | Op::FloatMinMax3 { .. }
            | Op::TestProperty { .. } => line.float(op),
            Op::SetPredicate { .. }
            | Op::Set { .. }
            | Op::Select { .. }
            | Op::SelectBySign { .. } => line.compare(op),
            Op::Convert(_)
            | Op::ConvertPair { .. }
            | Op::PackSaturate { .. }
            | Op::ConvertAddress { .. }
            | Op::IsSpace { .. } => line.convert(op),
            Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::Fence { .. } | Op::Hint { .. } => {
                line.memory(op)
            }
            Op::AsyncCopy { .. }
            | Op::AsyncCommit
            | Op::AsyncWait { .. }
            | Op::AsyncArrive { .. }
            | Op::Mbarrier(_) => line.asynchronous(op),
            Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::TransposeMatrix { .. }
            | Op::MatrixMultiply(_) => line.matrix(op),
            Op::Call(call) => line.call(call),
            _ => line.control(op),
        }
    }

    fn opcode(&mut self, opcode: &str) -> fmt::Result {
        self.f.write_str(opcode)
    }

    fn moves(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Mov { dst, src } => {
                self.opcode("mov")?;
                self.operands(&[dst, src])
            }
            Op::ReadSpecial { dst, special } => {
                self.opcode("mov")?;
                self.operands(&[dst, &special_name(*special)])
            }
            Op::AddressOf {
                dst,
                symbol,
                offset,
            } => {
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

    fn integer(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Integer {
                op,
                ty,
                saturate,
                dst,
                a,
                b,
            } => {
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
            Op::MultiplyAdd {
                part,
                ty,
                saturate,
                dst,
                a,
                b,
                c,
            } => {
                self.opcode("mad")?;
                self.word(part)?;
                self.flag(*saturate, "sat")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b, c])
            }
            Op::Carry {
                op,
                ty,
                carry_in,
                carry_out,
                dst,
                a,
                b,
            } => {
                self.opcode(if *op == CarryOp::Add { "add" } else { "sub" })?;
                self.opcode(if *carry_in { "c" } else { "" })?;
                self.flag(*carry_out, "cc")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])
            }
            Op::MultiplyAddCarry {
                part,
                ty,
                carry_in,
                carry_out,
                dst,
                a,
                b,
                c,
            } => {
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
            Op::DotProduct {
                form,
                a_signed,
                b_signed,
                dst,
                a,
                b,
                c,
            } => {
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

    fn bits(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Logic { op, ty, dst, a, b } => {
                self.opcode(&format!("{op:?}").to_lowercase())?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])
            }
            Op::Lop3 {
                lut,
                dst,
                a,
                b,
                c,
                predicate,
            } => {
                self.opcode("lop3")?;
                self.combine(predicate.map(|p| (p.op, p.q)))?;
                self.pair(*dst, predicate.map(|p| p.dst))?;
                self.operands(&[a, b, c, &format!("{lut:#04x}")])?;
                self.maybe(predicate.map(|p| p.q))
            }
            Op::Shift {
                left,
                ty,
                dst,
                a,
                b,
            } => {
                self.opcode(if *left { "shl" } else { "shr" })?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])
            }
            Op::FunnelShift {
                left,
                range,
                dst,
                a,
                b,
                c,
            } => {
                self.opcode(if *left { "shf.l" } else { "shf.r" })?;
                self.word(range)?;
                self.operands(&[dst, a, b, c])
            }
            Op::BitFieldExtract {
                ty,
                dst,
                a,
                position,
                length,
            } => {
                self.opcode("bfe")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, position, length])
            }
            Op::BitFieldInsert {
                ty,
                dst,
                a,
                b,
                position,
                length,
            } => {
                self.opcode("bfi")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b, position, length])
            }
            Op::BitMask {
                range,
                dst,
                position,
                length,
            } => {
                self.opcode("bmsk")?;
                self.word(range)?;
                self.operands(&[dst, position, length])
            }
            Op::Extend {
                range,
                ty,
                dst,
                a,
                length,
            } => {
                self.opcode("szext")?;
                self.word(range)?;
                self.ty(*ty)?;
                self.operands(&[dst, a, length])
            }
            Op::FindNthSet {
                dst,
                mask,
                base,
                offset,
            } => {
                self.opcode("fns")?;
                self.operands(&[dst, mask, base, offset])
            }
            Op::Permute {
                mode,
                dst,
                a,
                b,
                selector,
            } => {
                self.opcode("prmt")?;
                if *mode != PermuteMode::Default {
                    self.word(mode)?;
                }
                self.operands(&[dst, a, b, selector])
            }
            _ => Ok(()),
        }
    }

    fn float(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Float {
                op,
                ty,
                accuracy,
                modifiers,
                dst,
                a,
                b,
            } => {
                self.opcode(&format!("{op:?}").to_lowercase())?;
                self.accuracy(*accuracy)?;
                self.modifiers(*modifiers)?;
                self.ty(*ty)?;
                self.narrow(*modifiers)?;
                self.operands(&[dst, a, b])
            }
            Op::FloatMultiplyAdd {
                ty,
                rounding,
                modifiers,
                dst,
                a,
                b,
                c,
            } => {
                self.opcode("fma")?;
                self.rounding(*rounding)?;
                self.modifiers(*modifiers)?;
                self.ty(*ty)?;
                self.narrow(*modifiers)?;
                self.operands(&[dst, a, b, c])
            }
            Op::FloatUnary {
                op,
                ty,
                accuracy,
                modifiers,
                dst,
                a,
            } => {
                self.opcode(&format!("{op:?}").to_lowercase())?;
                self.accuracy(*accuracy)?;
                self.modifiers(*modifiers)?;
                self.ty(*ty)?;
                self.operands(&[dst, a])
            }
            Op::FloatMinMax3 {
                max,
                modifiers,
                dst,
                a,
                b,
                c,
            } => {
                self.opcode(if *max { "max" } else { "min" })?;
                self.modifiers(*modifiers)?;
                self.ty(Type::F32)?;
                self.operands(&[dst, a, b, c])
            }
            Op::TestProperty {
                property,
                ty,
                dst,
                a,
            } => {
                self.opcode("testp")?;
                self.word(property)?;
                self.ty(*ty)?;
                self.operands(&[dst, a])
            }
            _ => Ok(()),
        }
    }

    fn compare(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::SetPredicate {
                comparison,
                ty,
                flush,
                combine,
                dst,
                other,
                a,
                b,
            } => {
                self.opcode("setp")?;
                self.word(comparison)?;
                self.combine(*combine)?;
                self.flag(*flush, "ftz")?;
                self.ty(*ty)?;
                self.pair(*dst, *other)?;
                self.operands(&[a, b])?;
                self.maybe(combine.map(|(_, p)| p))
            }
            Op::Set {
                comparison,
                dst_ty,
                ty,
                flush,
                combine,
                dst,
                a,
                b,
            } => {
                self.opcode("set")?;
                self.word(comparison)?;
                self.combine(*combine)?;
                self.flag(*flush, "ftz")?;
                self.ty(*dst_ty)?;
                self.ty(*ty)?;
                self.operands(&[dst, a, b])?;
                self.maybe(combine.map(|(_, p)| p))
            }
            Op::Select {
                dst,
                a,
                b,
                predicate,
            } => {
                self.opcode("selp")?;
                self.operands(&[dst, a, b, predicate])
            }
            Op::SelectBySign {
                dst,
                a,
                b,
                selector_ty,
                flush,
                c,
            } => {
                self.opcode("slct")?;
                self.flag(*flush, "ftz")?;
                self.ty(*selector_ty)?;
                self.operands(&[dst, a, b, c])
            }
            _ => Ok(()),
        }
    }

    fn convert(&mut self, op: &Op) -> fmt::Result {
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
            Op::ConvertPair {
                dst_ty,
                rounding,
                flush,
                relu,
                saturate_finite,
                dst,
                a,
                b,
            } => {
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
            Op::ConvertAddress {
                to_generic,
                space,
                dst,
                src,
            } => {
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

    fn cache(&mut self, cache: CacheOp) -> fmt::Result {
        match cache {
            CacheOp::Default => Ok(()),
            cache => self.word(&cache),
        }
    }

    fn count(&mut self, count: usize) -> fmt::Result {
        match count {
            0 | 1 => Ok(()),
            count => write!(self.f, ".v{count}"),
        }
    }

    fn memory(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Load(l) => {
                self.opcode(if l.uniform { "ldu" } else { "ld" })?;
                self.ordering(l.ordering)?;
                self.space(l.space)?;
                self.cache(l.cache)?;
                self.flag(l.non_coherent, "nc")?;
                self.count(l.dsts.len())?;
                self.ty(l.ty)?;
                self.dsts(&l.dsts)?;
                self.operand(l.address)
            }
            Op::Store(s) => {
                self.opcode("st")?;
                self.ordering(s.ordering)?;
                self.space(s.space)?;
                self.cache(s.cache)?;
                self.count(s.srcs.len())?;
                self.ty(s.ty)?;
                self.operand(s.address)?;
                self.srcs(&s.srcs)
            }
            Op::Atomic(a) => {
                self.opcode(if a.dsts.is_empty() { "red" } else { "atom" })?;
                self.ordering(a.ordering)?;
                self.space(a.space)?;
                self.word(&a.op)?;
                self.flag(a.no_flush, "noftz")?;
                self.count(a.a.len())?;
                self.ty(a.ty)?;
                if !a.dsts.is_empty() {
                    self.dsts(&a.dsts)?;
                }
                self.operand(a.address)?;
                self.srcs(&a.a)?;
                self.maybe(a.b)
            }
            Op::Fence {
                order,
                scope,
                proxy,
            } => {
                self.opcode("fence")?;
                self.flag(*proxy, "proxy")?;
                self.word(order)?;
                self.word(scope)
            }
            Op::Hint {
                what,
                address,
                space,
            } => {
                self.opcode(&format!("{what:?}").to_lowercase())?;
                self.space(*space)?;
                self.maybe(*address)
            }
            _ => Ok(()),
        }
    }

    fn asynchronous(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::AsyncCopy {
                dst,
                src,
                size,
                source_size,
                ignore_source,
            } => {
                self.opcode("cp.async")?;
                self.operands(&[dst, src, size])?;
                self.maybe(*source_size)?;
                self.maybe(ignore_source.map(|p| format!("ignore {p}")))
            }
            Op::AsyncCommit => self.opcode("cp.async.commit"),
            Op::AsyncWait { pending: None } => self.opcode("cp.async.wait_all"),
            Op::AsyncWait {
                pending: Some(pending),
            } => {
                self.opcode("cp.async.wait_group")?;
                self.operand(pending)
            }
            Op::AsyncArrive {
                space,
                address,
                no_increment,
            } => {
                self.opcode("cp.async.arrive")?;
                self.flag(*no_increment, "noinc")?;
                self.space(*space)?;
                self.operand(address)
            }
            Op::Mbarrier(m) => {
                self.opcode("mbarrier")?;
                match m.op {
                    MbarrierOp::Arrive { drop, no_complete } => {
                        self.opcode(".arrive")?;
                        self.flag(drop, "drop")?;
                        self.flag(no_complete, "nocomplete")?;
                    }
                    MbarrierOp::ArriveExpectTx { drop } => {
                        self.opcode(".arrive.expect_tx")?;
                        self.flag(drop, "drop")?;
                    }
                    MbarrierOp::TestWait { blocking, parity } => {
                        self.opcode(if blocking { ".try_wait" } else { ".test_wait" })?;
                        self.flag(parity, "parity")?;
                    }
                    op => self.word(&op)?,
                }
                self.space(m.space)?;
                self.maybe(m.dst)?;
                self.maybe(m.address)?;
                self.maybe(m.count)?;
                self.maybe(m.state)
            }
            _ => Ok(()),
        }
    }

    fn matrix(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::LoadMatrix {
                transpose,
                space,
                dsts,
                address,
            } => {
                self.opcode("ldmatrix")?;
                self.flag(*transpose, "trans")?;
                self.space(*space)?;
                self.dsts(dsts)?;
                self.operand(address)
            }
            Op::StoreMatrix {
                transpose,
                space,
                srcs,
                address,
            } => {
                self.opcode("stmatrix")?;
                self.flag(*transpose, "trans")?;
                self.space(*space)?;
                self.operand(address)?;
                self.srcs(srcs)
            }
            Op::TransposeMatrix { dst, src } => {
                self.opcode("movmatrix")?;
                self.operands(&[dst, src])
            }
            Op::MatrixMultiply(p) => {
                write!(self.f, "mma.m{}n{}k{}", p.m, p.n, p.k)?;
                self.flag(p.saturate, "satfinite")?;
                for ty in [p.d_ty, p.a_ty, p.b_ty, p.c_ty] {
                    self.ty(ty)?;
                }
                self.dsts(&p.d)?;
                self.srcs(&p.a)?;
                self.srcs(&p.b)?;
                self.srcs(&p.c)
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, call: &Call) -> fmt::Result {
        self.opcode("call")?;
        self.flag(call.uniform, "uni")?;
        let list = |copies: &[ParamCopy]| {
            let names: Vec<String> = copies
                .iter()
                .map(|c| format!("call{}", c.call_param))
                .collect();
            format!("({})", names.join(", "))
        };
        self.operand(list(&call.rets))?;
        match &call.target {
            CallTarget::Direct(id) => self.operand(Symbol::Function(*id))?,
            CallTarget::Intrinsic(intrinsic) => {
                self.operand(format!("{intrinsic:?}").to_lowercase())?;
            }
            CallTarget::Indirect {
                pointer,
                candidates,
            } => {
                self.operand(pointer)?;
                if let Some(list) = candidates {
                    let names: Vec<String> = list
                        .iter()
                        .map(|id| Symbol::Function(*id).to_string())
                        .collect();
                    self.operand(format!("of {{{}}}", names.join(", ")))?;
                }
            }
        }
        self.operand(list(&call.args))
    }

    fn control(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Branch { target, uniform } => {
                self.opcode("bra")?;
                self.flag(*uniform, "uni")?;
                self.operand(format!("@{target}"))
            }
            Op::BranchIndexed {
                index,
                targets,
                uniform,
            } => {
                self.opcode("brx")?;
                self.flag(*uniform, "uni")?;
                self.operand(index)?;
                let targets: Vec<String> = targets.iter().map(|t| format!("@{t}")).collect();
                self.operand(format!("{{{}}}", targets.join(", ")))
            }
            Op::Return => self.opcode("ret"),
            Op::Exit => self.opcode("exit"),
            Op::Trap => self.opcode("trap"),
            Op::Breakpoint => self.opcode("brkpt"),
            Op::NanoSleep { duration } => {
                self.opcode("nanosleep")?;
                self.operand(duration)
            }
            Op::Barrier(barrier) => self.barrier(barrier),
            Op::WarpBarrier { mask } => {
                self.opcode("bar.warp.sync")?;
                self.operand(mask)
            }
            Op::Shuffle {
                mode,
                mask,
                dst,
                predicate,
                a,
                b,
                c,
            } => {
                self.opcode("shfl")?;
                self.flag(mask.is_some(), "sync")?;
                self.word(mode)?;
                self.pair(*dst, *predicate)?;
                self.operands(&[a, b, c])?;
                self.maybe(*mask)
            }
            Op::Vote {
                mode,
                mask,
                dst,
                source,
            } => {
                self.opcode("vote")?;
                self.flag(mask.is_some(), "sync")?;
                self.word(mode)?;
                self.operands(&[dst, source])?;
                self.maybe(*mask)
            }
            Op::Match {
                all,
                ty,
                dst,
                predicate,
                a,
                mask,
            } => {
                self.opcode(if *all { "match.all" } else { "match.any" })?;
                self.ty(*ty)?;
                self.pair(*dst, *predicate)?;
                self.operands(&[a, mask])
            }
            Op::Reduce {
                op,
                ty,
                absolute,
                nan,
                dst,
                a,
                mask,
            } => {
                self.opcode("redux")?;
                self.word(op)?;
                self.flag(*absolute, "abs")?;
                self.flag(*nan, "NaN")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, mask])
            }
            Op::ActiveMask { dst } => {
                self.opcode("activemask")?;
                self.operand(dst)
            }
            Op::Elect {
                dst,
                predicate,
                mask,
            } => {
                self.opcode("elect")?;
                self.pair(*dst, *predicate)?;
                self.operand(mask)
            }
            Op::Unsupported(text) => write!(self.f, "unsupported `{text}`"),
            _ => Ok(()),
        }
    }

    fn barrier(&mut self, barrier: &Barrier) -> fmt::Result {
        self.opcode(if barrier.aligned { "bar" } else { "barrier" })?;
        match &barrier.op {
            BarrierOp::Reduce { op, dst, source } => {
                self.opcode(".red")?;
                self.word(op)?;
                self.operands(&[dst, &barrier.id])?;
                self.maybe(barrier.threads)?;
                self.operand(source)
            }
            op => {
                self.word(op)?;
                self.operand(barrier.id)?;
                self.maybe(barrier.threads)
            }
        }
    }
}

fn sink(reg: Option<Reg>) -> String {
    reg.map_or_else(|| "_".to_owned(), |reg| reg.to_string())
}

/// `%tid.x` for `Tid(X)`, `%laneid` for `LaneId`.
fn special_name(special: SpecialReg) -> String {
    format!("%{special:?}")
        .to_lowercase()
        .replace('(', ".")
        .replace(')', "")
}
