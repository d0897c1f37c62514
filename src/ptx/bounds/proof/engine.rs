//! One analysis of one launch: runs the blocks of a region in order, joins paths, hands loops to `loops` and
//! instructions to `transfer`.

use smallvec::SmallVec;

use super::atoms::{AtomKey, Atoms};
use super::graph::{Graph, Item};
use super::linear::{FastMap, Linear, Terms};
use super::predicate::{Form, Forms};
use super::report::Why;
use super::state::{Content, State, Value};
use super::{Analysis, LaunchFacts, Verdict};
use crate::ptx::ir::{Function, Guard, Inst, Module, Op, Reg};

/// Steps after which an analysis gives up.
const MOST_WORK: u64 = 3_000_000;

/// A part of local memory that is followed like a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Index of the local variable.
    pub(super) local: u32,
    pub(super) offset: i128,
    /// Bytes.
    pub(super) size: u32,
}

/// A cache of bounds: one entry for each hash, as most are asked for again at once.
pub(super) struct Memo(Vec<(u32, Terms, u8, i128)>);

impl Memo {
    const SIZE: usize = 1024;

    fn new() -> Self {
        Self(vec![(u32::MAX, Terms::NONE, 0, 0); Self::SIZE])
    }

    fn place(version: u32, terms: Terms, depth: u8) -> usize {
        let mixed =
            version.wrapping_mul(0x9e37_79b1) ^ terms.0.wrapping_mul(0x85eb_ca6b) ^ u32::from(depth) << 7;
        (mixed ^ mixed >> 15) as usize % Self::SIZE
    }

    pub(super) fn get(&self, version: u32, terms: Terms, depth: u8) -> Option<i128> {
        let entry = self.0[Self::place(version, terms, depth)];
        ((entry.0, entry.1, entry.2) == (version, terms, depth)).then_some(entry.3)
    }

    pub(super) fn put(&mut self, version: u32, terms: Terms, depth: u8, bound: i128) {
        self.0[Self::place(version, terms, depth)] = (version, terms, depth, bound);
    }
}

/// What one analysis has made so far.
pub(super) struct Engine<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) graph: &'a Graph,
    pub(super) launch: &'a LaunchFacts<'a>,
    pub(super) linear: Linear,
    pub(super) atoms: Atoms,
    pub(super) forms: Forms,
    /// Facts that hold by the definition of an atom.
    pub(super) definitions: FastMap<Terms, i128>,
    pub(super) memo: Memo,
    pub(super) versions: u32,
    work: u64,
    /// Of each site, what the last visit found; none where it was not reached.
    pub(super) verdicts: Vec<Option<Verdict>>,
    pub(super) slots: Vec<Slot>,
}

/// States that leave a region: back to its header, and to blocks outside.
pub(super) type Left = (Vec<State>, Vec<(u32, State)>);

impl<'a> Engine<'a> {
    pub(super) fn new(analysis: &'a Analysis, graph: &'a Graph, launch: &'a LaunchFacts<'a>) -> Self {
        Self {
            analysis,
            module: &analysis.module,
            function: analysis.function(),
            graph,
            launch,
            linear: Linear::new(),
            atoms: Atoms::default(),
            forms: Forms::new(),
            definitions: FastMap::default(),
            memo: Memo::new(),
            versions: 0,
            work: 0,
            verdicts: vec![None; analysis.sites.len()],
            slots: Vec::new(),
        }
    }

    /// Runs the whole kernel.
    pub(super) fn prove(mut self) -> Vec<Verdict> {
        self.run(None, State::new(self.analysis.slice.place_count()));
        let unfinished = self.gave_up();
        let verdicts = self.verdicts.into_iter().zip(&self.analysis.sites).map(|(verdict, site)| {
            if unfinished {
                return Verdict::Open { reason: Why::TooMuchWork };
            }
            match verdict {
                _ if site.function != self.analysis.kernel => Verdict::Open { reason: Why::InFunction },
                Some(verdict) => verdict,
                None => Verdict::Dead,
            }
        });
        verdicts.collect()
    }

    /// Counts work; false once there was too much.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        self.work = self.work.saturating_add(steps);
        !self.gave_up()
    }

    /// Whether the result is worthless: too much work, or numbers too big.
    pub(super) fn gave_up(&self) -> bool {
        self.work > MOST_WORK || self.linear.overflowed || self.versions > u32::MAX / 2
    }

    pub(super) fn give_up(&mut self) {
        self.work = u64::MAX;
    }

    /// The width in bits of what a place holds.
    pub(super) fn width_of(&self, place: u32) -> u32 {
        let registers = &self.analysis.widths;
        match registers.get(place as usize) {
            Some(width) => *width,
            None => self.slots.get(place as usize - registers.len()).map_or(64, |slot| slot.size * 8),
        }
    }

    /// Runs a loop's body once from `entry` at its header, or the whole kernel.
    pub(super) fn run(&mut self, region: Option<u32>, entry: State) -> Left {
        let graph = self.graph;
        let (order, header) = match region {
            Some(index) => (&graph.loops[index as usize].order, graph.loops[index as usize].header),
            None => (&graph.order, 0),
        };
        for (verdict, site) in self.verdicts.iter_mut().zip(&self.analysis.sites) {
            if site.function == self.analysis.kernel
                && region.is_none_or(|index| graph.loops_at(site.pc) >> index & 1 == 1)
            {
                *verdict = None;
            }
        }
        let mut waiting: Vec<(u32, State)> = vec![(header, entry)];
        let mut left: Left = (Vec::new(), Vec::new());
        for item in order {
            if self.gave_up() {
                break;
            }
            let block = match *item {
                Item::Block(block) => block,
                Item::Loop(inner) => graph.loops[inner as usize].header,
            };
            let states = waiting.extract_if(.., |(target, _)| *target == block).map(|(_, state)| state);
            let Some(state) = self.join(block, states.collect()) else { continue };
            let after = match *item {
                Item::Block(block) => self.block(block, state),
                Item::Loop(inner) => self.run_loop(inner, state),
            };
            for (target, state) in after {
                match region {
                    Some(_) if target == header => left.0.push(state),
                    Some(index) if !graph.loops[index as usize].body.contains(target as usize) => {
                        left.1.push((target, state));
                    }
                    _ => waiting.push((target, state)),
                }
            }
        }
        left
    }

    /// Runs one block; where control goes then.
    fn block(&mut self, block: u32, mut state: State) -> Vec<(u32, State)> {
        let block = &self.graph.blocks[block as usize];
        self.spend(1 + (state.places.len() + state.atom_count()) as u64 / 8);
        let mut after = Vec::with_capacity(2);
        let function = self.function;
        for pc in block.start..block.end {
            let inst = &function.code[pc as usize];
            if matches!(inst.op, Op::Branch { .. } | Op::Return | Op::Exit | Op::Trap) {
                let Some(guard) = inst.guard else {
                    after.extend(block.taken.map(|target| (target, state)));
                    return after;
                };
                let form = self.guard(&state, guard);
                if let Some(target) = block.next {
                    let mut state = state.clone();
                    if self.assume(&mut state, form, false) {
                        after.push((target, state));
                    }
                }
                if let Some(target) = block.taken
                    && self.assume(&mut state, form, true)
                {
                    after.push((target, state));
                }
                return after;
            }
            self.guarded(&mut state, inst, pc);
            if matches!(inst.op, Op::Unsupported(_)) && inst.guard.is_none() {
                return after;
            }
        }
        after.extend(block.next.map(|target| (target, state)));
        after
    }

    fn guard(&mut self, state: &State, guard: Guard) -> Form {
        let form = self.predicate_register(state, guard.predicate);
        self.forms.negated_if(form, guard.negated)
    }

    pub(super) fn predicate_register(&self, state: &State, reg: Reg) -> Form {
        match self.analysis.slice.place(reg).map(|place| state.get(place)) {
            Some(Content::Predicate(form)) => form,
            _ => Form::UNKNOWN,
        }
    }

    /// One instruction, with its guard.
    fn guarded(&mut self, state: &mut State, inst: &Inst, pc: u32) {
        let Some(guard) = inst.guard else {
            self.step(state, inst, pc);
            return;
        };
        if !self.analysis.matters[pc as usize] {
            return;
        }
        let form = self.guard(state, guard);
        match self.decide(state, form) {
            Some(false) => return,
            Some(true) => {
                self.step(state, inst, pc);
                return;
            }
            None => {}
        }
        let mut executed = state.clone();
        if !self.assume(&mut executed, form, true) {
            return;
        }
        self.step(&mut executed, inst, pc);
        let registers = self.analysis.slice.place_count();
        for slot in registers..state.places.len().max(executed.places.len()) {
            if state.get(slot as u32) != executed.get(slot as u32) {
                state.set(slot as u32, Content::Unknown);
            }
        }
        let mut written: SmallVec<[u32; 4]> = SmallVec::new();
        inst.for_each_def(|reg| written.extend(self.analysis.slice.place(reg)));
        for place in written {
            let content = match (state.get(place), executed.get(place)) {
                (old, new) if old == new => old,
                (Content::Integer(old), Content::Integer(new)) if old.base == new.base => {
                    let key = (AtomKey::Predicated(pc, place), self.graph.loops_at(pc));
                    let before = state.clone();
                    let parts = [(&before, old.lin), (&executed, new.lin)];
                    let (lin, _) = self.hull(state, key, &parts, self.width_of(place));
                    Content::Integer(Value { base: old.base, lin })
                }
                _ => Content::Unknown,
            };
            state.set(place, content);
        }
    }
}
