//! Which registers of a kernel may be read before they are written. Only those are set to zero for each block; the
//! others get a value of their own before anybody looks.

use crate::ptx::ir::{Function, Reg, RegClass};

/// A set of registers, as bits.
#[derive(Clone, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn remove(&mut self, bit: usize) {
        self.0[bit / 64] &= !(1 << (bit % 64));
    }

    fn contains(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
}

/// The registers that may be read before they are written, by a backward dataflow over the code.
pub(super) fn read_before_written(function: &Function) -> Vec<(RegClass, u32)> {
    let file = &function.registers;
    let classes = [RegClass::Predicate, RegClass::Slot32, RegClass::Slot64, RegClass::Slot128];
    let mut bases = [0; 4];
    let mut total = 0;
    for (base, class) in bases.iter_mut().zip(classes) {
        *base = total;
        total += file.count(class) as usize;
    }
    let bit = |reg: Reg| {
        let class = classes.iter().position(|&class| class == reg.class()).unwrap_or(0);
        bases[class] + reg.index as usize
    };
    let empty = Set(vec![0; total.div_ceil(64).max(1)]);
    // what is live at each place that a branch may go to, the beginning among them
    let mut targets: Vec<u32> = function.code.iter().flat_map(|inst| inst.successors().targets).collect();
    targets.push(0);
    targets.sort_unstable();
    targets.dedup();
    let mut live_at: Vec<Set> = vec![empty.clone(); targets.len()];
    loop {
        let mut changed = false;
        let mut live = empty.clone();
        for (index, inst) in function.code.iter().enumerate().rev() {
            let successors = inst.successors();
            if !successors.falls_through {
                live = empty.clone();
            }
            for target in &successors.targets {
                if let Ok(place) = targets.binary_search(target) {
                    live.join(&live_at[place]);
                }
            }
            if inst.guard.is_none() {
                inst.for_each_def(|reg| live.remove(bit(reg)));
            }
            inst.for_each_use(|reg| live.insert(bit(reg)));
            if let Ok(place) = targets.binary_search(&(index as u32))
                && live_at[place] != live
            {
                live_at[place].join(&live);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let live = &live_at[0];
    let mut result = Vec::new();
    for (base, class) in bases.iter().zip(classes) {
        result.extend(
            (0..file.count(class)).filter(|&row| live.contains(base + row as usize)).map(|row| (class, row)),
        );
    }
    result
}
