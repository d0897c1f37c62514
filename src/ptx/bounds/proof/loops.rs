//! Loops: registers that grow by a constant in each round become `entry + step·rounds`, guards become invariants
//! once they are proved to be kept, everything else a range that covers all rounds.

use super::Verdict;
use super::atoms::{AtomKey, INFINITY, Known};
use super::engine::Engine;
use super::linear::{Atom, Lin, gcd};
use super::queries::join_congruence;
use super::state::{Base, Content, Guards, State, Value};

/// Rounds of the analysis after which nothing but full ranges is tried, and after which it gives up.
const PATIENCE: (usize, usize) = (40, 80);
/// Enlargements of a range after which it jumps to a threshold, and after which to everything.
const ENLARGED: (u32, u32) = (6, 12);
/// Most rounds that are looked at one by one.
const SPLIT: i128 = 64;

/// What a place that the body writes holds at the header.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// `entry + step·rounds`
    Induction(i128),
    /// Any integer of this kind, afresh in each round.
    Range(Known),
    Unknown,
}

/// A live place that the body writes.
struct Modified {
    place: u32,
    width: u32,
    base: Option<Base>,
    entry: Lin,
    /// Stands for the value at the header where there is no induction.
    round: Atom,
    form: Form,
    enlarged: u32,
    /// Where the guards would stop it, as a guess.
    thresholds: (i128, i128),
}

impl Modified {
    fn full(&self) -> (i128, i128) {
        (0, (1 << self.width) - 1)
    }

    /// Every residue, with so much of a congruence as wrapping around keeps.
    fn anything(&self, (modulus, remainder): (i128, i128)) -> Known {
        let modulus = gcd(modulus, 1 << self.width);
        let (low, high) = self.full();
        Known { low, high, modulus, remainder: remainder.rem_euclid(modulus) }
    }
}

impl Engine<'_> {
    /// Runs a loop until what is known at its header holds in every round. The states that leave it.
    pub(super) fn run_loop(&mut self, index: u32, mut start: State) -> Vec<(u32, State)> {
        let graph = self.graph;
        let here = &graph.loops[index as usize];
        let inside = graph.blocks[here.header as usize].loops;
        let rounds = self.atoms.make(AtomKey::Rounds(index), Known::between(0, INFINITY), inside);
        let registers = self.analysis.slice.place_count();
        if here.writes_local {
            start.places.truncate(registers);
        }
        let mut modified = Vec::new();
        for &place in &here.modified {
            match start.get(place) {
                Content::Integer(value) => modified.push(Modified {
                    place,
                    width: self.width_of(place),
                    base: value.base,
                    entry: value.lin,
                    round: self.atoms.make(AtomKey::Round(index, place), Known::ANYTHING, inside),
                    form: Form::Unknown,
                    enlarged: 0,
                    thresholds: (INFINITY, -INFINITY),
                }),
                _ => start.set(place, Content::Unknown),
            }
        }
        let back = self.trial(index, &start, &mut modified);
        let mut candidates = self.candidates(index, rounds, &start, &modified, &back);
        self.thresholds(&start, &mut modified, &back);
        let (header, exits) = self.settle(index, rounds, &start, &mut modified, &mut candidates);
        if !self.gave_up() {
            self.split_rounds(index, rounds, &header);
        }
        exits.into_iter().map(|(target, state)| (target, self.without_rounds(index, rounds, state))).collect()
    }

    /// One pass with a fresh value in each modified place: what does a round do to it?
    fn trial(&mut self, index: u32, start: &State, modified: &mut [Modified]) -> Vec<State> {
        let mut header = start.clone();
        header.guards = Some(Box::new(Guards::default()));
        for place in modified.iter() {
            header.set_known(&self.atoms, place.round, Known::ANYTHING);
            let lin = self.linear.atom(place.round);
            header.set(place.place, Content::Integer(Value { base: place.base, lin }));
        }
        self.touch(&mut header);
        let (back, _) = self.run(Some(index), header);
        for place in modified {
            let own = self.linear.atom(place.round);
            let mut step = None;
            for state in &back {
                let grown = match state.get(place.place) {
                    Content::Integer(value) if value.base == place.base => {
                        let lin = self.simplified(state, value.lin);
                        self.linear.sub(lin, own).as_constant()
                    }
                    _ => None,
                };
                match (grown, step) {
                    (Some(grown), None) => step = Some(Some(grown)),
                    (Some(grown), Some(Some(known))) if grown == known => {}
                    _ => step = Some(None),
                }
            }
            place.form = match step.flatten() {
                Some(step) => Form::Induction(step),
                None => Form::Range(self.range_at_entry(start, place)),
            };
        }
        back
    }

    fn range_at_entry(&mut self, start: &State, place: &Modified) -> Known {
        let (low, high) = self.bounds(start, place.entry);
        let (modulus, remainder) = self.congruence(start, place.entry);
        match low == -INFINITY || high == INFINITY {
            true => place.anything((modulus, remainder)),
            false => Known { low, high, modulus, remainder },
        }
    }

    fn at_header(&mut self, place: &Modified, rounds: Atom) -> Option<Lin> {
        match place.form {
            Form::Induction(step) => {
                let rounds = self.linear.atom(rounds);
                Some(self.linear.add_scaled(place.entry, rounds, step))
            }
            _ => None,
        }
    }

    /// Guesses at invariants from the guards that each way around the loop met: `lin ≤ 0` in each round.
    fn candidates(
        &mut self,
        index: u32,
        rounds: Atom,
        start: &State,
        modified: &[Modified],
        back: &[State],
    ) -> Vec<Lin> {
        let own = self.linear.atom(rounds);
        let previous = self.linear.plus(own, -1);
        let mut forms: Vec<(Atom, Lin)> = Vec::new();
        for place in modified {
            if let Some(lin) = self.at_header(place, rounds) {
                forms.push((place.round, lin));
            }
        }
        let mut found: Vec<Lin> = Vec::new();
        for guards in back.iter().filter_map(|state| state.guards.as_deref()) {
            let at_most = guards.at_most.iter().map(|f| (Lin { constant: -f.bound, terms: f.terms }, false));
            let not_zero = guards.not_zero.iter().map(|lin| (*lin, true));
            for (lin, is_exit) in at_most.chain(not_zero) {
                let lin = self.linear.substitute(lin, &forms);
                let lin = self.linear.substitute(lin, &[(rounds, previous)]);
                let c = self.linear.coefficient(lin.terms, rounds);
                let terms = self.linear.terms(lin.terms);
                let fixed = |atom: Atom| atom == rounds || self.atoms.get(atom).loops >> index & 1 == 0;
                if c == 0 || !terms.iter().all(|term| fixed(term.0)) {
                    continue;
                }
                let lin = match is_exit {
                    false => lin,
                    // it has not yet come to 0, from the side that it comes from
                    true => {
                        let toward = if c < 0 { self.linear.scale(lin, -1) } else { lin };
                        self.linear.plus(toward, 1)
                    }
                };
                if !found.contains(&lin) {
                    found.push(lin);
                }
            }
        }
        // what holds at the first entry, if need be with a weaker bound
        let mut kept = Vec::with_capacity(found.len());
        for lin in found {
            let first = self.linear.substitute(lin, &[(rounds, Lin::ZERO)]);
            let sup = self.sup(start, first);
            if sup != INFINITY {
                kept.push(self.linear.plus(lin, -sup.max(0)));
            }
        }
        kept
    }

    /// How far the guards would let each range grow.
    fn thresholds(&mut self, start: &State, modified: &mut [Modified], back: &[State]) {
        if !modified.iter().any(|place| matches!(place.form, Form::Range(_))) {
            return;
        }
        for state in back {
            let Some(guards) = state.guards.as_deref() else { continue };
            let mut guarded = start.clone();
            guarded.facts.clear();
            self.touch(&mut guarded);
            for fact in &guards.at_most {
                let lin = Lin { constant: -fact.bound, terms: fact.terms };
                // a guess: contradictions do not matter
                let _ = self.assume_not_positive(&mut guarded, lin);
            }
            for place in modified.iter_mut().filter(|place| matches!(place.form, Form::Range(_))) {
                let Content::Integer(value) = state.get(place.place) else { continue };
                let (mut low, mut high) = self.bounds(&guarded, value.lin);
                let negated = self.linear.scale(value.lin, -1);
                for fact in &guards.at_most {
                    if fact.terms == value.lin.terms {
                        high = high.min(fact.bound + value.lin.constant);
                    }
                    if fact.terms == negated.terms {
                        low = low.max(value.lin.constant - fact.bound);
                    }
                }
                place.thresholds = (place.thresholds.0.min(low), place.thresholds.1.max(high));
            }
        }
    }

    /// Runs the body until nothing has to be given up any more. The header's state, and the ways out.
    fn settle(
        &mut self,
        index: u32,
        rounds: Atom,
        start: &State,
        modified: &mut [Modified],
        candidates: &mut Vec<Lin>,
    ) -> (State, Vec<(u32, State)>) {
        let own = self.linear.atom(rounds);
        let next = self.linear.plus(own, 1);
        for pass in 0.. {
            let mut header = start.clone();
            for place in modified.iter() {
                let content = match place.form {
                    Form::Unknown => Content::Unknown,
                    Form::Induction(step) => {
                        let lin = self.linear.add_scaled(place.entry, own, step);
                        Content::Integer(Value { base: place.base, lin })
                    }
                    Form::Range(known) if known.low == known.high => {
                        Content::Integer(Value { base: place.base, lin: Lin::constant(known.low) })
                    }
                    Form::Range(known) => {
                        header.set_known(&self.atoms, place.round, known);
                        let lin = self.linear.atom(place.round);
                        Content::Integer(Value { base: place.base, lin })
                    }
                };
                header.set(place.place, content);
            }
            header.set_known(&self.atoms, rounds, Known::between(0, INFINITY));
            self.touch(&mut header);
            for &candidate in candidates.iter() {
                // it holds at entry and is checked below; no contradiction comes of it where this is reached
                let _ = self.assume_not_positive(&mut header, candidate);
            }
            let (back, exits) = self.run(Some(index), header.clone());
            if self.gave_up() {
                return (header, Vec::new());
            }
            let mut changed = false;
            for state in &back {
                candidates.retain(|&candidate| {
                    let again = self.linear.substitute(candidate, &[(rounds, next)]);
                    let kept = self.sup(state, again) <= 0;
                    changed |= !kept;
                    kept
                });
                for place in modified.iter_mut() {
                    changed |= self.cover(start, state, place, next);
                }
            }
            if !changed {
                return (header, exits);
            }
            if pass >= PATIENCE.0 {
                candidates.clear();
                for place in modified.iter_mut() {
                    if let Form::Range(_) = place.form {
                        place.form = Form::Range(place.anything((1, 0)));
                    }
                }
            }
            if pass >= PATIENCE.1 {
                self.give_up();
            }
        }
        (start.clone(), Vec::new())
    }

    /// Makes what is assumed of a place cover the value that comes back. Whether it had to change.
    fn cover(&mut self, start: &State, state: &State, place: &mut Modified, next: Lin) -> bool {
        if matches!(place.form, Form::Unknown) {
            return false;
        }
        let value = match state.get(place.place) {
            Content::Integer(value) if value.base == place.base => value.lin,
            _ => {
                place.form = Form::Unknown;
                return true;
            }
        };
        let lin = self.simplified(state, value);
        let known = match place.form {
            Form::Induction(step) => {
                let wanted = self.linear.add_scaled(place.entry, next, step);
                let difference = self.linear.sub(lin, wanted);
                let same = match difference.as_constant() {
                    Some(constant) => constant % (1 << place.width) == 0,
                    None => self.sup(state, difference) == 0 && self.inf(state, difference) == 0,
                };
                if !same {
                    place.form = Form::Range(self.range_at_entry(start, place));
                }
                return !same;
            }
            Form::Range(known) => known,
            Form::Unknown => return false,
        };
        let all = (known.low, known.high) == place.full();
        let (inf, sup) = self.bounds(state, lin);
        let congruence = join_congruence((known.modulus, known.remainder), self.congruence(state, lin));
        let (mut low, mut high) = (known.low.min(inf), known.high.max(sup));
        let mut wider = Known { low, high, modulus: congruence.0, remainder: congruence.1 };
        if all {
            wider = place.anything(congruence);
        }
        if wider == known {
            return false;
        }
        if !all {
            place.enlarged += 1;
            if place.enlarged > ENLARGED.0 {
                (low, high) = jump(place, known, (low, high));
            }
            let endless = low == -INFINITY || high == INFINITY || high - low >= 1 << place.width;
            wider = match endless {
                true => place.anything(congruence),
                false => Known { low, high, ..wider },
            };
        }
        place.form = Form::Range(wider);
        true
    }

    /// Looks at each number of rounds by itself, where they are few and something stayed open.
    fn split_rounds(&mut self, index: u32, rounds: Atom, header: &State) {
        let most = header.known(&self.atoms, rounds).high;
        let inside = |pc: u32| self.graph.loops_at(pc) >> index & 1 == 1;
        let body: Vec<usize> = (0..self.verdicts.len())
            .filter(|&site| {
                let site = &self.analysis.sites[site];
                site.function == self.analysis.kernel && inside(site.pc)
            })
            .collect();
        let is_open = |verdict: &Option<Verdict>| matches!(verdict, Some(Verdict::Open { .. }));
        if most > SPLIT || !body.iter().any(|&site| is_open(&self.verdicts[site])) {
            return;
        }
        let together: Vec<_> = body.iter().map(|&site| self.verdicts[site]).collect();
        let mut apart: Vec<Option<Verdict>> = vec![None; body.len()];
        for round in 0..=most {
            let mut state = header.clone();
            if self.narrow(&mut state, rounds, round, round).is_none() || !self.propagate(&mut state) {
                continue;
            }
            for place in 0..state.places.len() as u32 {
                if let Content::Integer(value) = state.get(place) {
                    let lin = self.simplified(&state, value.lin);
                    state.set(place, Content::Integer(Value { lin, ..value }));
                }
            }
            self.run(Some(index), state);
            for (&site, sum) in body.iter().zip(&mut apart) {
                *sum = both(*sum, self.verdicts[site]);
            }
        }
        for ((&site, together), apart) in body.iter().zip(together).zip(apart) {
            self.verdicts[site] = if is_open(&together) { apart } else { together };
        }
    }

    /// Replaces the number of rounds by what it is known to be at the end.
    fn without_rounds(&mut self, index: u32, rounds: Atom, mut state: State) -> State {
        let is_fixed = |engine: &Self, lin: Lin| engine.loops_of(lin) >> index & 1 == 0;
        let mut value = None;
        for position in 0..state.facts.len() {
            let fact = state.facts[position];
            let c = self.linear.coefficient(fact.terms, rounds);
            let opposite = self.linear.negated(fact.terms);
            if c.abs() == 1 && state.bound_of(opposite) == Some(-fact.bound) {
                // c·rounds + rest = bound
                let own = self.linear.atom(rounds);
                let whole = Lin { constant: -fact.bound, terms: fact.terms };
                let lin = self.linear.add_scaled(own, whole, -c);
                if is_fixed(self, lin) {
                    value = Some(lin);
                    break;
                }
            }
        }
        if let Some((_, lin)) = state.equalities.iter().find(|(atom, _)| *atom == rounds)
            && is_fixed(self, *lin)
        {
            value = Some(*lin);
        }
        let known = state.known(&self.atoms, rounds);
        if known.low == known.high && value.is_none() {
            value = Some(Lin::constant(known.low));
        }
        let Some(value) = value else { return state };
        for place in 0..state.places.len() as u32 {
            if let Content::Integer(content) = state.get(place) {
                let lin = self.linear.substitute(content.lin, &[(rounds, value)]);
                state.set(place, Content::Integer(Value { lin, ..content }));
            }
        }
        state
    }
}

/// A range that grows again and again goes to where the guards would stop it, and then to everything.
fn jump(place: &Modified, known: Known, (mut low, mut high): (i128, i128)) -> (i128, i128) {
    let patient = place.enlarged < ENLARGED.1;
    let half = 1_i128 << (place.width - 1);
    if low < known.low {
        let stops = [place.thresholds.0, 0, -half];
        let stop = stops.into_iter().find(|stop| *stop <= low && *stop > -INFINITY);
        low = stop.filter(|_| patient).unwrap_or(-INFINITY);
    }
    if high > known.high {
        let stops = [place.thresholds.1, half - 1, 2 * half - 1];
        let stop = stops.into_iter().find(|stop| *stop >= high && *stop < INFINITY);
        high = stop.filter(|_| patient).unwrap_or(INFINITY);
    }
    (low, high)
}

/// What holds of a site if both of two visits are possible.
fn both(a: Option<Verdict>, b: Option<Verdict>) -> Option<Verdict> {
    match (a, b) {
        (None | Some(Verdict::Dead), other) | (other, None | Some(Verdict::Dead)) => other,
        (Some(open @ Verdict::Open { .. }), _) | (_, Some(open @ Verdict::Open { .. })) => Some(open),
        (
            Some(Verdict::Proved { lo, hi, region, aligned }),
            Some(Verdict::Proved { lo: low, hi: high, region: other, aligned: also }),
        ) => Some(match region == other {
            true => Verdict::Proved { lo: lo.min(low), hi: hi.max(high), region, aligned: aligned && also },
            false => Verdict::Open { reason: super::report::Why::SeveralRegions },
        }),
    }
}
