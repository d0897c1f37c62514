//! What a launch did, counted when asked for.

use std::collections::BTreeMap;

use crate::ptx::ir::Op;

/// Counts of one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// Instructions of a thread, by family of opcodes.
    pub(crate) opcodes: BTreeMap<&'static str, u64>,
    /// Instructions of a warp.
    pub(crate) warp_instructions: u64,
    /// Instructions of a thread.
    pub(crate) thread_instructions: u64,
    /// Instructions that some of a warp's living lanes ran, but not all.
    pub(crate) divergent_instructions: u64,
    /// Bytes loaded from all spaces, atomics included.
    pub(crate) loaded_bytes: u64,
    /// Bytes stored to all spaces, atomics included.
    pub(crate) stored_bytes: u64,
    /// Blocks that ran to their end.
    pub(crate) blocks: u64,
}

impl Statistics {
    pub(super) fn count(&mut self, op: &Op, mask: u32, live: u32) {
        let threads = u64::from(mask.count_ones());
        *self.opcodes.entry(family(op)).or_default() += threads;
        self.warp_instructions += 1;
        self.thread_instructions += threads;
        self.divergent_instructions += u64::from(mask != 0 && mask != live);
    }
}

/// The family that an instruction is counted under, named after its opcodes.
fn family(op: &Op) -> &'static str {
    match op {
        Op::Mov { .. } | Op::AddressOf { .. } | Op::Pack { .. } | Op::Unpack { .. } => "mov",
        Op::ReadSpecial { .. } => "mov (special register)",
        Op::Integer { .. }
        | Op::MultiplyAdd { .. }
        | Op::Carry { .. }
        | Op::MultiplyAddCarry { .. }
        | Op::SumAbsoluteDifference { .. }
        | Op::DotProduct { .. }
        | Op::IntegerUnary { .. } => "integer arithmetic",
        Op::Logic { .. }
        | Op::Lop3 { .. }
        | Op::Shift { .. }
        | Op::FunnelShift { .. }
        | Op::BitFieldExtract { .. }
        | Op::BitFieldInsert { .. }
        | Op::BitMask { .. }
        | Op::Extend { .. }
        | Op::FindNthSet { .. }
        | Op::Permute { .. } => "bits and shifts",
        Op::Float { .. } | Op::FloatUnary { .. } | Op::FloatMinMax3 { .. } | Op::TestProperty { .. } => {
            "float arithmetic"
        }
        Op::FloatMultiplyAdd { .. } => "fma",
        Op::SetPredicate { .. } | Op::Set { .. } => "setp, set",
        Op::Select { .. } | Op::SelectBySign { .. } => "selp, slct",
        Op::Convert(_) | Op::ConvertPair { .. } | Op::PackSaturate { .. } => "cvt",
        Op::ConvertAddress { .. } | Op::IsSpace { .. } => "cvta, isspacep",
        Op::Load(_) | Op::LoadMatrix { .. } => "ld",
        Op::Store(_) | Op::StoreMatrix { .. } => "st",
        Op::Atomic(_) => "atom, red",
        Op::AsyncCopy { .. }
        | Op::AsyncCommit
        | Op::AsyncWait { .. }
        | Op::AsyncArrive { .. }
        | Op::Mbarrier(_) => "cp.async, mbarrier",
        Op::Fence { .. } | Op::Hint { .. } | Op::NanoSleep { .. } | Op::Breakpoint => "fences and hints",
        Op::Branch { .. } | Op::BranchIndexed { .. } => "bra",
        Op::Call(_) | Op::Return | Op::Exit | Op::Trap => "call, ret, exit",
        Op::Barrier(_) | Op::WarpBarrier { .. } => "bar",
        Op::Shuffle { .. }
        | Op::Vote { .. }
        | Op::Match { .. }
        | Op::Reduce { .. }
        | Op::ActiveMask { .. }
        | Op::Elect { .. } => "shfl, vote, match, redux",
        Op::TransposeMatrix { .. } | Op::MatrixMultiply(_) => "mma",
        Op::Unsupported(_) => "not supported",
    }
}
