//! Instructions: one variant of [`Op`] for each family that an executor or an analysis treats alike,
//! with every modifier as a typed field. What the fields are made of stands in `arithmetic`, `memory`,
//! `cooperation`, `operands` and `types`.

use smallvec::SmallVec;

use super::LocationId;
use super::arithmetic::*;
use super::cooperation::*;
use super::memory::*;
use super::operands::*;
use super::types::*;
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
    AddressOf { dst: Reg, symbol: Symbol, offset: i64 },
    /// `mov.b64 d, {a, b}`: concatenates 2, 4 or 8 equal parts, first part in the low bits.
    Pack { dst: Reg, parts: Operands },
    /// `mov.b64 {a, b}, s`: splits into 2, 4 or 8 equal parts, low bits first.
    Unpack { dsts: Destinations, src: Reg },

    // ---- integers ----------------------------------------------------------------------------
    /// Two-operand arithmetic. For `MulWide`, `dst` is twice as wide as `ty`.
    Integer { op: IntegerOp, ty: Type, saturate: bool, dst: Reg, a: Operand, b: Operand },
    /// `a × b + c`. For `Wide`, `c` and `dst` are twice as wide as `ty`.
    MultiplyAdd { part: MulPart, ty: Type, saturate: bool, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `add.cc`, `addc`, `addc.cc`, and the same for `sub`. Not both flags are false.
    Carry { op: CarryOp, ty: Type, carry_in: bool, carry_out: bool, dst: Reg, a: Operand, b: Operand },
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
    SumAbsoluteDifference { ty: Type, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `dp4a`, `dp2a`: dot product of bytes, all registers 32 bits.
    DotProduct { form: DotForm, a_signed: bool, b_signed: bool, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// One operand. `dst` of `Popc`, `Clz` and `Bfind` is 32 bits for any `ty`.
    IntegerUnary { op: IntegerUnaryOp, ty: Type, dst: Reg, a: Operand },
    /// `and`, `or`, `xor`, also of predicates (`ty` is `Pred`).
    Logic { op: BoolOp, ty: Type, dst: Reg, a: Operand, b: Operand },
    /// `lop3`: bit `a·4 + b·2 + c` of `lut`, at each position. With `predicate`, also
    /// `p = (d != 0) op q`, and `dst` may be a sink.
    Lop3 { lut: u8, dst: Option<Reg>, a: Operand, b: Operand, c: Operand, predicate: Option<Lop3Predicate> },
    /// `shl`, `shr` (arithmetic if `ty` is signed). `b` is 32 bits, unsigned; amounts above the width
    /// act as the width.
    Shift { left: bool, ty: Type, dst: Reg, a: Operand, b: Operand },
    /// `shf`: the 64 bits `b:a` (b high) shifted by `c`; left keeps the high word, right the low one.
    FunnelShift { left: bool, range: Range, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `bfe`: `length` bits of `a` from `position` (both 32 bits), sign-extended if `ty` is signed.
    BitFieldExtract { ty: Type, dst: Reg, a: Operand, position: Operand, length: Operand },
    /// `bfi`: `b` with `length` bits from `position` replaced by the low bits of `a`.
    BitFieldInsert { ty: Type, dst: Reg, a: Operand, b: Operand, position: Operand, length: Operand },
    /// `bmsk`: `length` ones from `position`.
    BitMask { range: Range, dst: Reg, position: Operand, length: Operand },
    /// `szext`: the low `length` bits of `a`, sign- or zero-extended by `ty`.
    Extend { range: Range, ty: Type, dst: Reg, a: Operand, length: Operand },
    /// `fns`: position of the `offset`-th set bit of `mask` counted from `base`.
    FindNthSet { dst: Reg, mask: Operand, base: Operand, offset: Operand },
    /// `prmt`: four bytes picked from the eight of `b:a`.
    Permute { mode: PermuteMode, dst: Reg, a: Operand, b: Operand, selector: Operand },

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
    FloatMinMax3 { max: bool, modifiers: FloatModifiers, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `testp`
    TestProperty { property: FloatProperty, ty: Type, dst: Reg, a: Operand },

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
    Select { dst: Reg, a: Operand, b: Operand, predicate: PredicateOperand },
    /// `slct`: `a` where `c >= 0` (`selector_ty` is `S32` or `F32`), else `b`.
    SelectBySign { dst: Reg, a: Operand, b: Operand, selector_ty: Type, flush: bool, c: Operand },

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
    PackSaturate { ty: Type, dst: Reg, a: Operand, b: Operand, c: Option<Operand> },
    /// `cvta`: between an address in `space` and a generic one.
    ConvertAddress { to_generic: bool, space: Space, dst: Reg, src: Operand },
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
    AsyncArrive { space: Space, address: Address, no_increment: bool },
    /// `mbarrier.*`: the 64-bit object at `address`.
    Mbarrier(Box<Mbarrier>),
    /// `membar`, `fence`: orders memory. Proxy fences order nothing here.
    Fence { order: MemoryOrder, scope: Scope, proxy: bool },
    /// `prefetch`, `discard`, `applypriority`, `griddepcontrol`, `setmaxnreg`, `pmevent`:
    /// no effect on results. `discard` leaves contents unspecified; here they stay.
    Hint { what: Hint, address: Option<Address>, space: Space },

    // ---- control -----------------------------------------------------------------------------
    /// `bra`
    Branch { target: u32, uniform: bool },
    /// `brx.idx`: an index past the end is a fault.
    BranchIndexed { index: Operand, targets: Box<[u32]>, uniform: bool },
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
    Vote { mode: VoteMode, mask: Option<Operand>, dst: Reg, source: PredicateOperand },
    /// `match.sync`: lanes of `mask` with an equal `a` (32 or 64 bits by `ty`). `predicate` for `all`.
    Match { all: bool, ty: Type, dst: Option<Reg>, predicate: Option<Reg>, a: Operand, mask: Operand },
    /// `redux.sync`. `modifiers` for `f32` (`.abs`, `.NaN`).
    Reduce { op: ReduceOp, ty: Type, absolute: bool, nan: bool, dst: Reg, a: Operand, mask: Operand },
    /// `activemask`
    ActiveMask { dst: Reg },
    /// `elect.sync`: one lane of `mask` gets a true `predicate`; all get its number in `dst`.
    Elect { dst: Option<Reg>, predicate: Option<Reg>, mask: Operand },

    // ---- matrices ----------------------------------------------------------------------------
    /// `ldmatrix .m8n8 .b16`: `dsts` are 1, 2 or 4 registers of 32 bits.
    LoadMatrix { transpose: bool, space: Space, dsts: Destinations, address: Address },
    /// `stmatrix .m8n8 .b16`.
    StoreMatrix { transpose: bool, space: Space, srcs: Operands, address: Address },
    /// `movmatrix .m8n8 .trans .b16`.
    TransposeMatrix { dst: Reg, src: Operand },
    /// `mma.sync.aligned.mMnNkK.row.col`.
    MatrixMultiply(Box<MatrixMultiply>),

    /// An instruction that is not supported, as written: reaching it is a fault that says so.
    Unsupported(Box<str>),
}
