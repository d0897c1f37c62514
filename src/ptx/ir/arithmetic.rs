//! The operations and modifiers of arithmetic, comparison and conversion.

use super::operands::*;
use super::types::*;

/// Two-operand integer arithmetic. `U16x2` and `S16x2` work on each half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the PTX instruction of that name")]
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
#[expect(missing_docs, reason = "each variant is the PTX instruction of that name")]
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
    /// `add.f32.f16` and the like: the result is `f32`, and `a` (for `fma`, `a` and `b`) are of this
    /// 16-bit type.
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
#[expect(missing_docs, reason = "each variant is the PTX instruction of that name")]
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
#[expect(missing_docs, reason = "each variant is the PTX instruction of that name")]
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
