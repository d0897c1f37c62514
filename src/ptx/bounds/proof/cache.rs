//! Verdicts of launches that were analysed before, found by what the addresses depend on and nothing else.
//!
//! Where everything was proved, the proof also holds for a launch that does less with more: it has fewer blocks, and its
//! buffers are longer, more aligned, or may be written besides. Each of its threads is a thread of the launch that was
//! analysed, with the same numbers; what memory contains, nothing was assumed of. Not so if an address depends on the
//! number of blocks, as in loops that stride over the grid: that is another number then.

use std::hash::Hasher;
use std::sync::{Arc, PoisonError, RwLock};

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
    /// By everything that the verdicts depend on.
    entries: Box<[RwLock<Option<Remembered>>]>,
    /// Launches of which all was proved, by what must be equal for their proof to hold for others.
    proved: Box<[RwLock<Option<Remembered>>]>,
}

impl std::fmt::Debug for ProofCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProofCache").field("sites", &self.analysis.sites().len()).finish_non_exhaustive()
    }
}

impl ProofCache {
    /// An empty cache for one kernel.
    pub fn new(analysis: Analysis) -> Self {
        let empty = || (0..REMEMBERED).map(|_| RwLock::new(None)).collect();
        Self { analysis, entries: empty(), proved: empty() }
    }

    /// The kernel's analysis.
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// The verdicts on a launch: remembered, or found out now.
    pub fn prove(&self, launch: &LaunchFacts<'_>) -> Arc<Verdicts> {
        let entry = &self.entries[self.hash(launch) as usize % REMEMBERED];
        {
            let known = entry.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = known.as_ref().filter(|known| self.is_same(known, launch)) {
                return Arc::clone(&known.verdicts);
            }
        }
        let wider = &self.proved[self.hash_of_equal(launch) as usize % REMEMBERED];
        let known = {
            let known = wider.read().unwrap_or_else(PoisonError::into_inner);
            known.as_ref().filter(|known| self.covers(known, launch)).map(|known| Arc::clone(&known.verdicts))
        };
        let verdicts = known.unwrap_or_else(|| {
            let verdicts = Arc::new(self.analysis.prove(launch));
            if verdicts.all_proved() {
                let remembered = self.remembered(launch, &verdicts);
                *wider.write().unwrap_or_else(PoisonError::into_inner) = Some(remembered);
            }
            verdicts
        });
        let remembered = self.remembered(launch, &verdicts);
        *entry.write().unwrap_or_else(PoisonError::into_inner) = Some(remembered);
        verdicts
    }

    fn remembered(&self, launch: &LaunchFacts<'_>, verdicts: &Arc<Verdicts>) -> Remembered {
        Remembered {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            params: self.relevant(launch).flatten().copied().collect(),
            buffers: launch.buffers.into(),
            verdicts: Arc::clone(verdicts),
        }
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
        write_axes(&mut hasher, launch.grid);
        for buffer in launch.buffers {
            hasher.write_u64(buffer.bytes);
            hasher.write_u64(buffer.align);
        }
        self.write_equal(&mut hasher, launch);
        finish(&hasher)
    }

    /// Of what must be equal for one launch's proof to hold for another.
    fn hash_of_equal(&self, launch: &LaunchFacts<'_>) -> u64 {
        let mut hasher = FastHasher::default();
        self.write_equal(&mut hasher, launch);
        finish(&hasher)
    }

    fn write_equal(&self, hasher: &mut FastHasher, launch: &LaunchFacts<'_>) {
        write_axes(hasher, launch.block);
        hasher.write_u32(launch.dynamic_shared);
        self.relevant(launch).for_each(|bytes| hasher.write(bytes));
    }

    fn is_equal(&self, known: &Remembered, launch: &LaunchFacts<'_>) -> bool {
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
            && (known.block, known.dynamic_shared) == (launch.block, launch.dynamic_shared)
    }

    fn is_same(&self, known: &Remembered, launch: &LaunchFacts<'_>) -> bool {
        known.grid == launch.grid && *known.buffers == *launch.buffers && self.is_equal(known, launch)
    }

    /// Whether a launch of which all was proved does all that this one does.
    fn covers(&self, known: &Remembered, launch: &LaunchFacts<'_>) -> bool {
        let mut axes = known.grid.axes().into_iter().zip(launch.grid.axes());
        let grid = match self.analysis.slice.reads_grid {
            true => known.grid == launch.grid,
            false => axes.all(|((_, known), (_, wanted))| wanted <= known),
        };
        let buffers = known.buffers.len() == launch.buffers.len()
            && known.buffers.iter().zip(launch.buffers).all(|(known, wanted)| {
                (known.param, known.offset) == (wanted.param, wanted.offset)
                    && wanted.bytes >= known.bytes
                    && wanted.align.is_multiple_of(known.align)
                    && (wanted.writable || !known.writable)
                    && (known.contents.is_none() || known.contents == wanted.contents)
            });
        grid && buffers && self.is_equal(known, launch)
    }
}

fn write_axes(hasher: &mut FastHasher, axes: Dim3) {
    [axes.x, axes.y, axes.z].into_iter().for_each(|axis| hasher.write_u32(axis));
}

/// The entries are few, so the upper half takes part in choosing one.
fn finish(hasher: &FastHasher) -> u64 {
    let hash = hasher.finish();
    hash ^ hash >> 32
}
