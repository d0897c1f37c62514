//! What the warps of a block share while they run: the launch, its memory, barriers, counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::access::{Bounds, Reachable};
use super::barrier::Barriers;
use super::global::GlobalMemory;
use super::program::{Instance, Program};
use super::registers::Row32;
use super::shapes::{Hint, Shapes};
use super::stats::Statistics;
use super::strict::Strict;
use crate::dim::Dim3;

/// A launch, resolved: the same for all its blocks.
pub(super) struct Launch {
    pub(super) instance: Arc<Instance>,
    /// Index of the kernel in the module.
    pub(super) kernel: u32,
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) dynamic_shared: u32,
    /// Where dynamic shared memory begins.
    pub(super) dynamic_offset: u32,
    pub(super) shared_bytes: u32,
    pub(super) params: Vec<u8>,
    pub(super) reachable: Reachable,
    pub(super) max_steps: Option<u64>,
    /// Device heap of `malloc`: address, bytes.
    pub(super) heap: Option<(u64, u64)>,
}

impl Launch {
    pub(super) fn threads(&self) -> u32 {
        self.block.count() as u32
    }

    pub(super) fn program(&self) -> &Program {
        &self.instance.program
    }
}

/// The state of the block that runs.
pub(super) struct Context<'a, M> {
    pub(super) launch: &'a Launch,
    pub(super) memory: M,
    pub(super) shared: Vec<u8>,
    /// Index of the block in the grid.
    pub(super) block: [u32; 3],
    /// Thread index of each lane, by warp and axis.
    pub(super) tids: &'a [[Row32; 3]],
    pub(super) barriers: Barriers,
    /// What each instruction's last access was like.
    pub(super) hints: Vec<Hint>,
    pub(super) shapes: Shapes,
    /// Steps so far: instructions of a warp, counted at branches.
    pub(super) steps: u64,
    /// Steps before this block.
    pub(super) block_began: u64,
    /// Steps after which the launch is given up.
    pub(super) patience: u64,
    /// Set when a launch is to be run in order after all.
    pub(super) abandoned: Option<&'a AtomicBool>,
    pub(super) output: Vec<String>,
    pub(super) statistics: Option<Box<Statistics>>,
    pub(super) strict: Option<Box<Strict>>,
    /// Bytes of the device heap handed out.
    pub(super) heap_used: u64,
}

impl<'a, M: GlobalMemory> Context<'a, M> {
    /// For the blocks of `launch`, unwatched.
    pub(super) fn new(launch: &'a Launch, memory: M, tids: &'a [[Row32; 3]]) -> Self {
        Self {
            launch,
            memory,
            shared: vec![0; launch.shared_bytes as usize],
            block: [0; 3],
            tids,
            barriers: Barriers::default(),
            hints: vec![Hint::default(); launch.program().code.len()],
            shapes: Shapes::default(),
            steps: 0,
            block_began: 0,
            patience: launch.max_steps.unwrap_or(u64::MAX),
            abandoned: None,
            output: Vec::new(),
            statistics: None,
            strict: None,
            heap_used: 0,
        }
    }

    pub(super) fn program(&self) -> &'a Program {
        self.launch.program()
    }

    /// Has it run longer than it may?
    #[inline(always)]
    pub(super) fn is_spent(&self) -> bool {
        self.steps > self.patience || self.abandoned.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The limits of an access by lanes whose local frames end at `local_bytes`.
    pub(super) fn bounds(&self, local_bytes: u64) -> Bounds<'_> {
        Bounds {
            reachable: &self.launch.reachable,
            shared_bytes: u64::from(self.launch.shared_bytes),
            param_bytes: self.launch.params.len() as u64,
            local_bytes,
        }
    }
}
