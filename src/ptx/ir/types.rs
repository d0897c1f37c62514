//! Scalar and packed types, register widths and classes.

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
            F16 | BF16 | TF32 | F32 | F64 | F16x2 | BF16x2 | F32x2 | E4M3 | E5M2 | E4M3x2 | E5M2x2 => {
                TypeKind::Float
            }
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
