//! One block: its warps in turns, from barrier to barrier, until all have exited or none can go on.

use super::access::Raise;
use super::barrier::Barriers;
use super::context::{Context, Launch};
use super::dispatch;
use super::fast::Stop;
use super::global::GlobalMemory;
use super::registers::{FULL, Frame, LANES, Row32};
use super::warp::Warp;
use crate::fault::FaultKind;

/// Branches that a group runs before another group of its warp may.
const SHARE: u32 = 512;
/// Shares that a warp runs before another warp may.
const SHARES: u32 = 32;

/// Thread indices of the lanes, by warp and axis.
pub(super) fn thread_indices(launch: &Launch) -> Vec<[Row32; 3]> {
    let (x, y) = (launch.block.x.max(1), launch.block.y.max(1));
    let warps = launch.threads().div_ceil(LANES as u32);
    let indices = |warp: u32| {
        let mut rows = [Row32::splat(0); 3];
        for lane in 0..LANES {
            let thread = warp * LANES as u32 + lane as u32;
            *rows[0].lane_mut(lane) = thread % x;
            *rows[1].lane_mut(lane) = thread / x % y;
            *rows[2].lane_mut(lane) = thread / x / y;
        }
        rows
    };
    (0..warps).map(indices).collect()
}

impl<M: GlobalMemory> Context<'_, M> {
    /// Runs block number `index` of the grid. `warps` are reused from block to block.
    pub(super) fn run_block(&mut self, index: u64, warps: &mut Vec<Warp>) -> Result<(), Box<Raise>> {
        self.begin(index, warps)?;
        loop {
            let mut progress = false;
            for warp in warps.iter_mut() {
                if !warp.ready.is_empty() || warp.wake_lane_waits() {
                    progress = true;
                    self.run_warp(warp)?;
                }
            }
            if warps.iter().all(|warp| warp.live == 0) {
                break;
            }
            if warps.iter().any(|warp| !warp.waiting.is_empty()) && self.release_barriers(warps)? {
                continue;
            }
            if !progress {
                return Err(self.deadlock(warps));
            }
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.blocks += 1;
        }
        Ok(())
    }

    fn begin(&mut self, index: u64, warps: &mut Vec<Warp>) -> Result<(), Box<Raise>> {
        let launch = self.launch;
        let (x, y) = (u64::from(launch.grid.x.max(1)), u64::from(launch.grid.y.max(1)));
        self.block = [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32];
        self.block_began = self.steps;
        self.shared.fill(0);
        self.barriers = Barriers::default();
        let threads = launch.threads();
        let count = threads.div_ceil(LANES as u32);
        warps.resize_with(count as usize, Warp::default);
        let frame = Frame { function: launch.kernel, ..Frame::default() };
        let entry = self.entry(launch.kernel);
        if let Some(strict) = &mut self.strict {
            strict.begin_block(self.block);
        }
        let Some(layout) = launch.program().functions.get(launch.kernel as usize) else {
            return Err(Raise::internal("a kernel that is not there"));
        };
        for (index, warp) in warps.iter_mut().enumerate() {
            let rest = threads - index as u32 * LANES as u32;
            let mask = if rest >= LANES as u32 { FULL } else { (1 << rest) - 1 };
            warp.start(index as u32, mask, entry, frame);
            if !warp.local.enter(0, layout.frame_bytes, FULL) {
                return Err(Raise::new(FaultKind::StackOverflow, 0));
            }
            if warp.used && self.strict.is_none() {
                warp.registers.clear(&layout.unwritten);
            } else {
                self.enter(warp, &frame, FULL);
            }
            warp.used = true;
        }
        Ok(())
    }

    fn run_warp(&mut self, warp: &mut Warp) -> Result<(), Box<Raise>> {
        let mut fair = false;
        let mut shares = 0;
        let mut fuel = SHARE;
        while let Some(mut group) = warp.next(fair) {
            let horizon = if fair { u32::MAX } else { warp.horizon(&group) };
            let observed = self.strict.is_some() || self.statistics.is_some();
            let stop = if observed {
                self.run_observed(warp, &mut group, horizon, &mut fuel)
            } else {
                dispatch::run_group(self, warp, &mut group, horizon, &mut fuel)
            };
            let stop = stop.map_err(|mut raise| {
                (raise.function, raise.pc, raise.warp) = (group.frame.function, group.pc, warp.index);
                raise
            })?;
            if stop == Stop::Spent {
                warp.park(group);
            }
            // a group that spins may park itself at every turn, so its turns add up
            fair = fuel == 0;
            if fair {
                fuel = SHARE;
                shares += 1;
                if shares >= SHARES {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Nobody can go on: the fault of the first warp that waits.
    fn deadlock(&self, warps: &[Warp]) -> Box<Raise> {
        for warp in warps {
            let Some((group, _)) = warp.waiting.first() else { continue };
            if self.strict.is_some()
                && let Err(raise) = self.check_aligned(warp, group)
            {
                return raise;
            }
            let lane = group.mask.trailing_zeros() as usize % LANES;
            let mut raise = Raise::new(FaultKind::Deadlock, lane);
            (raise.function, raise.pc, raise.warp) = (group.frame.function, group.pc, warp.index);
            return raise;
        }
        Raise::internal("threads that neither run nor wait")
    }
}
