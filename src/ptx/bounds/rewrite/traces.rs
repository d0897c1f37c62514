//! Traces: code that is entered at its beginning alone and runs forward, though it may jump over parts of itself. Values
//! are followed along a trace, and regions lie in one.

use std::collections::BTreeMap;

use crate::ptx::ir::{Guard, Inst, Op};

/// Instructions of one trace, so that work stays in proportion.
const MOST_INSTRUCTIONS: usize = 4096;

/// Who jumps where in one function.
pub(super) struct Jumps {
    /// Where jumps come from, by where they go.
    sources: BTreeMap<usize, Vec<usize>>,
}

impl Jumps {
    pub(super) fn of(code: &[Inst]) -> Self {
        let mut sources: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (pc, inst) in code.iter().enumerate() {
            for target in inst.successors().targets {
                sources.entry(target as usize).or_default().push(pc);
            }
        }
        Self { sources }
    }

    /// Where the trace from `begin` on ends: before a place that is reached from elsewhere.
    pub(super) fn trace(&self, begin: usize, end: usize) -> usize {
        let most = end.min(begin.saturating_add(MOST_INSTRUCTIONS));
        let entered = |(_, sources): &(&usize, &Vec<usize>)| {
            sources.iter().any(|&source| source < begin) || sources.iter().any(|&source| source >= most)
        };
        let backward =
            |(target, sources): &(&usize, &Vec<usize>)| sources.iter().any(|source| source >= *target);
        let mut within = self.sources.range(begin + 1..most);
        within.find(|jump| entered(jump) || backward(jump)).map_or(most, |(target, _)| *target)
    }

    /// The first jump to `pc`, if it comes from behind `begin` like all others.
    pub(super) fn first_to(&self, pc: usize) -> Option<usize> {
        self.sources.get(&pc)?.iter().min().copied()
    }

    /// Does a jump lead to `pc`?
    pub(super) fn lead_to(&self, pc: usize) -> bool {
        self.sources.contains_key(&pc)
    }

    /// The part of a trace from `begin` on that contains `pc` and that nothing jumps into or out of: its first
    /// instruction and the one behind its last.
    pub(super) fn closed(&self, code: &[Inst], begin: usize, pc: usize) -> (usize, usize) {
        let (mut first, mut end) = (pc, pc + 1);
        loop {
            let before = (first, end);
            // jumps over what is inside, from before it
            let over = |at: &usize| target(&code[*at]).is_some_and(|target| target > before.0);
            first = (begin..first).find(over).unwrap_or(first);
            for inst in &code[first..end] {
                end = end.max(target(inst).unwrap_or(0));
            }
            end = end.min(code.len());
            if before == (first, end) {
                return before;
            }
        }
    }

    /// Is the part from `first` to `end` reached at `first` alone?
    pub(super) fn are_closed(&self, first: usize, end: usize) -> bool {
        let mut within = self.sources.range(first + 1..end.max(first + 1));
        within.all(|(_, sources)| sources.iter().all(|source| (first..end).contains(source)))
    }

    /// A guard without which the instruction at `pc` of the trace from `begin` on is jumped over.
    pub(super) fn jumped_over_unless(
        &self,
        code: &[Inst],
        begin: usize,
        pc: usize,
    ) -> Option<(usize, Guard)> {
        // the last jump over it that nothing before jumps over without jumping over `pc` too
        (begin..pc).rev().find_map(|at| {
            let guard = code[at].guard.filter(|_| target(&code[at]).is_some_and(|target| target > pc))?;
            let passed = self.sources.range(at + 1..=pc).any(|(_, sources)| sources.iter().any(|&s| s < at));
            (!passed).then_some((at, Guard { negated: !guard.negated, ..guard }))
        })
    }
}

/// Where a plain jump goes.
pub(super) fn target(inst: &Inst) -> Option<usize> {
    match inst.op {
        Op::Branch { target, .. } => Some(target as usize),
        _ => None,
    }
}
