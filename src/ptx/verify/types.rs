//! Which types each operation has. A type outside of these is refused when the module is loaded, so an
//! executor needs no other case.

use crate::ptx::ir::Type::{self, *};
use crate::ptx::ir::*;

/// `.u16 .s16 .u32 .s32 .u64 .s64`
const INTEGERS: &[Type] = &[U16, S16, U32, S32, U64, S64];
const WORDS: &[Type] = &[U32, S32];
const PAIRS: &[Type] = &[U16x2, S16x2];
const BITS: &[Type] = &[B16, B32, B64];
const ARITHMETIC: &[Type] = &[F16, F16x2, BF16, BF16x2, F32, F32x2, F64];
const HALVES: &[Type] = &[F16, F16x2, BF16, BF16x2];
const FLOATS: &[Type] = &[F32, F64];

/// Is `ty` in one of the lists?
fn among(ty: Type, lists: &[&[Type]]) -> bool {
    lists.iter().any(|list| list.contains(&ty))
}

pub(super) fn integer(op: IntegerOp, ty: Type, saturate: bool) -> bool {
    if saturate && (ty != S32 || !matches!(op, IntegerOp::Add | IntegerOp::Sub)) {
        return false;
    }
    match op {
        IntegerOp::Add | IntegerOp::Sub | IntegerOp::Min | IntegerOp::Max => among(ty, &[INTEGERS, PAIRS]),
        IntegerOp::MinRelu | IntegerOp::MaxRelu => matches!(ty, S32 | S16x2),
        IntegerOp::MulLo | IntegerOp::MulHi | IntegerOp::Div | IntegerOp::Rem => among(ty, &[INTEGERS]),
        IntegerOp::MulWide => matches!(ty, U16 | S16 | U32 | S32),
        IntegerOp::Mul24Lo | IntegerOp::Mul24Hi => among(ty, &[WORDS]),
    }
}

pub(super) fn multiply_add(part: MulPart, ty: Type, saturate: bool) -> bool {
    if saturate && (ty != S32 || !matches!(part, MulPart::Hi | MulPart::Hi24)) {
        return false;
    }
    match part {
        MulPart::Lo | MulPart::Hi => among(ty, &[INTEGERS]),
        MulPart::Wide => matches!(ty, U16 | S16 | U32 | S32),
        MulPart::Lo24 | MulPart::Hi24 => among(ty, &[WORDS]),
    }
}

pub(super) fn carry(ty: Type) -> bool {
    matches!(ty, U32 | S32 | U64 | S64)
}

pub(super) fn plain_integer(ty: Type) -> bool {
    among(ty, &[INTEGERS])
}

pub(super) fn integer_unary(op: IntegerUnaryOp, ty: Type) -> bool {
    match op {
        IntegerUnaryOp::Neg => among(ty, &[INTEGERS, BITS]),
        IntegerUnaryOp::Abs => matches!(ty, S16 | S32 | S64),
        IntegerUnaryOp::Not => ty == Pred || among(ty, &[BITS]),
        IntegerUnaryOp::CNot => among(ty, &[BITS]),
        IntegerUnaryOp::Popc | IntegerUnaryOp::Clz | IntegerUnaryOp::Brev => {
            matches!(ty, B32 | B64)
        }
        IntegerUnaryOp::Bfind | IntegerUnaryOp::BfindShift => carry(ty),
    }
}

pub(super) fn logic(ty: Type) -> bool {
    ty == Pred || among(ty, &[BITS])
}

pub(super) fn shift(ty: Type) -> bool {
    among(ty, &[BITS, INTEGERS])
}

pub(super) fn float(op: FloatOp, ty: Type) -> bool {
    match op {
        FloatOp::Add | FloatOp::Sub | FloatOp::Mul => among(ty, &[ARITHMETIC]),
        FloatOp::Min | FloatOp::Max => among(ty, &[HALVES, FLOATS]),
        FloatOp::Div | FloatOp::CopySign => among(ty, &[FLOATS]),
    }
}

pub(super) fn fma(ty: Type) -> bool {
    among(ty, &[ARITHMETIC])
}

pub(super) fn float_unary(op: FloatUnaryOp, ty: Type) -> bool {
    match op {
        FloatUnaryOp::Neg | FloatUnaryOp::Abs => among(ty, &[HALVES, FLOATS]),
        FloatUnaryOp::Rcp | FloatUnaryOp::Sqrt | FloatUnaryOp::Rsqrt => among(ty, &[FLOATS]),
        FloatUnaryOp::Sin | FloatUnaryOp::Cos | FloatUnaryOp::Lg2 => ty == F32,
        FloatUnaryOp::Ex2 | FloatUnaryOp::Tanh => ty == F32 || among(ty, &[HALVES]),
    }
}

/// Is the comparison one of the type's?
pub(super) fn comparison(comparison: Comparison, ty: Type) -> bool {
    use Comparison::*;
    let known = among(ty, &[BITS, INTEGERS, HALVES, FLOATS]);
    known
        && match (comparison, ty.kind()) {
            (Eq | Ne, _) => true,
            (Lt | Le | Gt | Ge, kind) => kind != TypeKind::Bits,
            (Lo | Ls | Hi | Hs, kind) => kind == TypeKind::Unsigned,
            (EqU | NeU | LtU | LeU | GtU | GeU | Num | Nan, kind) => kind == TypeKind::Float,
        }
}

/// Result types of `set`.
pub(super) fn set_result(dst_ty: Type, ty: Type) -> bool {
    match ty {
        F16x2 => matches!(dst_ty, F16x2 | U32 | S32),
        BF16x2 => matches!(dst_ty, BF16x2 | U32 | S32),
        F16 | BF16 => dst_ty == ty || matches!(dst_ty, U16 | S16 | U32 | S32 | F32),
        _ => matches!(dst_ty, U32 | S32 | F32 | F16 | BF16),
    }
}

/// Is there such a conversion of one value?
pub(super) fn convert(dst: Type, src: Type) -> bool {
    let scalar = |ty| among(ty, &[INTEGERS, FLOATS]) || matches!(ty, U8 | S8 | F16 | BF16);
    match (dst, src) {
        (TF32, F32) => true,
        (F16x2, E4M3x2 | E5M2x2) => true,
        (E4M3x2 | E5M2x2, F16x2) => true,
        _ => scalar(dst) && scalar(src),
    }
}

/// Types of one element in memory.
pub(super) fn memory(ty: Type) -> bool {
    use Type::*;
    matches!(
        ty,
        B8 | B16
            | B32
            | B64
            | B128
            | U8
            | U16
            | U32
            | U64
            | S8
            | S16
            | S32
            | S64
            | F16
            | BF16
            | F16x2
            | BF16x2
            | F32
            | F64
    )
}

pub(super) fn atomic(op: AtomicOp, ty: Type, elements: usize) -> bool {
    if elements > 1 {
        let most = match ty {
            F16 | BF16 => 8,
            F16x2 | BF16x2 | F32 => 4,
            _ => 0,
        };
        let halves = ty != F32;
        return elements <= most
            && match op {
                AtomicOp::Add => true,
                AtomicOp::Min | AtomicOp::Max => halves,
                _ => false,
            };
    }
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => matches!(ty, B32 | B64),
        AtomicOp::Exchange => matches!(ty, B32 | B64 | B128),
        AtomicOp::CompareAndSwap => matches!(ty, B16 | B32 | B64 | B128),
        AtomicOp::Add => carry(ty) || among(ty, &[HALVES, FLOATS]),
        AtomicOp::Inc | AtomicOp::Dec => ty == U32,
        AtomicOp::Min | AtomicOp::Max => carry(ty) || among(ty, &[HALVES]),
    }
}

pub(super) fn reduce(op: ReduceOp, ty: Type) -> bool {
    match op {
        ReduceOp::Add => among(ty, &[WORDS]),
        ReduceOp::Min | ReduceOp::Max => among(ty, &[WORDS]) || ty == F32,
        ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => ty == B32,
    }
}
