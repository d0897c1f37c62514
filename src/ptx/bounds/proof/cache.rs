//! Verdicts of launches that were analysed before, found by what the addresses depend on and nothing else.

use std::hash::Hasher;
use std::sync::{Arc, RwLock};

use super::linear::FastHasher;
use super::{Analysis, BufferFacts, LaunchFacts, Verdicts};
use crate::dim::Dim3;

/// Launches that are remembered; a new one takes the place of one with the same hash modulo this.
const REMEMBERED: usize = 64;

/// A launch, as far as its verdicts depend on it.
struct Remembered {
    grid: Dim3,
    block: Dim3,
    dynamic_shared: u32,
    /// The relevant bytes of the parameters, one after another.
    params: Box<[u8]>,
    buffers: Box<[BufferFacts]>,
    verdicts: Arc<Verdicts>,
}

/// The verdicts of the last launches of one kernel. A changed argument that no address depends on is no change.
pub struct ProofCache {
    analysis: Analysis,
    /// Ranges of the parameters that the verdicts depend on.
    entries: Box<[RwLock<Option<Remembered>>]>,
}

impl std::fmt::Debug for ProofCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProofCache").field("sites", &self.analysis.sites().len()).finish_non_exhaustive()
    }
}

impl ProofCache {
    /// An empty cache for one kernel.
    pub fn new(analysis: Analysis) -> Self {
        Self { analysis, entries: (0..REMEMBERED).map(|_| RwLock::new(None)).collect() }
    }

    /// The kernel's analysis.
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// The verdicts on a launch: remembered, or found out now.
    pub fn prove(&self, launch: &LaunchFacts<'_>) -> Arc<Verdicts> {
        let entry = &self.entries[self.hash(launch) as usize % REMEMBERED];
        {
            let known = entry.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(known) = known.as_ref().filter(|known| self.is_same(known, launch)) {
                return Arc::clone(&known.verdicts);
            }
        }
        let verdicts = Arc::new(self.analysis.prove(launch));
        let remembered = Remembered {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            params: self.relevant(launch).flatten().copied().collect(),
            buffers: launch.buffers.into(),
            verdicts: Arc::clone(&verdicts),
        };
        *entry.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(remembered);
        verdicts
    }

    /// The bytes of parameters that matter; addresses of buffers are not among them.
    fn relevant<'l>(&'l self, launch: &'l LaunchFacts<'l>) -> impl Iterator<Item = &'l [u8]> + 'l {
        let function = self.analysis.function();
        let addresses = |start: u32, size: u32| {
            launch.buffers.iter().any(|buffer| {
                let param = function.params.get(buffer.param);
                param.is_some_and(|param| (param.offset + buffer.offset, 8) == (start, size))
            })
        };
        self.analysis.slice.params.iter().filter(move |(start, size)| !addresses(*start, *size)).map(
            |&(start, size)| launch.params.get(start as usize..start as usize + size as usize).unwrap_or(&[]),
        )
    }

    fn hash(&self, launch: &LaunchFacts<'_>) -> u64 {
        let mut hasher = FastHasher::default();
        for axis in
            [launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z]
        {
            hasher.write_u32(axis);
        }
        hasher.write_u32(launch.dynamic_shared);
        for buffer in launch.buffers {
            hasher.write_u64(buffer.bytes);
            hasher.write_u64(buffer.align);
        }
        self.relevant(launch).for_each(|bytes| hasher.write(bytes));
        let hash = hasher.finish();
        hash ^ hash >> 32
    }

    fn is_same(&self, known: &Remembered, launch: &LaunchFacts<'_>) -> bool {
        let mut left = &known.params[..];
        let same_params = self.relevant(launch).all(|bytes| match left.split_at_checked(bytes.len()) {
            Some((own, rest)) => {
                left = rest;
                own == bytes
            }
            None => false,
        });
        same_params
            && left.is_empty()
            && (known.grid, known.block, known.dynamic_shared)
                == (launch.grid, launch.block, launch.dynamic_shared)
            && *known.buffers == *launch.buffers
    }
}
