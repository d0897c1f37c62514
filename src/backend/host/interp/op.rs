//! The decoded form of the instructions that kernels spend their time in: small `Copy` values whose operands are
//! rows of the register file, constants included. Everything else is [`Op::Other`] and runs from the IR.

/// One decoded instruction. The guard is a predicate row (a row of ones where there is none) and a flip for `@!p`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inst {
    pub(super) guard: u32,
    pub(super) flip: u32,
    pub(super) op: Op,
}

/// Destination `d` and sources, as indices into the activation's rows of 32 or 64 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    /// Not decoded: runs from the IR.
    Other,
    Branch {
        target: u32,
    },

    Mov32 {
        d: u32,
        a: u32,
    },
    Mov64 {
        d: u32,
        a: u32,
    },
    /// A special register that is the same in all lanes, or `tid`, or the lane number.
    Special {
        d: u32,
        which: Special,
    },
    /// 4 or 8 bytes of the kernel's parameters.
    Param32 {
        d: u32,
        offset: u32,
    },
    Param64 {
        d: u32,
        offset: u32,
    },

    Add32 {
        d: u32,
        a: u32,
        b: u32,
    },
    Sub32 {
        d: u32,
        a: u32,
        b: u32,
    },
    Mul32 {
        d: u32,
        a: u32,
        b: u32,
    },
    MulHiU32 {
        d: u32,
        a: u32,
        b: u32,
    },
    MulHiS32 {
        d: u32,
        a: u32,
        b: u32,
    },
    MinU32 {
        d: u32,
        a: u32,
        b: u32,
    },
    MaxU32 {
        d: u32,
        a: u32,
        b: u32,
    },
    MinS32 {
        d: u32,
        a: u32,
        b: u32,
    },
    MaxS32 {
        d: u32,
        a: u32,
        b: u32,
    },
    And32 {
        d: u32,
        a: u32,
        b: u32,
    },
    Or32 {
        d: u32,
        a: u32,
        b: u32,
    },
    Xor32 {
        d: u32,
        a: u32,
        b: u32,
    },
    Not32 {
        d: u32,
        a: u32,
    },
    Neg32 {
        d: u32,
        a: u32,
    },
    Shl32 {
        d: u32,
        a: u32,
        b: u32,
    },
    ShrU32 {
        d: u32,
        a: u32,
        b: u32,
    },
    ShrS32 {
        d: u32,
        a: u32,
        b: u32,
    },
    /// Left funnel shift of `b:a` with a wrapping amount: a rotation where `a` is `b`.
    FunnelLeft {
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    Lop3 {
        d: u32,
        a: u32,
        b: u32,
        c: u32,
        lut: u8,
    },
    Mad32 {
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },

    Add64 {
        d: u32,
        a: u32,
        b: u32,
    },
    Sub64 {
        d: u32,
        a: u32,
        b: u32,
    },
    Mul64 {
        d: u32,
        a: u32,
        b: u32,
    },
    And64 {
        d: u32,
        a: u32,
        b: u32,
    },
    Or64 {
        d: u32,
        a: u32,
        b: u32,
    },
    Xor64 {
        d: u32,
        a: u32,
        b: u32,
    },
    Shl64 {
        d: u32,
        a: u32,
        b: u32,
    },
    ShrU64 {
        d: u32,
        a: u32,
        b: u32,
    },
    ShrS64 {
        d: u32,
        a: u32,
        b: u32,
    },
    MulWideU {
        d: u32,
        a: u32,
        b: u32,
    },
    MulWideS {
        d: u32,
        a: u32,
        b: u32,
    },
    MadWideU {
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    MadWideS {
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    ExtendU {
        d: u32,
        a: u32,
    },
    ExtendS {
        d: u32,
        a: u32,
    },
    Truncate {
        d: u32,
        a: u32,
    },

    AddF32 {
        d: u32,
        a: u32,
        b: u32,
    },
    SubF32 {
        d: u32,
        a: u32,
        b: u32,
    },
    MulF32 {
        d: u32,
        a: u32,
        b: u32,
    },
    DivF32 {
        d: u32,
        a: u32,
        b: u32,
    },
    FmaF32 {
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    MinF32 {
        d: u32,
        a: u32,
        b: u32,
    },
    MaxF32 {
        d: u32,
        a: u32,
        b: u32,
    },
    NegF32 {
        d: u32,
        a: u32,
    },
    AbsF32 {
        d: u32,
        a: u32,
    },
    SqrtF32 {
        d: u32,
        a: u32,
    },
    RsqrtF32 {
        d: u32,
        a: u32,
    },
    RcpF32 {
        d: u32,
        a: u32,
    },
    AddF64 {
        d: u32,
        a: u32,
        b: u32,
    },
    SubF64 {
        d: u32,
        a: u32,
        b: u32,
    },
    MulF64 {
        d: u32,
        a: u32,
        b: u32,
    },
    DivF64 {
        d: u32,
        a: u32,
        b: u32,
    },
    FmaF64 {
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    NegF64 {
        d: u32,
        a: u32,
    },
    IntToF32 {
        d: u32,
        a: u32,
    },
    UintToF32 {
        d: u32,
        a: u32,
    },
    F32ToInt {
        d: u32,
        a: u32,
    },
    F32ToUint {
        d: u32,
        a: u32,
    },
    F32ToF64 {
        d: u32,
        a: u32,
    },
    F64ToF32 {
        d: u32,
        a: u32,
    },

    /// Comparisons: predicate row `d` becomes the result, flipped by `flip` (0 or all ones).
    Eq32 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    LtU32 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    LtS32 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    EqF32 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    LtF32 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    LeF32 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    Eq64 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    LtU64 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    LtS64 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    EqF64 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    LtF64 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    LeF64 {
        d: u32,
        a: u32,
        b: u32,
        flip: u32,
    },
    /// `a` where predicate row `p` (flipped) holds, else `b`.
    Select32 {
        d: u32,
        a: u32,
        b: u32,
        p: u32,
    },
    Select64 {
        d: u32,
        a: u32,
        b: u32,
        p: u32,
    },
    AndP {
        d: u32,
        a: u32,
        b: u32,
    },
    OrP {
        d: u32,
        a: u32,
        b: u32,
    },
    XorP {
        d: u32,
        a: u32,
        b: u32,
    },

    /// Global memory behind a 64-bit register: one to four consecutive elements.
    Load32 {
        d: u32,
        a: u32,
        offset: i32,
    },
    Load64 {
        d: u32,
        a: u32,
        offset: i32,
    },
    /// One byte, extended with zeros to a register of up to 32 bits.
    Load8 {
        d: u32,
        a: u32,
        offset: i32,
    },
    Load32x2 {
        d: [u32; 2],
        a: u32,
        offset: i32,
    },
    Load32x4 {
        d: [u32; 4],
        a: u32,
        offset: i32,
    },
    Store32 {
        s: u32,
        a: u32,
        offset: i32,
    },
    Store64 {
        s: u32,
        a: u32,
        offset: i32,
    },
    Store32x2 {
        s: [u32; 2],
        a: u32,
        offset: i32,
    },
    Store32x4 {
        s: [u32; 4],
        a: u32,
        offset: i32,
    },
    /// Shared memory behind a 32-bit register.
    LoadShared32 {
        d: u32,
        a: u32,
        offset: i32,
    },
    LoadShared32x2 {
        d: [u32; 2],
        a: u32,
        offset: i32,
    },
    LoadShared32x4 {
        d: [u32; 4],
        a: u32,
        offset: i32,
    },
    StoreShared32 {
        s: u32,
        a: u32,
        offset: i32,
    },
    /// An atomic addition; `d` becomes what was there before.
    AddShared32 {
        d: Option<u32>,
        s: u32,
        a: u32,
        offset: i32,
    },
}

/// Special registers that the fast loop reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Special {
    Tid(u8),
    NTid(u8),
    CtaId(u8),
    NCtaId(u8),
    LaneId,
}
