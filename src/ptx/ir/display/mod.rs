//! The readable form: one line for each instruction, close to PTX, with resolved registers. For people
//! and for tests; nothing parses it. Operands and the writer stand here, operations in `arithmetic`,
//! `memory` and `control`.
//!
//! Registers are `p3` (predicate), `b3`, `h3`, `r3` (8, 16, 32 bits: one file), `d3` (64), `q3` (128).

mod arithmetic;
mod control;
mod memory;

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
        Line { f, first: true }.operation(self)
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

impl Line<'_, '_> {
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
        let comma = if std::mem::replace(&mut self.first, false) { " " } else { ", " };
        write!(self.f, "{comma}{operand}")
    }

    fn operands(&mut self, operands: &[&dyn Display]) -> fmt::Result {
        operands.iter().try_for_each(|operand| self.operand(operand))
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

    fn operation(mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Mov { .. }
            | Op::ReadSpecial { .. }
            | Op::AddressOf { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. } => self.moves(op),
            Op::Integer { .. }
            | Op::MultiplyAdd { .. }
            | Op::Carry { .. }
            | Op::MultiplyAddCarry { .. }
            | Op::SumAbsoluteDifference { .. }
            | Op::DotProduct { .. }
            | Op::IntegerUnary { .. } => self.integer(op),
            Op::Logic { .. }
            | Op::Lop3 { .. }
            | Op::Shift { .. }
            | Op::FunnelShift { .. }
            | Op::BitFieldExtract { .. }
            | Op::BitFieldInsert { .. }
            | Op::BitMask { .. }
            | Op::Extend { .. }
            | Op::FindNthSet { .. }
            | Op::Permute { .. } => self.bits(op),
            Op::Float { .. }
            | Op::FloatMultiplyAdd { .. }
            | Op::FloatUnary { .. }
            | Op::FloatMinMax3 { .. }
            | Op::TestProperty { .. } => self.float(op),
            Op::SetPredicate { .. } | Op::Set { .. } | Op::Select { .. } | Op::SelectBySign { .. } => {
                self.compare(op)
            }
            Op::Convert(_)
            | Op::ConvertPair { .. }
            | Op::PackSaturate { .. }
            | Op::ConvertAddress { .. }
            | Op::IsSpace { .. } => self.convert(op),
            Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::Fence { .. } | Op::Hint { .. } => {
                self.memory(op)
            }
            Op::AsyncCopy { .. }
            | Op::AsyncCommit
            | Op::AsyncWait { .. }
            | Op::AsyncArrive { .. }
            | Op::Mbarrier(_) => self.asynchronous(op),
            Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::TransposeMatrix { .. }
            | Op::MatrixMultiply(_) => self.matrix(op),
            Op::Call(call) => self.call(call),
            _ => self.control(op),
        }
    }

    fn opcode(&mut self, opcode: &str) -> fmt::Result {
        self.f.write_str(opcode)
    }
}

fn sink(reg: Option<Reg>) -> String {
    reg.map_or_else(|| "_".to_owned(), |reg| reg.to_string())
}

/// `%tid.x` for `Tid(X)`, `%laneid` for `LaneId`.
fn special_name(special: SpecialReg) -> String {
    format!("%{special:?}").to_lowercase().replace('(', ".").replace(')', "")
}
