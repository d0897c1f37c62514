//! Which of two accesses comes first, for the race detector of strict mode. Every synchronising operation of a
//! thread (barrier, fence, atomic, volatile load, warp operation) is taken to publish what it did before and to
//! see what others published. That orders a little more than the memory model does, so that no correct program
//! is reported; it misses races that only a wrong fence leaves open.

use std::collections::HashMap;

/// A thread of the launch: number of its block in order of execution, number in the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub(super) block: u32,
    pub(super) thread: u32,
}

/// When each thread synchronised last.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    now: u64,
    last: HashMap<Thread, u64>,
}

impl Order {
    /// The time of an access that happens now.
    pub(super) fn now(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// `thread` synchronises.
    pub(super) fn synchronise(&mut self, thread: Thread) {
        self.now += 1;
        self.last.insert(thread, self.now);
    }

    /// Is an access of another thread at that time ordered before one that `thread` makes now?
    pub(super) fn is_before(&self, (other, time): (Thread, u64), thread: Thread) -> bool {
        let after = |thread| self.last.get(&thread).is_some_and(|&last| last > time);
        other == thread || (after(other) && after(thread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_must_synchronise_in_between() {
        let [a, b] = [0, 1].map(|thread| Thread { block: 0, thread });
        let mut order = Order::default();
        let time = order.now();
        assert!(order.is_before((a, time), a));
        assert!(!order.is_before((a, time), b));
        order.synchronise(a);
        assert!(!order.is_before((a, time), b));
        order.synchronise(b);
        assert!(order.is_before((a, time), b));
    }
}
