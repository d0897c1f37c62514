//! Blocks on all cores, with the result of running them one after another. Runs of consecutive blocks are tried
//! side by side on private memory and committed in order; the first that read what an earlier one wrote is thrown
//! away with all after it, and the rest of the launch runs in order. So the outcome, the first fault included, does
//! not depend on the number of threads.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::access::Raise;
use super::context::{Context, Launch};
use super::global::{Direct, GlobalMemory};
use super::launch::Raised;
use super::overlay::{Overlay, Written};
use super::registers::Row32;
use super::warp::Warp;
use crate::fault::FaultKind;

/// Blocks that run in order first: what they cost says whether the others are worth distributing.
const PROBE: u64 = 2;
/// Steps that a launch must promise before threads are worth waking.
const WORTHWHILE: u64 = 20_000;
/// Blocks in one run at most.
const LONGEST_RUN: u64 = 256;
/// Runs of a wave, for each thread.
const RUNS_PER_THREAD: usize = 4;
/// A run may take this many times the steps of the probe before it is taken to wait for an earlier block.
const PATIENCE: u64 = 16;

/// Where a launch stands that was begun in parallel.
pub(super) struct Progress {
    /// Blocks that are done.
    pub(super) done: u64,
    /// The fault that ended it.
    pub(super) fault: Option<Raised>,
}

/// Runs as many blocks as can be distributed; the caller runs the rest in order.
pub(super) fn run(
    launch: &Launch,
    allocations: &mut Vec<&mut [u8]>,
    tids: &[[Row32; 3]],
    blocks: u64,
    sink: &mut dyn FnMut(&str),
) -> Progress {
    let mut progress = Progress { done: 0, fault: None };
    let threads = rayon::current_num_threads();
    let unsuitable = launch.program().depends_on_order(launch.kernel).load(Ordering::Relaxed);
    if threads < 2 || blocks < 4 * PROBE || launch.max_steps.is_some() || launch.heap.is_some() || unsuitable
    {
        return progress;
    }
    // the probe
    let mut context = Context::new(launch, Direct { allocations: std::mem::take(allocations) }, tids);
    let probed = run_blocks(&mut context, 0..PROBE);
    let (steps, block) = (context.steps, context.block);
    context.output.drain(..).for_each(|text| sink(&text));
    *allocations = context.memory.allocations;
    progress.done = PROBE;
    if let Err(raise) = probed {
        progress.fault = Some((raise, block));
        return progress;
    }
    if steps / PROBE * blocks < WORTHWHILE {
        return progress;
    }
    let writable = launch.reachable.writable_allocations(allocations.len());
    let length = (blocks / (threads as u64 * 8)).clamp(1, LONGEST_RUN);
    let patience = (steps / PROBE * length).saturating_mul(PATIENCE).saturating_add(1 << 16);
    while progress.done < blocks {
        let begin = progress.done;
        let runs: Vec<_> = (0..(threads * RUNS_PER_THREAD) as u64)
            .map(|run| begin + run * length..(begin + (run + 1) * length).min(blocks))
            .filter(|run| run.start < run.end)
            .collect();
        let abandoned = AtomicBool::new(false);
        let shared: Vec<&[u8]> = allocations.iter().map(|bytes| &**bytes).collect();
        let results: Vec<_> = runs
            .par_iter()
            .map(|run| {
                let mut context = Context::new(launch, Overlay::new(&shared, &writable), tids);
                context.patience = patience;
                context.abandoned = Some(&abandoned);
                let result = run_blocks(&mut context, run.clone());
                if result.as_ref().is_err_and(|raise| is_impatient(raise)) {
                    // the runs after it wait too, most likely
                    abandoned.store(true, Ordering::Relaxed);
                }
                (result, context.block, context.output, context.memory.into_effects())
            })
            .collect();
        drop(shared);
        let mut written = Written::default();
        for (run, (result, block, output, effects)) in runs.iter().zip(results) {
            let impatient = matches!(&result, Err(raise) if is_impatient(raise));
            if impatient || written.was_read_by(&effects) {
                launch.program().depends_on_order(launch.kernel).store(true, Ordering::Relaxed);
                return progress;
            }
            effects.commit(allocations, &mut written);
            output.iter().for_each(|text| sink(text));
            progress.done = run.end;
            if let Err(raise) = result {
                progress.fault = Some((raise, block));
                return progress;
            }
        }
    }
    progress
}

fn run_blocks<M: GlobalMemory>(
    context: &mut Context<'_, M>,
    blocks: std::ops::Range<u64>,
) -> Result<(), Box<Raise>> {
    let mut warps: Vec<Warp> = Vec::new();
    blocks.into_iter().try_for_each(|index| context.run_block(index, &mut warps))
}

/// Did the run give up waiting, with no budget of the caller's?
fn is_impatient(raise: &Raise) -> bool {
    matches!(&raise.refusal, super::access::Refusal::Is(FaultKind::StepLimit { .. }))
}
