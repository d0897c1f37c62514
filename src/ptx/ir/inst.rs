//! Instructions: one variant of [`Op`] for each family that an executor or an analysis treats alike,
//! with every modifier as a typed field. Operand words stand in `types`.

use smallvec::SmallVec;

use super::types::*;
use super::{FunctionId, LocationId};
use crate::ptx::source::Span;

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Executed only where this holds.
    pub guard: Option<Guard>,
    /// What it does.
    pub op: Op,
    /// The instruction in the text, guard included.
    pub span: Span,
    /// Its line in the text, from 1.
    pub line: u32,
    /// The `.loc` in force.
    pub location: Option<LocationId>,
}

/// Registers of a vector operand; `None` is the sink `_`.
pub type Destinations = SmallVec<[Option<Reg>; 4]>;
/// Elements of a vector operand.
pub type Operands = SmallVec<[Operand; 4]>;

/// What an instruction does. `dst` is written, everything else is read.
///
/// Unless a variant says otherwise, all operands have the width of `ty`.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "the variant says what its fields are: the operands of the instruction, in order"
)]
pub enum Op {
    // ---- moves -------------------------------------------------------------------------------
    /// `mov`: a copy between registers of one width, or a constant. Also of predicates.
    Mov { dst: Reg, src: Operand },
    /// `mov` from a special register. The value is truncated or zero-extended to `dst`.
    ReadSpecial { dst: Reg, special: SpecialReg },
    /// `mov` of the address of a declaration, in the declaration's own space.
    AddressOf {
        dst: Reg,
        symbol: Symbol,
        offset: i64,
    },
    /// `mov.b64 d, {a, b}`: concatenates 2, 4 or 8 equal parts, first part in the low bits.
    Pack { dst: Reg, parts: Operands },
    /// `mov.b64 {a, b}, s`: splits into 2, 4 or 8 equal parts, low bits first.
    Unpack { dsts: Destinations, src: Reg },

    // ---- integers ----------------------------------------------------------------------------
    /// Two-operand arithmetic. For `MulWide`, `dst` is twice as wide as `ty`.
    Integer {
        op: IntegerOp,
        ty: Type,
        saturate: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `a × b + c`. For `Wide`, `c` and `dst` are twice as wide as `ty`.
    MultiplyAdd {
        part: MulPart,
        ty: Type,
        saturate: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `add.cc`, `addc`, `addc.cc`, and the same for `sub`. Not both flags are false.
    Carry {
        op: CarryOp,
        ty: Type,
        carry_in: bool,
        carry_out: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `mad.cc`, `madc`, `madc.cc` (`Lo` or `Hi`). Not both flags are false.
    MultiplyAddCarry {
        part: MulPart,
        ty: Type,
        carry_in: bool,
        carry_out: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `sad`: `c + |a − b|`.
    SumAbsoluteDifference {
        ty: Type,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `dp4a`, `dp2a`: dot product of bytes, all registers 32 bits.
    DotProduct {
        form: DotForm,
        a_signed: bool,
        b_signed: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// One operand. `dst` of `Popc`, `Clz` and `Bfind` is 32 bits for any `ty`.
    IntegerUnary {
        op: IntegerUnaryOp,
        ty: Type,
        dst: Reg,
        a: Operand,
    },
    /// `and`, `or`, `xor`, also of predicates (`ty` is `Pred`).
    Logic {
        op: BoolOp,
        ty: Type,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `lop3`: bit `a·4 + b·2 + c` of `lut`, at each position. With `predicate`, also
    /// `p = (d != 0) op q`, and `dst` may be a sink.
    Lop3 {
        lut: u8,
        dst: Option<Reg>,
        a: Operand,
        b: Operand,
        c: Operand,
        predicate: Option<Lop3Predicate>,
    },
    /// `shl`, `shr` (arithmetic if `ty` is signed). `b` is 32 bits, unsigned; amounts above the width
    /// act as the width.
    Shift {
        left: bool,
        ty: Type,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `shf`: the 64 bits `b:a` (b high) shifted by `c`; left keeps the high word, right the low one.
    FunnelShift {
        left: bool,
        range: Range,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `bfe`: `length` bits of `a` from `position` (both 32 bits), sign-extended if `ty` is signed.
    BitFieldExtract {
        ty: Type,
        dst: Reg,
        a: Operand,
        position: Operand,
        length: Operand,
    },
    /// `bfi`: `b` with `length` bits from `position` replaced by the low bits of `a`.
    BitFieldInsert {
        ty: Type,
        dst: Reg,
        a: Operand,
        b: Operand,
        position: Operand,
        length: Operand,
    },
    /// `bmsk`: `length` ones from `position`.
    BitMask {
        range: Range,
        dst: Reg,
        position: Operand,
        length: Operand,
    },
    /// `szext`: the low `length` bits of `a`, sign- or zero-extended by `ty`.
    Extend {
        range: Range,
        ty: Type,
        dst: Reg,
        a: Operand,
        length: Operand,
    },
    /// `fns`: position of the `offset`-th set bit of `mask` counted from `base`.
    FindNthSet {
        dst: Reg,
        mask: Operand,
        base: Operand,
        offset: Operand,
    },
    /// `prmt`: four bytes picked from the eight of `b:a`.
    Permute {
        mode: PermuteMode,
        dst: Reg,
        a: Operand,
        b: Operand,
        selector: Operand,
    },

    // ---- floating point ----------------------------------------------------------------------
    /// Two operands. `ty` is `f16 f16x2 bf16 bf16x2 f32 f32x2 f64`, or mixed by `narrow`.
    Float {
        op: FloatOp,
        ty: Type,
        accuracy: Accuracy,
        modifiers: FloatModifiers,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `fma` (and `mad` of floats): `a × b + c`, one rounding.
    FloatMultiplyAdd {
        ty: Type,
        rounding: Rounding,
        modifiers: FloatModifiers,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// One operand.
    FloatUnary {
        op: FloatUnaryOp,
        ty: Type,
        accuracy: Accuracy,
        modifiers: FloatModifiers,
        dst: Reg,
        a: Operand,
    },
    /// `min`/`max` of three `f32`.
    FloatMinMax3 {
        max: bool,
        modifiers: FloatModifiers,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `testp`
    TestProperty {
        property: FloatProperty,
        ty: Type,
        dst: Reg,
        a: Operand,
    },

    // ---- comparison and selection ------------------------------------------------------------
    /// `setp`: `p = (a cmp b) op c`, `q = !(a cmp b) op c`. For packed types, `p` is the low half's
    /// result and `q` the high half's.
    SetPredicate {
        comparison: Comparison,
        ty: Type,
        flush: bool,
        combine: Option<(BoolOp, PredicateOperand)>,
        dst: Option<Reg>,
        other: Option<Reg>,
        a: Operand,
        b: Operand,
    },
    /// `set`: all ones (integers) or 1.0 (floats) of `dst_ty` where the comparison holds, else 0. For
    /// packed types each half on its own.
    Set {
        comparison: Comparison,
        dst_ty: Type,
        ty: Type,
        flush: bool,
        combine: Option<(BoolOp, PredicateOperand)>,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `selp`: `a` where the predicate holds, else `b`. Also `mov`-like for any width.
    Select {
        dst: Reg,
        a: Operand,
        b: Operand,
        predicate: PredicateOperand,
    },
    /// `slct`: `a` where `c >= 0` (`selector_ty` is `S32` or `F32`), else `b`.
    SelectBySign {
        dst: Reg,
        a: Operand,
        b: Operand,
        selector_ty: Type,
        flush: bool,
        c: Operand,
    },

    // ---- conversion --------------------------------------------------------------------------
    /// `cvt` of one value. `src` may be wider than `src_ty`, `dst` wider than `dst_ty` (rule 4).
    Convert(Box<Convert>),
    /// `cvt` of two `f32` to a packed pair: `a` to the high half, `b` to the low half.
    ConvertPair {
        dst_ty: Type,
        rounding: Rounding,
        flush: bool,
        relu: bool,
        saturate_finite: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `cvt.pack.sat`: `a` and `b` (S32) saturated to `ty` and packed, `a` above `b`; for 8 bits the
    /// low half of `c` moves to the high half.
    PackSaturate {
        ty: Type,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Option<Operand>,
    },
    /// `cvta`: between an address in `space` and a generic one.
    ConvertAddress {
        to_generic: bool,
        space: Space,
        dst: Reg,
        src: Operand,
    },
    /// `isspacep`: does the generic address `a` lie in `space`?
    IsSpace { space: Space, dst: Reg, a: Operand },

    // ---- memory ------------------------------------------------------------------------------
    /// `ld`, `ldu`.
    Load(Box<Load>),
    /// `st`.
    Store(Box<Store>),
    /// `atom`, and `red` with no destination.
    Atomic(Box<Atomic>),
    /// `cp.async`: `size` bytes from global to shared memory, of which `source_size` are read and the
    /// rest zero. Complete when the group or mbarrier says so.
    AsyncCopy {
        dst: Address,
        src: Address,
        size: u32,
        source_size: Option<Operand>,
        /// The source is not read, zeros are written.
        ignore_source: Option<PredicateOperand>,
    },
    /// `cp.async.commit_group`
    AsyncCommit,
    /// `cp.async.wait_group n`, `cp.async.wait_all` (`None`).
    AsyncWait { pending: Option<u32> },
    /// `cp.async.mbarrier.arrive`: triggers an arrival once the thread's copies are complete.
    AsyncArrive {
        space: Space,
        address: Address,
        no_increment: bool,
    },
    /// `mbarrier.*`: the 64-bit object at `address`.
    Mbarrier(Box<Mbarrier>),
    /// `membar`, `fence`: orders memory. Proxy fences order nothing here.
    Fence {
        order: MemoryOrder,
        scope: Scope,
        proxy: bool,
    },
    /// `prefetch`, `discard`, `applypriority`, `griddepcontrol`, `setmaxnreg`, `brkpt`-less pragmas:
    /// no effect on results. `discard` leaves contents unspecified; here they stay.
    Hint {
        what: Hint,
        address: Option<Address>,
        space: Space,
    },

    // ---- control -----------------------------------------------------------------------------
    /// `bra`
    Branch { target: u32, uniform: bool },
    /// `brx.idx`: an index past the end is a fault.
    BranchIndexed {
        index: Operand,
        targets: Box<[u32]>,
        uniform: bool,
    },
    /// `call`
    Call(Box<Call>),
    /// `ret`: from a kernel, the same as `exit`.
    Return,
    /// `exit`
    Exit,
    /// `trap`
    Trap,
    /// `brkpt`: no debugger, so it goes on.
    Breakpoint,
    /// `nanosleep`: `duration` in nanoseconds, 32 bits.
    NanoSleep { duration: Operand },

    // ---- block and warp ----------------------------------------------------------------------
    /// `bar.sync`, `barrier.cta.arrive`, …
    Barrier(Barrier),
    /// `bar.warp.sync`
    WarpBarrier { mask: Operand },
    /// `shfl.sync` (`mask`), `shfl` (none). `predicate` is true where the source lane was in range.
    Shuffle {
        mode: ShuffleMode,
        mask: Option<Operand>,
        dst: Option<Reg>,
        predicate: Option<Reg>,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `vote.sync` (`mask`), `vote` (none). `dst` is a predicate, for `Ballot` 32 bits.
    Vote {
        mode: VoteMode,
        mask: Option<Operand>,
        dst: Reg,
        source: PredicateOperand,
    },
    /// `match.sync`: lanes of `mask` with an equal `a` (32 or 64 bits by `ty`). `predicate` for `all`.
    Match {
        all: bool,
        ty: Type,
        dst: Option<Reg>,
        predicate: Option<Reg>,
        a: Operand,
        mask: Operand,
    },
    /// `redux.sync`. `modifiers` for `f32` (`.abs`, `.NaN`).
    Reduce {
        op: ReduceOp,
        ty: Type,
        absolute: bool,
        nan: bool,
        dst: Reg,
        a: Operand,
        mask: Operand,
    },
    /// `activemask`
    ActiveMask { dst: Reg },
    /// `elect.sync`: one lane of `mask` gets a true `predicate`; all get its number in `dst`.
    Elect {
        dst: Option<Reg>,
        predicate: Option<Reg>,
        mask: Operand,
    },

    // ---- matrices ----------------------------------------------------------------------------
    /// `ldmatrix .m8n8 .b16`: `dsts` are 1, 2 or 4 registers of 32 bits.
    LoadMatrix {
        transpose: bool,
        space: Space,
        dsts: Destinations,
        address: Address,
    },
    /// `stmatrix .m8n8 .b16`.
    StoreMatrix {
        transpose: bool,
        space: Space,
        srcs: Operands,
        address: Address,
    },
    /// `movmatrix .m8n8 .trans .b16`.
    TransposeMatrix { dst: Reg, src: Operand },
    /// `mma.sync.aligned.mMnNkK.row.col`.
    MatrixMultiply(Box<MatrixMultiply>),

    /// An instruction that is not supported, as written: reaching it is a fault that says so.
    Unsupported(Box<str>),
}

/// Two-operand integer arithmetic. `U16x2` and `S16x2` work on each half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "each variant is the PTX instruction of that name"
)]
pub enum IntegerOp {
    Add,
    Sub,
    MulLo,
    MulHi,
    MulWide,
    /// `mul24.lo`: of the low 24 bits, low 32 bits of the product.
    Mul24Lo,
    /// `mul24.hi`: of the low 24 bits, bits 16..48 of the product.
    Mul24Hi,
    /// Division by zero gives an unspecified value, never a fault (a report in strict mode).
    Div,
    Rem,
    Min,
    Max,
    /// `min.relu`: negative results become 0.
    MinRelu,
    /// `max.relu`
    MaxRelu,
}

/// Which part of a product is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX modifier of that name")]
pub enum MulPart {
    Lo,
    Hi,
    Wide,
    /// `mad24.lo`
    Lo24,
    /// `mad24.hi`
    Hi24,
}

/// Operation of a carry chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the name says it")]
pub enum CarryOp {
    Add,
    Sub,
}

/// Form of a byte dot product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DotForm {
    /// `dp4a`: four bytes by four bytes.
    Dp4a,
    /// `dp2a.lo`: two halfwords by the two low bytes.
    Dp2aLo,
    /// `dp2a.hi`: two halfwords by the two high bytes.
    Dp2aHi,
}

/// One-operand integer operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "each variant is the PTX instruction of that name"
)]
pub enum IntegerUnaryOp {
    Neg,
    Abs,
    Not,
    /// `cnot`: 1 for zero, else 0.
    CNot,
    Popc,
    Clz,
    Brev,
    /// Highest bit that differs from the sign, from bit 0; 0xffff_ffff if none.
    Bfind,
    /// The same as a left-shift amount.
    BfindShift,
}

/// The predicate of `lop3.BoolOp.b32 d|p, …, q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lop3Predicate {
    /// `Or` or `And`.
    pub op: BoolOp,
    /// `p`
    pub dst: Reg,
    /// `q`
    pub q: PredicateOperand,
}

/// Selection of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermuteMode {
    /// No mode: four selectors of four bits, the top bit of each replicates the byte's sign.
    Default,
    /// `.f4e`
    Forward4,
    /// `.b4e`
    Backward4,
    /// `.rc8`
    Replicate8,
    /// `.ecl`
    EdgeClampLeft,
    /// `.ecr`
    EdgeClampRight,
    /// `.rc16`
    Replicate16,
}

/// Modifiers of floating-point arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloatModifiers {
    /// `.ftz`: subnormal inputs and results become zero of the same sign.
    pub flush: bool,
    /// `.sat`: the result is clamped to [0, 1], NaN to +0.
    pub saturate: bool,
    /// `.relu`: negative results become 0, NaN becomes canonical NaN.
    pub relu: bool,
    /// `.NaN` of `min`/`max`: a NaN operand gives canonical NaN.
    pub nan: bool,
    /// `.xorsign.abs` of `min`/`max`: of magnitudes, with the sign bits' exclusive or.
    pub xor_sign_abs: bool,
    /// `.abs` of three-operand `min`/`max`.
    pub abs: bool,
    /// `add`, `sub`, `fma` with `f32` result and 16-bit inputs: the input type (`b` stays as `ty` says
    /// for `add`, `c` for `fma`).
    pub narrow: Option<NarrowFloat>,
}

/// Input type of mixed-precision arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the name says it")]
pub enum NarrowFloat {
    F16,
    BF16,
}

/// Two-operand floating-point operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "each variant is the PTX instruction of that name"
)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    /// `copysign d, a, b`: magnitude of `b`, sign of `a`.
    CopySign,
}

/// One-operand floating-point operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "each variant is the PTX instruction of that name"
)]
pub enum FloatUnaryOp {
    Neg,
    Abs,
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
}

/// What `testp` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX modifier of that name")]
pub enum FloatProperty {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// A `cvt` of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convert {
    /// Type of the result.
    pub dst_ty: Type,
    /// Type of the source.
    pub src_ty: Type,
    /// Rounding as written: to a representable value for float results, to an integer for
    /// integer results and for float → same float with `.rni .rzi .rmi .rpi` (`to_integer`).
    pub rounding: Option<Rounding>,
    /// Was the rounding an integer one (`.rni` …)?
    pub to_integer: bool,
    /// `.ftz`
    pub flush: bool,
    /// `.sat`: integers clamp to the destination's range, floats to [0, 1].
    pub saturate: bool,
    /// `.satfinite`: overflow gives the largest finite value, NaN its canonical form.
    pub saturate_finite: bool,
    /// `.relu`
    pub relu: bool,
    /// Destination.
    pub dst: Reg,
    /// Source.
    pub src: Operand,
}

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
#[expect(
    missing_docs,
    reason = "each variant is the PTX instruction of that name"
)]
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
    Indirect {
        pointer: Operand,
        candidates: Option<Box<[FunctionId]>>,
    },
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

/// A block barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// What it does.
    pub op: BarrierOp,
    /// `bar`, or `.aligned`: all lanes of the warp must execute the same one together.
    pub aligned: bool,
    /// Barrier number, 0 to 15, 32 bits.
    pub id: Operand,
    /// Number of threads, a multiple of 32; all of the block if absent.
    pub threads: Option<Operand>,
}

/// What a barrier does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierOp {
    /// Waits.
    Sync,
    /// Arrives without waiting.
    Arrive,
    /// `.red`: waits and reduces a predicate over the threads.
    Reduce {
        /// How.
        op: BarrierReduction,
        /// A predicate; for `Popc` a 32-bit register.
        dst: Reg,
        /// The predicate reduced.
        source: PredicateOperand,
    },
    /// `barrier.cluster.arrive`: in a cluster of one block, of all its threads.
    ClusterArrive,
    /// `barrier.cluster.wait`
    ClusterWait,
}

/// Reduction of `bar.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX modifier of that name")]
pub enum BarrierReduction {
    Popc,
    And,
    Or,
}

/// Mode of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX modifier of that name")]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Mode of `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX modifier of that name")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// Operation of `redux.sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX modifier of that name")]
pub enum ReduceOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// A warp-wide matrix product `d = a × b + c` on fragments.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixMultiply {
    /// Rows of `a` and `d`.
    pub m: u32,
    /// Columns of `b` and `d`.
    pub n: u32,
    /// Columns of `a`, rows of `b`.
    pub k: u32,
    /// `F16`, `F32`, `S32`, `F64`.
    pub d_ty: Type,
    /// `F16`, `BF16`, `TF32`, `S8`, `U8`, `S4`, `U4`, `F64`.
    pub a_ty: Type,
    /// As `a_ty`; for integers the signs may differ.
    pub b_ty: Type,
    /// As `d_ty`.
    pub c_ty: Type,
    /// `.satfinite`: integer accumulation saturates.
    pub saturate: bool,
    /// Result fragment.
    pub d: Destinations,
    /// Fragment of `a`, row-major.
    pub a: Operands,
    /// Fragment of `b`, column-major.
    pub b: Operands,
    /// Fragment of `c`.
    pub c: Operands,
}

impl MatrixMultiply {
    /// Registers that the fragments of `a`, `b` and of `c`/`d` take in each lane.
    pub fn fragment_registers(&self) -> [usize; 3] {
        let words = |elements: u32, ty: Type| {
            // a fragment is spread evenly over 32 lanes; elements narrower than 32 bits are packed
            let bits = elements * ty.bits() / 32;
            bits.div_ceil(if ty.bits() == 64 { 64 } else { 32 }) as usize
        };
        [
            words(self.m * self.k, self.a_ty),
            words(self.k * self.n, self.b_ty),
            words(self.m * self.n, self.c_ty),
        ]
    }
}
