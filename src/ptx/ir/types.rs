//! The small words of an instruction: types, registers, operands, addresses and modifiers.
//! No instruction and no declaration belongs here.

use super::{FunctionId, VariableId};

/// A PTX scalar or packed type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX type of that name")]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    BF16,
    TF32,
    F32,
    F64,
    F16x2,
    BF16x2,
    F32x2,
    U16x2,
    S16x2,
    /// 8-bit floats, only in packed conversions and matrix operations.
    E4M3,
    E5M2,
    E4M3x2,
    E5M2x2,
    /// 4-bit and 1-bit integers, only in matrix operations.
    U4,
    S4,
    B1,
}

/// How the bits of a type are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `.pred`
    Predicate,
    /// `.bN`: no interpretation.
    Bits,
    /// `.uN`
    Unsigned,
    /// `.sN`
    Signed,
    /// `.fN`, `.bf16`, `.tf32` and the packed forms.
    Float,
}

impl Type {
    /// Size of a value in bits; 1 for predicates.
    pub const fn bits(self) -> u32 {
        use Type::*;
        match self {
            Pred | B1 => 1,
            U4 | S4 => 4,
            B8 | U8 | S8 | E4M3 | E5M2 => 8,
            B16 | U16 | S16 | F16 | BF16 | E4M3x2 | E5M2x2 => 16,
            B32 | U32 | S32 | TF32 | F32 | F16x2 | BF16x2 | U16x2 | S16x2 => 32,
            B64 | U64 | S64 | F64 | F32x2 => 64,
            B128 => 128,
        }
    }

    /// Size of a value in memory in bytes, at least 1.
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// How the bits are read.
    pub const fn kind(self) -> TypeKind {
        use Type::*;
        match self {
            Pred => TypeKind::Predicate,
            B1 | B8 | B16 | B32 | B64 | B128 => TypeKind::Bits,
            U4 | U8 | U16 | U32 | U64 | U16x2 => TypeKind::Unsigned,
            S4 | S8 | S16 | S32 | S64 | S16x2 => TypeKind::Signed,
            F16 | BF16 | TF32 | F32 | F64 | F16x2 | BF16x2 | F32x2 | E4M3 | E5M2 | E4M3x2
            | E5M2x2 => TypeKind::Float,
        }
    }

    /// `.sN`?
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), TypeKind::Signed)
    }

    /// A floating-point type, packed ones included?
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), TypeKind::Float)
    }

    /// Width of the register that holds a value exactly, if there is one.
    pub const fn width(self) -> Option<Width> {
        match self.bits() {
            1 if matches!(self, Type::Pred) => Some(Width::Predicate),
            8 => Some(Width::B8),
            16 => Some(Width::B16),
            32 => Some(Width::B32),
            64 => Some(Width::B64),
            128 => Some(Width::B128),
            _ => None,
        }
    }
}

/// Declared width of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the number says it")]
pub enum Width {
    Predicate,
    B8,
    B16,
    B32,
    B64,
    B128,
}

impl Width {
    /// Bits of a value; 1 for predicates.
    pub const fn bits(self) -> u32 {
        match self {
            Width::Predicate => 1,
            Width::B8 => 8,
            Width::B16 => 16,
            Width::B32 => 32,
            Width::B64 => 64,
            Width::B128 => 128,
        }
    }

    /// The register file it lives in.
    pub const fn class(self) -> RegClass {
        match self {
            Width::Predicate => RegClass::Predicate,
            Width::B8 | Width::B16 | Width::B32 => RegClass::Slot32,
            Width::B64 => RegClass::Slot64,
            Width::B128 => RegClass::Slot128,
        }
    }
}

/// A register file. Registers of one class have dense, separate indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegClass {
    /// Predicates.
    Predicate,
    /// 8-, 16- and 32-bit registers.
    Slot32,
    /// 64-bit registers.
    Slot64,
    /// 128-bit registers.
    Slot128,
}

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
#[expect(
    missing_docs,
    reason = "each variant is the PTX register of that name; axes are 0, 1, 2"
)]
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

macro_rules! type_names {
    ($($variant:ident $name:literal),* $(,)?) => {
        impl Type {
            /// The type that a modifier without its dot names.
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name { $($name => Self::$variant,)* _ => return None })
            }

            /// The modifier without its dot.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

type_names! {
    Pred "pred", B1 "b1", B8 "b8", B16 "b16", B32 "b32", B64 "b64", B128 "b128",
    U4 "u4", U8 "u8", U16 "u16", U32 "u32", U64 "u64", S4 "s4", S8 "s8", S16 "s16", S32 "s32", S64 "s64",
    F16 "f16", BF16 "bf16", TF32 "tf32", F32 "f32", F64 "f64",
    F16x2 "f16x2", BF16x2 "bf16x2", F32x2 "f32x2", U16x2 "u16x2", S16x2 "s16x2",
    E4M3 "e4m3", E5M2 "e5m2", E4M3x2 "e4m3x2", E5M2x2 "e5m2x2",
}
