//! What an analysis asks of an instruction: which registers it reads and writes, where control goes,
//! which memory it touches.

use super::*;

/// Where control may go after an instruction (its guard included).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successors {
    /// Control may go to the next instruction.
    pub falls_through: bool,
    /// Branch targets, as indices into the code.
    pub targets: SmallTargets,
}

/// Branch targets; nearly always at most one.
pub type SmallTargets = smallvec::SmallVec<[u32; 2]>;

/// How an instruction touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryAccessKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes as one.
    Atomic,
}

/// One memory access of an instruction, by each thread that executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// Read, write or both.
    pub kind: MemoryAccessKind,
    /// The space of the address.
    pub space: Space,
    /// The first byte.
    pub address: Address,
    /// Bytes, all elements of a vector together; also the alignment that the address must have.
    pub size: u32,
}

impl Op {
    /// Calls `f` for each register the operation writes.
    pub fn for_each_def(&self, mut f: impl FnMut(Reg)) {
        visit(self, &mut |reg, write| {
            if write {
                f(reg);
            }
        });
    }

    /// Calls `f` for each register the operation reads (address registers and predicates too, the guard
    /// not).
    pub fn for_each_use(&self, mut f: impl FnMut(Reg)) {
        visit(self, &mut |reg, write| {
            if !write {
                f(reg);
            }
        });
    }

    /// Does it read the thread's hidden carry flag?
    pub fn reads_carry(&self) -> bool {
        matches!(
            self,
            Op::Carry { carry_in: true, .. } | Op::MultiplyAddCarry { carry_in: true, .. }
        )
    }

    /// Does it write the thread's hidden carry flag?
    pub fn writes_carry(&self) -> bool {
        matches!(
            self,
            Op::Carry {
                carry_out: true,
                ..
            } | Op::MultiplyAddCarry {
                carry_out: true,
                ..
            }
        )
    }

    /// The accesses to memory that the operation names by an address operand. Parameter space counts;
    /// a call's copies between blocks do not. An analysis must treat `Call` and `Unsupported` as
    /// touching anything.
    pub fn memory_accesses(&self) -> smallvec::SmallVec<[MemoryAccess; 2]> {
        use MemoryAccessKind::*;
        let one = |kind, space, address, size| {
            smallvec::smallvec![MemoryAccess {
                kind,
                space,
                address,
                size
            }]
        };
        match self {
            Op::Load(l) => one(Read, l.space, l.address, l.ty.bytes() * l.dsts.len() as u32),
            Op::Store(s) => one(
                Write,
                s.space,
                s.address,
                s.ty.bytes() * s.srcs.len() as u32,
            ),
            Op::Atomic(a) => one(Atomic, a.space, a.address, a.ty.bytes() * a.a.len() as u32),
            Op::AsyncCopy { dst, src, size, .. } => smallvec::smallvec![
                MemoryAccess {
                    kind: Read,
                    space: Space::Global,
                    address: *src,
                    size: *size
                },
                MemoryAccess {
                    kind: Write,
                    space: Space::Shared,
                    address: *dst,
                    size: *size
                },
            ],
            Op::AsyncArrive { space, address, .. } => one(Atomic, *space, *address, 8),
            Op::Mbarrier(m) => match m.address {
                Some(address) => one(Atomic, m.space, address, 8),
                None => smallvec::SmallVec::new(),
            },
            // one row of 8 halfwords for each lane that gives an address
            Op::LoadMatrix { space, address, .. } => one(Read, *space, *address, 16),
            Op::StoreMatrix { space, address, .. } => one(Write, *space, *address, 16),
            _ => smallvec::SmallVec::new(),
        }
    }
}

impl Inst {
    /// Calls `f` for each register written.
    pub fn for_each_def(&self, f: impl FnMut(Reg)) {
        self.op.for_each_def(f);
    }

    /// Calls `f` for each register read, the guard's predicate included.
    pub fn for_each_use(&self, mut f: impl FnMut(Reg)) {
        if let Some(guard) = self.guard {
            f(guard.predicate);
        }
        self.op.for_each_use(f);
    }

    /// Where control may go next. A call falls through (it comes back); `trap` and `exit` do not, unless
    /// guarded.
    pub fn successors(&self) -> Successors {
        let mut targets = SmallTargets::new();
        let leaves = match &self.op {
            Op::Branch { target, .. } => {
                targets.push(*target);
                true
            }
            Op::BranchIndexed { targets: list, .. } => {
                targets.extend(list.iter().copied());
                true
            }
            Op::Return | Op::Exit | Op::Trap | Op::Unsupported(_) => true,
            _ => false,
        };
        Successors {
            falls_through: !leaves || self.guard.is_some(),
            targets,
        }
    }
}

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
            | Op::BitMask {
                dst,
                position: a,
                length: b,
                ..
            }
            | Op::Extend {
                dst, a, length: b, ..
            } => {
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
            | Op::BitFieldExtract {
                dst,
                a,
                position: b,
                length: c,
                ..
            }
            | Op::FindNthSet {
                dst,
                mask: a,
                base: b,
                offset: c,
            }
            | Op::Permute {
                dst,
                a,
                b,
                selector: c,
                ..
            } => {
                self.uses(&[*a, *b, *c]);
                self.def(*dst);
            }
            Op::BitFieldInsert {
                dst,
                a,
                b,
                position,
                length,
                ..
            } => {
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
            Op::Lop3 {
                dst,
                a,
                b,
                c,
                predicate,
                ..
            } => {
                self.uses(&[*a, *b, *c]);
                if let Some(p) = predicate {
                    self.predicate(&p.q);
                    self.def(p.dst);
                }
                self.defs(&[*dst]);
            }
            Op::SetPredicate {
                combine,
                dst,
                other,
                a,
                b,
                ..
            } => {
                self.uses(&[*a, *b]);
                if let Some((_, p)) = combine {
                    self.predicate(p);
                }
                self.defs(&[*dst, *other]);
            }
            Op::Set {
                combine, dst, a, b, ..
            } => {
                self.uses(&[*a, *b]);
                if let Some((_, p)) = combine {
                    self.predicate(p);
                }
                self.def(*dst);
            }
            Op::Select {
                dst,
                a,
                b,
                predicate,
            } => {
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
            Op::AsyncCopy {
                dst,
                src,
                source_size,
                ignore_source,
                ..
            } => {
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
            Op::Shuffle {
                mask,
                dst,
                predicate,
                a,
                b,
                c,
                ..
            } => {
                self.uses(&[*a, *b, *c]);
                self.uses(mask.as_slice());
                self.defs(&[*dst, *predicate]);
            }
            Op::Vote {
                mask, dst, source, ..
            } => {
                self.predicate(source);
                self.uses(mask.as_slice());
                self.def(*dst);
            }
            Op::Match {
                dst,
                predicate,
                a,
                mask,
                ..
            } => {
                self.uses(&[*a, *mask]);
                self.defs(&[*dst, *predicate]);
            }
            Op::Reduce { dst, a, mask, .. } => {
                self.uses(&[*a, *mask]);
                self.def(*dst);
            }
            Op::Elect {
                dst,
                predicate,
                mask,
            } => {
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

impl Op {
    /// Calls `f` for each declaration that the operation names, as a value or in an address.
    pub fn for_each_symbol(&self, mut f: impl FnMut(Symbol)) {
        if let Op::AddressOf { symbol, .. } = self {
            f(*symbol);
        }
        let mut address = |address: &Address| {
            if let AddressBase::Symbol(symbol) = address.base {
                f(symbol);
            }
        };
        match self {
            Op::Hint {
                address: Some(a), ..
            } => address(a),
            op => op
                .memory_accesses()
                .iter()
                .for_each(|access| address(&access.address)),
        }
    }
}
