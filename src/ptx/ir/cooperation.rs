//! The parts of instructions that several threads execute together: barriers, shuffles, votes, matrices.

use super::inst::{Destinations, Operands};
use super::operands::*;
use super::types::*;

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
