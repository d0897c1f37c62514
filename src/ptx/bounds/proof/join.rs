//! Where paths meet: what holds on every one of them.

use smallvec::SmallVec;

use super::atoms::{AtomKey, INFINITY, Known};
use super::engine::Engine;
use super::linear::{Lin, gcd};
use super::queries::{DEPTH, join_congruence};
use super::state::{Content, Fact, Guards, State, Value};

/// Terms of a difference above which its sign is not asked for.
const SHORT: usize = 3;

impl Engine<'_> {
    /// The state at the beginning of `block`, from the states at the ends of its predecessors.
    pub(super) fn join(&mut self, block: u32, mut states: Vec<State>) -> Option<State> {
        if states.len() <= 1 {
            return states.pop();
        }
        let mut joined = State::new(states.iter().map(|state| state.places.len()).max().unwrap_or(0));
        self.touch(&mut joined);
        self.join_atoms(&mut joined, &states);
        self.join_facts(&mut joined, &states);
        joined.equalities = states[0].equalities.clone();
        joined.equalities.retain(|known| states.iter().all(|state| state.equalities.contains(known)));
        joined.guards = join_guards(&states);
        let graph = self.graph;
        let registers = self.analysis.slice.place_count() as u32;
        let here = &graph.blocks[block as usize];
        // a header's values are made outside of its loop
        let loops = here.loops & !here.heads.map_or(0, |own| 1 << own);
        let slots = registers..joined.places.len() as u32;
        for place in here.live.iter().copied().chain(slots) {
            let content = self.join_place(&mut joined, &states, (AtomKey::Join(block, place), loops), place);
            joined.set(place, content);
        }
        // a point that cannot be reached stays as it is
        let _ = self.propagate(&mut joined);
        Some(joined)
    }

    fn join_atoms(&mut self, joined: &mut State, states: &[State]) {
        let count = states.iter().map(State::atom_count).max().unwrap_or(0);
        for index in 0..count as u32 {
            let atom = super::linear::Atom(index);
            let first = states[0].known(&self.atoms, atom);
            let hull = states[1..].iter().fold(first, |hull, state| {
                let known = state.known(&self.atoms, atom);
                if known == hull {
                    return hull;
                }
                let congruences = ((hull.modulus, hull.remainder), (known.modulus, known.remainder));
                let (modulus, remainder) = join_congruence(congruences.0, congruences.1);
                Known { low: hull.low.min(known.low), high: hull.high.max(known.high), modulus, remainder }
            });
            joined.set_known(&self.atoms, atom, hull);
        }
        self.touch(joined);
    }

    fn join_facts(&mut self, joined: &mut State, states: &[State]) {
        let mut seen: SmallVec<[_; 32]> = SmallVec::new();
        for fact in states.iter().flat_map(|state| &state.facts) {
            if !seen.contains(&fact.terms) {
                seen.push(fact.terms);
            }
        }
        for terms in seen {
            if let Some(&bound) = self.definitions.get(&terms) {
                joined.facts.push(Fact { terms, bound });
                continue;
            }
            let mut bound = -INFINITY;
            for state in states {
                let known = state.bound_of(terms).unwrap_or_else(|| self.sup_terms(state, terms, DEPTH));
                bound = bound.max(known);
                if bound == INFINITY {
                    break;
                }
            }
            if bound < self.sup_terms(joined, terms, 0) {
                joined.facts.push(Fact { terms, bound });
            }
        }
        self.touch(joined);
    }

    fn join_place(
        &mut self,
        joined: &mut State,
        states: &[State],
        at: (AtomKey, u128),
        place: u32,
    ) -> Content {
        let first = states[0].get(place);
        if states.iter().all(|state| state.get(place) == first) {
            return first;
        }
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for state in states {
            match state.get(place) {
                Content::Integer(value) => values.push(value),
                _ => return Content::Unknown,
            }
        }
        let base = values[0].base;
        if values.iter().any(|value| value.base != base) {
            return Content::Unknown;
        }
        let lins: SmallVec<[Lin; 4]> =
            states.iter().zip(&values).map(|(state, value)| self.simplified(state, value.lin)).collect();
        if lins.iter().all(|lin| *lin == lins[0]) {
            return Content::Integer(Value { base, lin: lins[0] });
        }
        let candidates = values.iter().map(|value| value.lin).chain(lins.iter().copied());
        let candidates: SmallVec<[Lin; 8]> = candidates.collect();
        for candidate in candidates {
            if states.iter().zip(&lins).all(|(state, own)| self.are_equal(state, *own, candidate)) {
                return Content::Integer(Value { base, lin: candidate });
            }
        }
        let width = self.width_of(place);
        let parts: SmallVec<[(&State, Lin); 4]> = states.iter().zip(lins.iter().copied()).collect();
        let (lin, exact) = self.hull(joined, at, &parts, width);
        if exact && !lin.is_constant() && states.len() == 2 {
            self.relate(joined, lin, (&states[0], lins[0]), (&states[1], lins[1]));
            self.relate(joined, lin, (&states[1], lins[1]), (&states[0], lins[0]));
        }
        Content::Integer(Value { base, lin })
    }

    fn are_equal(&mut self, state: &State, a: Lin, b: Lin) -> bool {
        let difference = self.linear.sub(a, b);
        match difference.as_constant() {
            Some(constant) => constant == 0,
            None => self.sup(state, difference) == 0 && self.inf(state, difference) == 0,
        }
    }

    /// `joined` takes one of two values: it is at most, or at least, the first one where the second is.
    fn relate(&mut self, state: &mut State, joined: Lin, first: (&State, Lin), second: (&State, Lin)) {
        let difference = self.linear.sub(second.1, first.1);
        if self.linear.terms(difference.terms).len() > SHORT || first.1.is_constant() {
            return;
        }
        // a contradiction means that this point is not reached
        if self.inf(second.0, difference) >= 0 {
            let below = self.linear.sub(first.1, joined);
            let _ = self.assume_not_positive(state, below);
        }
        if self.sup(second.0, difference) <= 0 {
            let above = self.linear.sub(joined, first.1);
            let _ = self.assume_not_positive(state, above);
        }
    }

    /// An expression that covers each of `parts`, each in its own state: an atom of its own, with what holds of
    /// all. Whether it is exactly one of them as an integer; if not, only modulo `2^width`.
    pub(super) fn hull(
        &mut self,
        state: &mut State,
        (key, loops): (AtomKey, u128),
        parts: &[(&State, Lin)],
        width: u32,
    ) -> (Lin, bool) {
        let (mut low, mut high) = (INFINITY, -INFINITY);
        let mut congruence = None;
        for &(own, lin) in parts {
            let (inf, sup) = self.bounds(own, lin);
            (low, high) = (low.min(inf), high.max(sup));
            let next = self.congruence(own, lin);
            congruence = Some(congruence.map_or(next, |known| join_congruence(known, next)));
        }
        let (mut modulus, mut remainder) = congruence.unwrap_or((1, 0));
        let exact = low != -INFINITY && high != INFINITY;
        if !exact {
            // the residue in its canonical range: congruent modulo powers of two only
            modulus = gcd(modulus, 1 << width);
            remainder = remainder.rem_euclid(modulus);
            (low, high) = (0, (1 << width) - 1);
        }
        if low == high {
            return (Lin::constant(low), exact);
        }
        let atom = self.atoms.make(key, Known::ANYTHING, loops);
        state.facts.retain(|fact| self.linear.coefficient(fact.terms, atom) == 0);
        state.set_known(&self.atoms, atom, Known { low, high, modulus, remainder });
        self.touch(state);
        (self.linear.atom(atom), exact)
    }
}

/// Conditions met on every path.
fn join_guards(states: &[State]) -> Option<Box<Guards>> {
    let mut guards = states[0].guards.clone()?;
    for state in &states[1..] {
        let other = state.guards.as_deref()?;
        guards.not_zero.retain(|lin| other.not_zero.contains(lin));
        guards.at_most.retain_mut(|fact| {
            let same = other.at_most.iter().find(|known| known.terms == fact.terms);
            same.is_some_and(|same| {
                fact.bound = fact.bound.max(same.bound);
                true
            })
        });
    }
    Some(guards)
}
