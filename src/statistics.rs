//! What a launch did, in numbers: the words in which a device that counts says so. Counting belongs to the device.

use std::collections::BTreeMap;
use std::fmt;

/// The counts of one launch; see [`Context::launch_counted`](crate::Context::launch_counted).
///
/// [`Display`](fmt::Display) writes them as a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchStatistics {
    /// Instructions that threads ran, by family of opcodes (`fma`, `ld`, `bra`, …).
    pub opcodes: BTreeMap<&'static str, u64>,
    /// Instructions that threads ran, predicated-off lanes not counted.
    pub thread_instructions: u64,
    /// Instructions that warps ran.
    pub warp_instructions: u64,
    /// Warp instructions that some living lanes of the warp ran, but not all: after a divergent branch, or behind a
    /// predicate that differs between them.
    pub divergent_instructions: u64,
    /// Bytes loaded, from every state space, by atomics too.
    pub loaded_bytes: u64,
    /// Bytes stored, to every state space, by atomics too.
    pub stored_bytes: u64,
    /// Blocks that ran.
    pub blocks: u64,
}

impl LaunchStatistics {
    /// The share of warp instructions that only a part of the living lanes ran, from 0 to 1.
    #[must_use]
    pub fn divergence(&self) -> f64 {
        share(self.divergent_instructions, self.warp_instructions)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl fmt::Display for LaunchStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut families: Vec<_> = self.opcodes.iter().collect();
        families.sort_by_key(|&(name, &count)| (std::cmp::Reverse(count), *name));
        writeln!(f, "{:>16}  blocks", self.blocks)?;
        writeln!(f, "{:>16}  thread instructions", self.thread_instructions)?;
        for (name, &count) in families {
            let percent = 100.0 * share(count, self.thread_instructions);
            writeln!(f, "{count:>16}    {percent:5.1} %  {name}")?;
        }
        writeln!(f, "{:>16}  warp instructions", self.warp_instructions)?;
        let percent = 100.0 * self.divergence();
        writeln!(f, "{:>16}    {percent:5.1} %  by a part of the warp", self.divergent_instructions)?;
        writeln!(f, "{:>16}  bytes loaded", self.loaded_bytes)?;
        write!(f, "{:>16}  bytes stored", self.stored_bytes)
    }
}
