//! One warp: which lanes are where, and which of them run next. Lanes with the same program counter and frame
//! form a [`Group`]; while there are several, the deepest call runs first, then the lowest program counter, so
//! that they meet again after a branch. No analysis of the code is needed, and unstructured jumps work.

use super::local::LocalMemory;
use super::registers::{Frame, LANES, Registers};

/// Lanes that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Index into the program's code.
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) frame: Frame,
}

/// Where a lane goes on after the function it is in returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Return {
    pub(super) pc: u32,
    pub(super) frame: Frame,
}

/// What a group waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Block barrier `id` of `threads` threads (`None`: all of the block).
    Barrier { id: u32, threads: Option<u32> },
    /// The cluster barrier.
    Cluster,
    /// The other lanes of `members`, for the warp operation with this tag.
    Lanes { members: u32, tag: u32 },
}

/// One warp of a block.
#[derive(Default)]
pub(super) struct Warp {
    /// Its number in the block.
    pub(super) index: u32,
    /// Has it run a block of this launch before? Then the kernel's constants are in place.
    pub(super) used: bool,
    /// Lanes that exist and have not exited.
    pub(super) live: u32,
    /// Groups that can run, longest parked first. No two have the same place.
    pub(super) ready: Vec<Group>,
    pub(super) waiting: Vec<(Group, Wait)>,
    pub(super) registers: Registers,
    pub(super) local: LocalMemory,
    /// Return places by depth of call, a column for each lane.
    pub(super) returns: Vec<[Return; LANES]>,
    /// Lanes that arrived at the cluster barrier and have not yet waited for it.
    pub(super) cluster_arrived: u32,
}

impl Warp {
    /// Lanes `mask` begin at `pc`.
    pub(super) fn start(&mut self, index: u32, mask: u32, pc: u32, frame: Frame) {
        self.index = index;
        self.live = mask;
        self.ready.clear();
        self.waiting.clear();
        self.registers.carry = 0;
        self.cluster_arrived = 0;
        self.ready.push(Group { pc, mask, frame });
    }

    /// Puts a group aside until it is its turn, joined with one that is at the same place.
    pub(super) fn park(&mut self, group: Group) {
        if group.mask == 0 {
            return;
        }
        match self.ready.iter_mut().find(|g| g.pc == group.pc && g.frame == group.frame) {
            Some(there) => there.mask |= group.mask,
            None => self.ready.push(group),
        }
    }

    /// Takes the group that runs next: the deepest call and lowest program counter, or with `fair` the one
    /// that has waited longest.
    pub(super) fn next(&mut self, fair: bool) -> Option<Group> {
        if self.ready.is_empty() {
            return None;
        }
        let chosen = if fair {
            0
        } else {
            let key = |g: &Group| (std::cmp::Reverse(g.frame.depth), g.pc);
            (0..self.ready.len()).min_by_key(|&i| key(&self.ready[i]))?
        };
        Some(self.ready.remove(chosen))
    }

    /// The first program counter above `group`'s at which it has to look at the others again.
    pub(super) fn horizon(&self, group: &Group) -> u32 {
        let same_depth = self.ready.iter().filter(|g| g.frame.depth == group.frame.depth);
        same_depth.map(|g| g.pc).filter(|&pc| pc > group.pc).min().unwrap_or(u32::MAX)
    }

    /// Lets groups run that wait for lanes which have exited since.
    pub(super) fn wake_lane_waits(&mut self) -> bool {
        let complete = |waiting: &[(Group, Wait)], members: u32, tag: u32, live: u32| {
            let arrived = waiting.iter().filter(|(_, w)| *w == Wait::Lanes { members, tag });
            members & live & !arrived.fold(0, |mask, (g, _)| mask | g.mask) == 0
        };
        let found = self.waiting.iter().position(|(_, wait)| match *wait {
            Wait::Lanes { members, tag } => complete(&self.waiting, members, tag, self.live),
            _ => false,
        });
        match found {
            Some(index) => {
                // it arrives again, and finds the others there
                let (group, _) = self.waiting.remove(index);
                self.park(group);
                true
            }
            None => false,
        }
    }
}
