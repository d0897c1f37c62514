//! Which registers each operation reads and writes: the one place that lists them.

use super::*;

/// Calls `f(register, is_write)` for each register of the operation.
pub(crate) fn visit(op: &Op, f: &mut dyn FnMut(Reg, bool)) {
    Visitor { f }.op(op);
}

struct Visitor<'a> {
    f: &'a mut dyn FnMut(Reg, bool),
}

impl Visitor<'_> {
    fn def(&mut self, reg: Reg) {
        (self.f)(reg, true);
    }
    fn defs(&mut self, regs: &[Option<Reg>]) {
        for reg in regs.iter().flatten() {
            self.def(*reg);
        }
    }
    fn uses(&mut self, operands: &[Operand]) {
        for reg in operands.iter().filter_map(|o| o.reg()) {
            (self.f)(reg, false);
        }
    }
    fn address(&mut self, address: &Address) {
        if let AddressBase::Reg(reg) = address.base {
            (self.f)(reg, false);
        }
    }
    fn predicate(&mut self, operand: &PredicateOperand) {
        self.uses(&[operand.value]);
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Mov { dst, src } | Op::TransposeMatrix { dst, src } => {
                self.uses(&[*src]);
                self.def(*dst);
            }
            Op::ConvertAddress { dst, src, .. } => {
                self.uses(&[*src]);
                self.def(*dst);
            }
            Op::ReadSpecial { dst, .. } | Op::AddressOf { dst, .. } | Op::ActiveMask { dst } => {
                self.def(*dst);
            }
            Op::Pack { dst, parts } => {
                self.uses(parts);
                self.def(*dst);
            }
            Op::Unpack { dsts, src } => {
                self.uses(&[Operand::Reg(*src)]);
                self.defs(dsts);
            }
            Op::Integer { dst, a, b, .. }
            | Op::Carry { dst, a, b, .. }
            | Op::Logic { dst, a, b, .. }
            | Op::Shift { dst, a, b, .. }
            | Op::Float { dst, a, b, .. }
            | Op::ConvertPair { dst, a, b, .. }
            | Op::BitMask { dst, position: a, length: b, .. }
            | Op::Extend { dst, a, length: b, .. } => {
                self.uses(&[*a, *b]);
                self.def(*dst);
            }
            Op::MultiplyAdd { dst, a, b, c, .. }
            | Op::MultiplyAddCarry { dst, a, b, c, .. }
            | Op::SumAbsoluteDifference { dst, a, b, c, .. }
            | Op::DotProduct { dst, a, b, c, .. }
            | Op::FunnelShift { dst, a, b, c, .. }
            | Op::FloatMultiplyAdd { dst, a, b, c, .. }
            | Op::FloatMinMax3 { dst, a, b, c, .. }
            | Op::SelectBySign { dst, a, b, c, .. }
            | Op::BitFieldExtract { dst, a, position: b, length: c, .. }
            | Op::FindNthSet { dst, mask: a, base: b, offset: c }
            | Op::Permute { dst, a, b, selector: c, .. } => {
                self.uses(&[*a, *b, *c]);
                self.def(*dst);
            }
            Op::BitFieldInsert { dst, a, b, position, length, .. } => {
                self.uses(&[*a, *b, *position, *length]);
                self.def(*dst);
            }
            Op::IntegerUnary { dst, a, .. }
            | Op::FloatUnary { dst, a, .. }
            | Op::TestProperty { dst, a, .. }
            | Op::IsSpace { dst, a, .. } => {
                self.uses(&[*a]);
                self.def(*dst);
            }
            Op::Lop3 { dst, a, b, c, predicate, .. } => {
                self.uses(&[*a, *b, *c]);
                if let Some(p) = predicate {
                    self.predicate(&p.q);
                    self.def(p.dst);
                }
                self.defs(&[*dst]);
            }
            Op::SetPredicate { combine, dst, other, a, b, .. } => {
                self.uses(&[*a, *b]);
                if let Some((_, p)) = combine {
                    self.predicate(p);
                }
                self.defs(&[*dst, *other]);
            }
            Op::Set { combine, dst, a, b, .. } => {
                self.uses(&[*a, *b]);
                if let Some((_, p)) = combine {
                    self.predicate(p);
                }
                self.def(*dst);
            }
            Op::Select { dst, a, b, predicate } => {
                self.uses(&[*a, *b]);
                self.predicate(predicate);
                self.def(*dst);
            }
            Op::Convert(c) => {
                self.uses(&[c.src]);
                self.def(c.dst);
            }
            Op::PackSaturate { dst, a, b, c, .. } => {
                self.uses(&[*a, *b]);
                self.uses(c.as_slice());
                self.def(*dst);
            }
            Op::Load(l) => {
                self.address(&l.address);
                self.defs(&l.dsts);
            }
            Op::Store(s) => {
                self.address(&s.address);
                self.uses(&s.srcs);
            }
            Op::Atomic(a) => {
                self.address(&a.address);
                self.uses(&a.a);
                self.uses(a.b.as_slice());
                self.defs(&a.dsts);
            }
            Op::AsyncCopy { dst, src, source_size, ignore_source, .. } => {
                self.address(dst);
                self.address(src);
                self.uses(source_size.as_slice());
                if let Some(p) = ignore_source {
                    self.predicate(p);
                }
            }
            Op::AsyncArrive { address, .. } => self.address(address),
            Op::Mbarrier(m) => {
                if let Some(address) = &m.address {
                    self.address(address);
                }
                self.uses(m.count.as_slice());
                self.uses(m.state.as_slice());
                self.defs(&[m.dst]);
            }
            Op::Hint { address, .. } => {
                if let Some(address) = address {
                    self.address(address);
                }
            }
            Op::BranchIndexed { index, .. } => self.uses(&[*index]),
            Op::Call(call) => {
                if let CallTarget::Indirect { pointer, .. } = &call.target {
                    self.uses(&[*pointer]);
                }
            }
            Op::NanoSleep { duration } => self.uses(&[*duration]),
            Op::Barrier(b) => {
                self.uses(&[b.id]);
                self.uses(b.threads.as_slice());
                if let BarrierOp::Reduce { dst, source, .. } = &b.op {
                    self.predicate(source);
                    self.def(*dst);
                }
            }
            Op::WarpBarrier { mask } => self.uses(&[*mask]),
            Op::Shuffle { mask, dst, predicate, a, b, c, .. } => {
                self.uses(&[*a, *b, *c]);
                self.uses(mask.as_slice());
                self.defs(&[*dst, *predicate]);
            }
            Op::Vote { mask, dst, source, .. } => {
                self.predicate(source);
                self.uses(mask.as_slice());
                self.def(*dst);
            }
            Op::Match { dst, predicate, a, mask, .. } => {
                self.uses(&[*a, *mask]);
                self.defs(&[*dst, *predicate]);
            }
            Op::Reduce { dst, a, mask, .. } => {
                self.uses(&[*a, *mask]);
                self.def(*dst);
            }
            Op::Elect { dst, predicate, mask } => {
                self.uses(&[*mask]);
                self.defs(&[*dst, *predicate]);
            }
            Op::LoadMatrix { dsts, address, .. } => {
                self.address(address);
                self.defs(dsts);
            }
            Op::StoreMatrix { srcs, address, .. } => {
                self.address(address);
                self.uses(srcs);
            }
            Op::MatrixMultiply(m) => {
                self.uses(&m.a);
                self.uses(&m.b);
                self.uses(&m.c);
                self.defs(&m.d);
            }
            Op::AsyncCommit
            | Op::AsyncWait { .. }
            | Op::Fence { .. }
            | Op::Branch { .. }
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::Breakpoint
            | Op::Unsupported(_) => {}
        }
    }
}
