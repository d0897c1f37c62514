//! What instructions read and write: registers, constants, predicates, symbols, addresses, special
//! registers; and the modifiers that several families share.

use super::types::*;
use super::{FunctionId, VariableId};

/// A virtual register: its declared width, and its slot in the file of [`Reg::class`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg {
    /// Declared width.
    pub width: Width,
    /// Slot.
    pub index: u32,
}

impl Reg {
    /// The register file it lives in.
    pub const fn class(self) -> RegClass {
        self.width.class()
    }
}

/// A value an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A bit pattern, truncated to the operand's width. (128-bit operands are registers.)
    Imm(u64),
}

impl Operand {
    /// The register, if it is one.
    pub const fn reg(self) -> Option<Reg> {
        match self {
            Operand::Reg(r) => Some(r),
            Operand::Imm(_) => None,
        }
    }

    /// The constant, if it is one.
    pub const fn imm(self) -> Option<u64> {
        match self {
            Operand::Reg(_) => None,
            Operand::Imm(v) => Some(v),
        }
    }
}

/// A predicate an instruction reads, possibly negated (`p`, `!p`, or a constant).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredicateOperand {
    /// A predicate register, or `Imm(0)`/`Imm(1)`.
    pub value: Operand,
    /// Is the value negated?
    pub negated: bool,
}

/// The guard of an instruction: `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The predicate register.
    pub predicate: Reg,
    /// `@!p`
    pub negated: bool,
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// No space given: the address is generic.
    Generic,
    /// `.global`
    Global,
    /// `.shared` (`.shared::cta`; `.shared::cluster` too, as a cluster is one block here)
    Shared,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// `.param`: which block is in the address, or, behind a register, a kernel's `In` block.
    Param,
}

/// One of the parameter blocks of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamBlock {
    /// The function's parameters: [`Function::params`](super::Function::params).
    In,
    /// Its return values: [`Function::returns`](super::Function::returns).
    Out,
    /// Arguments and results of calls it makes: [`Function::call_params`](super::Function::call_params).
    Call,
}

/// Something with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A `.global` or `.const` variable: its address in its own space.
    Variable(VariableId),
    /// A static `.shared` variable; its address is [`Variable::shared_offset`](super::Variable::shared_offset).
    Shared(VariableId),
    /// An `.extern .shared` array: its address is
    /// [`SharedLayout::dynamic_offset`](super::SharedLayout::dynamic_offset) of the kernel that was launched.
    DynamicShared(VariableId),
    /// A `.local` variable, index into [`Function::locals`](super::Function::locals): its address is the
    /// start of the activation's frame plus the variable's offset.
    Local(u32),
    /// A parameter, by index into the list of its block.
    Param(ParamBlock, u32),
    /// A function, as a value for indirect calls.
    Function(FunctionId),
}

/// A memory operand: base plus offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// What the offset counts from.
    pub base: AddressBase,
    /// In bytes.
    pub offset: i64,
}

/// The base of a memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressBase {
    /// A 32- or 64-bit register (a 32-bit one is zero-extended).
    Reg(Reg),
    /// A declaration.
    Symbol(Symbol),
    /// Address zero: the offset is the address.
    Absolute,
}

/// Rounding of a floating-point result or of a conversion to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `.rn` / `.rni`: to nearest, ties to even.
    NearestEven,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
    /// `.rz` / `.rzi`: towards zero.
    Zero,
    /// `.rm` / `.rmi`: towards −∞.
    Down,
    /// `.rp` / `.rpi`: towards +∞.
    Up,
}

/// How exact a result is promised to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accuracy {
    /// No modifier. For `add`, `sub`, `mul`: rounds to nearest, and the GPU may contract with a
    /// following add into `fma`.
    Default,
    /// `.rn` and the like: correctly rounded, never contracted.
    Rounded(Rounding),
    /// `.approx`
    Approx,
    /// `.full`: division to 2 ulp over the whole range.
    Full,
}

/// Operation order of a memory access or fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// `.weak`, or nothing.
    Weak,
    /// `.volatile`
    Volatile,
    /// `.mmio` (always relaxed)
    Mmio,
    /// `.relaxed`; what `atom` and `red` are without a modifier
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcquireRelease,
    /// `.sc`
    SequentiallyConsistent,
}

/// Which threads an ordered access synchronises with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `.cta`
    Cta,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Gpu,
    /// `.sys`
    System,
}

/// Order and scope of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ordering {
    /// The order.
    pub order: MemoryOrder,
    /// The scope, if written.
    pub scope: Option<Scope>,
}

/// Cache operator of a load or store. Has no effect on results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX operator of that name")]
pub enum CacheOp {
    Default,
    Ca,
    Cg,
    Cs,
    Lu,
    Cv,
    Wb,
    Wt,
}

/// Comparison of `set` and `setp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `.eq`
    Eq,
    /// `.ne`
    Ne,
    /// `.lt`
    Lt,
    /// `.le`
    Le,
    /// `.gt`
    Gt,
    /// `.ge`
    Ge,
    /// `.lo`: unsigned `<`
    Lo,
    /// `.ls`: unsigned `<=`
    Ls,
    /// `.hi`: unsigned `>`
    Hi,
    /// `.hs`: unsigned `>=`
    Hs,
    /// `.equ`: equal or unordered
    EqU,
    /// `.neu`: not equal or unordered
    NeU,
    /// `.ltu`
    LtU,
    /// `.leu`
    LeU,
    /// `.gtu`
    GtU,
    /// `.geu`
    GeU,
    /// `.num`: neither is NaN
    Num,
    /// `.nan`: one is NaN
    Nan,
}

/// Boolean operator of `set`, `setp`, `lop3` and `and`/`or`/`xor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the name says it")]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// Out-of-range handling of a position or amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// `.clamp`: amounts above the width act as the width.
    Clamp,
    /// `.wrap`: amounts are taken modulo the width.
    Wrap,
}

/// A special register. Those of clusters read as in a cluster of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX register of that name; axes are 0, 1, 2")]
pub enum SpecialReg {
    Tid(Axis),
    NTid(Axis),
    CtaId(Axis),
    NCtaId(Axis),
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    /// Low 32 bits.
    Clock,
    /// High 32 bits.
    ClockHi,
    Clock64,
    Pm(u8),
    /// 64 bits, nanoseconds.
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    DynamicSmemSize,
    TotalSmemSize,
    AggregateSmemSize,
    ReservedSmemOffsetBegin,
    ReservedSmemOffsetEnd,
    ReservedSmemOffsetCap,
    EnvReg(u8),
    ClusterId(Axis),
    NClusterId(Axis),
    ClusterCtaId(Axis),
    ClusterNCtaId(Axis),
    ClusterCtaRank,
    ClusterNCtaRank,
    IsExplicitCluster,
    CurrentGraphExec,
}

/// Axis of an index or extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the name says it")]
pub enum Axis {
    X,
    Y,
    Z,
}
