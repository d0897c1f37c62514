//! The parts of instructions that touch memory: loads, stores, atomics, mbarrier objects, hints, calls.

use smallvec::SmallVec;

use super::FunctionId;
use super::inst::{Destinations, Operands};
use super::operands::*;
use super::types::*;

/// A load.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Space; `Param` with the block in the address.
    pub space: Space,
    /// Order and scope.
    pub ordering: Ordering,
    /// Cache operator.
    pub cache: CacheOp,
    /// `.nc`: promised not to be written during the launch.
    pub non_coherent: bool,
    /// `ldu`: promised to be the same address in all lanes.
    pub uniform: bool,
    /// Element type.
    pub ty: Type,
    /// 1, 2, 4 or 8 registers, each at least as wide as `ty` (rule 4).
    pub dsts: Destinations,
    /// Of the first element.
    pub address: Address,
}

/// A store.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// Space; `Param` with the block in the address.
    pub space: Space,
    /// Order and scope.
    pub ordering: Ordering,
    /// Cache operator.
    pub cache: CacheOp,
    /// Element type.
    pub ty: Type,
    /// 1, 2, 4 or 8 operands, each at least as wide as `ty`.
    pub srcs: Operands,
    /// Of the first element.
    pub address: Address,
}

/// An atomic operation: `dst = *address; *address = op(*address, a[, b])`.
#[derive(Clone, Debug, PartialEq)]
pub struct Atomic {
    /// The operation.
    pub op: AtomicOp,
    /// Element type.
    pub ty: Type,
    /// Generic, global or shared.
    pub space: Space,
    /// Order (relaxed if not written) and scope (`.gpu` if not written).
    pub ordering: Ordering,
    /// `.noftz` was written (f16 and bf16 always are; `f32` add flushes on global memory, not on shared).
    pub no_flush: bool,
    /// Old values: empty for `red`, one per element otherwise.
    pub dsts: Destinations,
    /// Of the first element.
    pub address: Address,
    /// First operand: for `cas`, the value to compare with. As many as elements.
    pub a: Operands,
    /// `cas`: the value to store.
    pub b: Option<Operand>,
}

/// Operation of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX modifier of that name")]
pub enum AtomicOp {
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Add,
    /// `old >= a ? 0 : old + 1`
    Inc,
    /// `old == 0 || old > a ? a : old − 1`
    Dec,
    Min,
    Max,
}

/// An operation on an mbarrier object (8 bytes of shared memory).
#[derive(Clone, Debug, PartialEq)]
pub struct Mbarrier {
    /// The operation.
    pub op: MbarrierOp,
    /// Generic or shared.
    pub space: Space,
    /// The object; absent for `PendingCount`.
    pub address: Option<Address>,
    /// State token (64 bits), predicate, or count (32 bits): what the operation gives.
    pub dst: Option<Reg>,
    /// Count of `init`, arrivals of `arrive`, bytes of `expect_tx`/`complete_tx`, 32 bits.
    pub count: Option<Operand>,
    /// State token (64 bits), or for `.parity` the phase parity (32 bits).
    pub state: Option<Operand>,
}

/// What an mbarrier operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variant says what its flags mean")]
pub enum MbarrierOp {
    /// `init`: `count` arrivals complete a phase.
    Init,
    /// `inval`
    Invalidate,
    /// `expect_tx`: `count` more bytes are to come.
    ExpectTx,
    /// `complete_tx`: `count` bytes came.
    CompleteTx,
    /// `arrive`: `count` arrivals, 1 if absent. `drop`: also fewer are expected from then on.
    /// `no_complete`: promised not to complete the phase.
    Arrive { drop: bool, no_complete: bool },
    /// `arrive.expect_tx`: expects `count` bytes, then arrives once.
    ArriveExpectTx { drop: bool },
    /// `test_wait`, `try_wait` (`try_wait` may wait for a while): is the phase complete?
    TestWait { blocking: bool, parity: bool },
    /// `pending_count` of a state token.
    PendingCount,
}

/// Instructions without an effect on results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX instruction of that name")]
pub enum Hint {
    Prefetch,
    Discard,
    ApplyPriority,
    GridDependencyControl,
    SetMaxRegisters,
    /// `pmevent`
    PerformanceEvent,
}

/// A call. Arguments were stored to the caller's `Call` block before; results are loaded from it after.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is called.
    pub target: CallTarget,
    /// Copied from the caller's `Call` block to the callee's `In` block before the call.
    pub args: SmallVec<[ParamCopy; 4]>,
    /// Copied from the callee's `Out` block to the caller's `Call` block after it.
    pub rets: SmallVec<[ParamCopy; 1]>,
    /// `.uni`
    pub uniform: bool,
}

/// What is called.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variant says what its fields are")]
pub enum CallTarget {
    /// A function of this module. If it is not defined, reaching the call is a fault.
    Direct(FunctionId),
    /// A function that the device provides.
    Intrinsic(Intrinsic),
    /// A function pointer (the value [`Symbol::Function`] gave); the callee's blocks must have the
    /// sizes that `args` and `rets` assume. `candidates`: from `.calltargets`, if given.
    Indirect { pointer: Operand, candidates: Option<Box<[FunctionId]>> },
}

/// Functions that a CUDA device provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// `vprintf(format: u64, arguments: u64) -> u32`
    Vprintf,
    /// `__assertfail(message: u64, file: u64, line: u32, function: u64, char_size: u64)`
    AssertFail,
    /// `malloc(size: u64) -> u64`
    Malloc,
    /// `free(pointer: u64)`
    Free,
}

/// Bytes copied between a caller's `Call` block and a callee's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParamCopy {
    /// Index into the caller's [`Function::call_params`](super::Function::call_params).
    pub call_param: u32,
    /// Offset in the caller's `Call` block.
    pub caller_offset: u32,
    /// Offset in the callee's block.
    pub callee_offset: u32,
    /// Bytes.
    pub size: u32,
}
