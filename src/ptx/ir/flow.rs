//! What an analysis asks of an instruction: which registers it reads and writes, where control goes,
//! which memory it touches.

use super::registers::visit;
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
        matches!(self, Op::Carry { carry_in: true, .. } | Op::MultiplyAddCarry { carry_in: true, .. })
    }

    /// Does it write the thread's hidden carry flag?
    pub fn writes_carry(&self) -> bool {
        matches!(self, Op::Carry { carry_out: true, .. } | Op::MultiplyAddCarry { carry_out: true, .. })
    }

    /// The accesses to memory that the operation names by an address operand. Parameter space counts;
    /// a call's copies between blocks do not. An analysis must treat `Call` and `Unsupported` as
    /// touching anything.
    pub fn memory_accesses(&self) -> smallvec::SmallVec<[MemoryAccess; 2]> {
        use MemoryAccessKind::*;
        let one =
            |kind, space, address, size| smallvec::smallvec![MemoryAccess { kind, space, address, size }];
        match self {
            Op::Load(l) => one(Read, l.space, l.address, l.ty.bytes() * l.dsts.len() as u32),
            Op::Store(s) => one(Write, s.space, s.address, s.ty.bytes() * s.srcs.len() as u32),
            Op::Atomic(a) => one(Atomic, a.space, a.address, a.ty.bytes() * a.a.len() as u32),
            Op::AsyncCopy { dst, src, size, .. } => smallvec::smallvec![
                MemoryAccess { kind: Read, space: Space::Global, address: *src, size: *size },
                MemoryAccess { kind: Write, space: Space::Shared, address: *dst, size: *size },
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
        Successors { falls_through: !leaves || self.guard.is_some(), targets }
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
            Op::Hint { address: Some(a), .. } => address(a),
            op => op.memory_accesses().iter().for_each(|access| address(&access.address)),
        }
    }
}
