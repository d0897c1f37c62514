//! Barriers of a block: who has arrived, when all have, and what then happens. Lanes count one by one; of a warp
//! with exited lanes those count as arrived.

use super::access::Raise;
use super::context::Context;
use super::global::GlobalMemory;
use super::other::Flow;
use super::registers::{FULL, LANES, lanes};
use super::warp::{Group, Wait, Warp};
use crate::fault::FaultKind;
use crate::ptx::ir::{Barrier, BarrierOp, BarrierReduction, Op};

/// Barriers of one block.
const COUNT: usize = 16;

/// Threads that arrived without waiting, by barrier, and who may pass the cluster barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    arrived: [u32; COUNT],
    /// The number of threads that those named.
    expected: [Option<u32>; COUNT],
}

impl<M: GlobalMemory> Context<'_, M> {
    /// `bar`, `barrier`: arrives, and waits unless it is an arrival only.
    pub(super) fn barrier(
        &mut self,
        warp: &mut Warp,
        group: &mut Group,
        mask: u32,
        barrier: &Barrier,
    ) -> Result<Flow, Box<Raise>> {
        let first = mask.trailing_zeros() as usize % LANES;
        let id = warp.registers.lane(&group.frame, barrier.id, first) as u32;
        let threads = barrier.threads.map(|t| warp.registers.lane(&group.frame, t, first) as u32);
        if id as usize >= COUNT {
            let message = format!("barrier {id}: a block has {COUNT}");
            return Err(Raise::new(FaultKind::Unsupported { opcode: message }, first));
        }
        let wait = match barrier.op {
            BarrierOp::Arrive => {
                // lanes of the warp that are gone arrive with it
                let gone = if mask == warp.live { (!warp.live).count_ones() } else { 0 };
                self.barriers.arrived[id as usize] += mask.count_ones() + gone;
                self.barriers.expected[id as usize] = threads;
                return Ok(Flow::Next);
            }
            BarrierOp::ClusterArrive => {
                warp.cluster_arrived |= mask;
                return Ok(Flow::Next);
            }
            BarrierOp::ClusterWait => Wait::Cluster,
            BarrierOp::Sync | BarrierOp::Reduce { .. } => Wait::Barrier { id, threads },
        };
        warp.park(Group { pc: group.pc + 1, mask: group.mask & !mask, ..*group });
        warp.waiting.push((Group { mask, ..*group }, wait));
        Ok(Flow::Parked)
    }

    /// Lets everybody go who waits at a complete barrier. `false`: nobody could.
    pub(super) fn release_barriers(&mut self, warps: &mut [Warp]) -> Result<bool, Box<Raise>> {
        let mut released = false;
        for id in 0..COUNT as u32 {
            let expected = match self.barriers.expected[id as usize] {
                Some(threads) => Some(threads),
                None => warps.iter().flat_map(|w| &w.waiting).find_map(|(_, wait)| match *wait {
                    Wait::Barrier { id: i, threads } if i == id => threads,
                    _ => None,
                }),
            };
            let waits = |wait: &Wait| matches!(*wait, Wait::Barrier { id: i, .. } if i == id);
            let mut present = self.barriers.arrived[id as usize];
            let mut somebody = false;
            for warp in warps.iter() {
                let here = warp.waiting.iter().filter(|(_, w)| waits(w)).fold(0, |m, (g, _)| m | g.mask);
                if here == 0 {
                    continue;
                }
                somebody = true;
                present += here.count_ones();
                if here == warp.live && expected.is_some() {
                    present += (!warp.live).count_ones();
                }
            }
            let needed =
                expected.unwrap_or_else(|| warps.iter().map(|warp| warp.live.count_ones()).sum::<u32>());
            if !somebody || present < needed {
                continue;
            }
            self.barriers.arrived[id as usize] = 0;
            self.barriers.expected[id as usize] = None;
            self.pass(warps, &waits)?;
            released = true;
        }
        released |= self.release_cluster(warps);
        if released && let Some(strict) = &mut self.strict {
            strict.block_synchronised();
        }
        Ok(released)
    }

    fn pass(&mut self, warps: &mut [Warp], waits: &dyn Fn(&Wait) -> bool) -> Result<(), Box<Raise>> {
        let mut yes = 0_u32;
        let mut all = true;
        for warp in warps.iter() {
            for (group, _) in warp.waiting.iter().filter(|(_, w)| waits(w)) {
                if self.strict.is_some() {
                    self.check_aligned(warp, group)?;
                }
                if let Some((_, holds)) = self.reduction(warp, group) {
                    yes += holds.count_ones();
                    all &= holds == group.mask;
                }
            }
        }
        for warp in warps.iter_mut() {
            let going: Vec<Group> =
                warp.waiting.iter().filter(|(_, w)| waits(w)).map(|(group, _)| *group).collect();
            warp.waiting.retain(|(_, w)| !waits(w));
            for group in going {
                if let Some((BarrierOp::Reduce { op, dst, .. }, _)) = self.reduction(warp, &group) {
                    match op {
                        BarrierReduction::Popc => {
                            let row = [u64::from(yes); LANES];
                            warp.registers.set(&group.frame, dst, group.mask, &row);
                        }
                        BarrierReduction::And | BarrierReduction::Or => {
                            let holds = if op == BarrierReduction::And { all } else { yes != 0 };
                            let value = if holds { FULL } else { 0 };
                            warp.registers.set_predicate(&group.frame, dst, group.mask, value);
                        }
                    }
                }
                warp.park(Group { pc: group.pc + 1, ..group });
            }
        }
        Ok(())
    }

    /// For a group that waits in `bar.red`: the operation, and the lanes whose predicate holds.
    fn reduction(&self, warp: &Warp, group: &Group) -> Option<(BarrierOp, u32)> {
        match self.program().inst(group.frame.function, group.pc)?.op {
            Op::Barrier(Barrier { op: op @ BarrierOp::Reduce { source, .. }, .. }) => {
                Some((op, warp.registers.holds(&group.frame, source) & group.mask))
            }
            _ => None,
        }
    }

    /// An aligned barrier needs the whole warp at one instruction.
    pub(super) fn check_aligned(&self, warp: &Warp, group: &Group) -> Result<(), Box<Raise>> {
        let aligned = match self.program().inst(group.frame.function, group.pc).map(|inst| &inst.op) {
            Some(Op::Barrier(barrier)) => barrier.aligned,
            _ => false,
        };
        let here = warp.waiting.iter().filter(|(g, _)| g.pc == group.pc).fold(0, |m, (g, _)| m | g.mask);
        if aligned && here != warp.live {
            let lane = lanes(group.mask).next().unwrap_or(0);
            let mut raise = Raise::new(FaultKind::DivergentBarrier, lane);
            (raise.function, raise.pc, raise.warp) = (group.frame.function, group.pc, warp.index);
            return Err(raise);
        }
        Ok(())
    }

    fn release_cluster(&mut self, warps: &mut [Warp]) -> bool {
        let waits = |wait: &Wait| *wait == Wait::Cluster;
        let somebody = warps.iter().any(|w| w.waiting.iter().any(|(_, wait)| waits(wait)));
        let complete = warps.iter().all(|warp| warp.live & !warp.cluster_arrived == 0);
        if !(somebody && complete) {
            return false;
        }
        for warp in warps.iter_mut() {
            warp.cluster_arrived = 0;
            let going: Vec<Group> =
                warp.waiting.iter().filter(|(_, w)| waits(w)).map(|(group, _)| *group).collect();
            warp.waiting.retain(|(_, w)| !waits(w));
            going.into_iter().for_each(|group| warp.park(Group { pc: group.pc + 1, ..group }));
        }
        true
    }
}
