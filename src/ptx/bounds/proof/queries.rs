//! Bounds and congruences of linear expressions in a state, and how a condition is added to it.

use smallvec::SmallVec;

use super::atoms::{INFINITY, Known};
use super::engine::Engine;
use super::linear::{Atom, LIMIT, Lin, Term, TermList, Terms, gcd};
use super::state::{Fact, State};

/// Facts that are combined to bound one expression.
pub(super) const DEPTH: u8 = 2;
/// Facts of one state above which no more are combined.
const MANY_FACTS: usize = 60;
/// Facts of one state above which no more are kept.
const MOST_FACTS: usize = 90;
/// Rounds in which ranges of atoms are made narrower by facts.
const PROPAGATION: usize = 4;

/// `coefficient × bound`, keeping infinity.
fn times(coefficient: i128, bound: i128) -> i128 {
    match bound {
        INFINITY | NEGATIVE => {
            if (coefficient > 0) == (bound > 0) {
                INFINITY
            } else {
                NEGATIVE
            }
        }
        _ => match coefficient.checked_mul(bound) {
            Some(product) if -LIMIT < product && product < LIMIT => product,
            _ if (coefficient > 0) == (bound > 0) => INFINITY,
            _ => NEGATIVE,
        },
    }
}

const NEGATIVE: i128 = -INFINITY;

/// The sum of two upper bounds: infinite if it is not known to be less.
fn plus(a: i128, b: i128) -> i128 {
    match a.checked_add(b) {
        Some(sum) if a != INFINITY && b != INFINITY && sum < LIMIT && sum > -LIMIT => sum,
        _ => INFINITY,
    }
}

/// A congruence of two numbers at once: what holds of both.
pub(super) fn join_congruence(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    let modulus = gcd(gcd(a.0, b.0), a.1 - b.1);
    (modulus, if modulus == 0 { a.1 } else { a.1.rem_euclid(modulus) })
}

impl Engine<'_> {
    /// A new version of `state`, after a change.
    pub(super) fn touch(&mut self, state: &mut State) {
        self.versions += 1;
        state.version = self.versions;
    }

    fn interval_sup(&self, state: &State, terms: &[Term]) -> i128 {
        let mut sum = 0;
        for &(atom, c) in terms {
            let known = state.known(&self.atoms, atom);
            sum = plus(sum, times(c, if c > 0 { known.high } else { known.low }));
            if sum == INFINITY {
                break;
            }
        }
        sum
    }

    /// The congruence of a sum of terms.
    fn terms_congruence(&self, state: &State, terms: &[Term]) -> (i128, i128) {
        let (mut modulus, mut remainder) = (0, 0_i128);
        for &(atom, c) in terms {
            let known = state.known(&self.atoms, atom);
            let (Some(m), Some(r)) = (c.checked_mul(known.modulus), c.checked_mul(known.remainder)) else {
                return (1, 0);
            };
            modulus = gcd(modulus, m);
            if modulus == 1 {
                return (1, 0);
            }
            let Some(sum) = remainder.checked_add(r) else { return (1, 0) };
            remainder = sum;
        }
        (modulus, if modulus == 0 { remainder } else { remainder.rem_euclid(modulus) })
    }

    /// `(m, r)` with `lin ≡ r (mod m)`; `m` is 0 where `lin` is `r`.
    pub(super) fn congruence(&self, state: &State, lin: Lin) -> (i128, i128) {
        let (modulus, remainder) = self.terms_congruence(state, &self.linear.terms(lin.terms));
        let remainder = remainder + lin.constant;
        (modulus, if modulus == 0 { remainder } else { remainder.rem_euclid(modulus) })
    }

    /// The greatest number up to `bound` that the congruence of the terms allows.
    fn tight(&self, state: &State, terms: &[Term], bound: i128) -> i128 {
        if bound == INFINITY {
            return bound;
        }
        match self.terms_congruence(state, terms) {
            (0, remainder) => bound.min(remainder),
            (1, _) => bound,
            (modulus, remainder) => bound - (bound - remainder).rem_euclid(modulus),
        }
    }

    /// An upper bound of `lin`, or infinity.
    pub(super) fn sup(&mut self, state: &State, lin: Lin) -> i128 {
        self.sup_to(state, lin, DEPTH)
    }

    pub(super) fn sup_to(&mut self, state: &State, lin: Lin, depth: u8) -> i128 {
        match lin.as_constant() {
            Some(constant) => constant,
            None => plus(self.sup_terms(state, lin.terms, depth), lin.constant),
        }
    }

    /// A lower bound of `lin`, or minus infinity.
    pub(super) fn inf(&mut self, state: &State, lin: Lin) -> i128 {
        self.inf_to(state, lin, DEPTH)
    }

    pub(super) fn inf_to(&mut self, state: &State, lin: Lin, depth: u8) -> i128 {
        let negated = self.linear.scale(lin, -1);
        -self.sup_to(state, negated, depth)
    }

    pub(super) fn bounds(&mut self, state: &State, lin: Lin) -> (i128, i128) {
        (self.inf(state, lin), self.sup(state, lin))
    }

    pub(super) fn sup_terms(&mut self, state: &State, terms: Terms, depth: u8) -> i128 {
        let depth = if state.facts.is_empty() { 0 } else { depth };
        if let Some(known) = self.memo.get(state.version, terms, depth) {
            return known;
        }
        let list = self.linear.terms(terms);
        let interval = self.interval_sup(state, &list);
        let mut best = self.tight(state, &list, interval);
        if depth > 0 && self.spend(1 + state.facts.len() as u64) {
            for index in 0..state.facts.len() {
                let fact = state.facts[index];
                let other = self.linear.terms(fact.terms);
                for &(atom, d) in other.iter() {
                    let Some(&(_, c)) = list.iter().find(|term| term.0 == atom) else { continue };
                    if (c > 0) == (d > 0) {
                        let bound = self.sup_through(state, &list, (&other, fact.bound), (c, d), depth);
                        best = best.min(bound);
                    }
                }
            }
            best = self.tight(state, &list, best);
        }
        self.memo.put(state.version, terms, depth, best);
        best
    }

    /// The bound of `list` when so much of `fact` is subtracted that an atom of coefficients `c` and `d` goes.
    fn sup_through(
        &mut self,
        state: &State,
        list: &[Term],
        (fact, bound): (&[Term], i128),
        (c, d): (i128, i128),
        depth: u8,
    ) -> i128 {
        let common = gcd(c, d);
        let (scale, multiple) = (d.abs() / common, c.abs() / common);
        let Some(rest) = combine(list, scale, fact, -multiple) else { return INFINITY };
        if rest.len() > list.len() {
            return INFINITY;
        }
        let mut sum = times(multiple, bound);
        if sum == NEGATIVE {
            return INFINITY;
        }
        if !rest.is_empty() {
            let rest_sup = match depth {
                0 | 1 => {
                    let interval = self.interval_sup(state, &rest);
                    self.tight(state, &rest, interval)
                }
                _ => {
                    let terms = self.linear.intern(&rest);
                    self.sup_terms(state, terms, depth - 1)
                }
            };
            sum = plus(sum, rest_sup);
        }
        if sum == INFINITY { INFINITY } else { sum.div_euclid(scale) }
    }

    /// Makes an atom's range narrower. `None`: nothing is left. Otherwise whether anything changed.
    pub(super) fn narrow(&mut self, state: &mut State, atom: Atom, low: i128, high: i128) -> Option<bool> {
        let old = state.known(&self.atoms, atom);
        let (mut low, mut high) = (low.max(old.low), high.min(old.high));
        if old.modulus == 0 {
            (low, high) = (low.max(old.remainder), high.min(old.remainder));
        } else if old.modulus > 1 {
            if low != NEGATIVE {
                low += (old.remainder - low).rem_euclid(old.modulus);
            }
            if high != INFINITY {
                high -= (high - old.remainder).rem_euclid(old.modulus);
            }
        }
        if low > high {
            return None;
        }
        let changed = (low, high) != (old.low, old.high);
        if changed {
            state.set_known(&self.atoms, atom, Known { low, high, ..old });
            self.touch(state);
        }
        Some(changed)
    }

    /// Assumes `lin ≤ 0`. False: then this point is never reached.
    pub(super) fn assume_not_positive(&mut self, state: &mut State, lin: Lin) -> bool {
        self.assume_at_most(state, lin, true)
    }

    fn assume_at_most(&mut self, state: &mut State, lin: Lin, combine_facts: bool) -> bool {
        let bound = -lin.constant;
        if lin.is_constant() {
            return 0 <= bound;
        }
        let list = self.linear.terms(lin.terms);
        let mut bound = self.tight(state, &list, bound);
        let common = list.iter().fold(0, |common, term| gcd(common, term.1));
        let (terms, list) = match common {
            0 | 1 => (lin.terms, list),
            _ => {
                bound = bound.div_euclid(common);
                let divided: TermList = list.iter().map(|&(atom, c)| (atom, c / common)).collect();
                let terms = self.linear.intern(&divided);
                (terms, self.linear.terms(terms))
            }
        };
        if let [(atom, c)] = *list {
            let narrowed = match c > 0 {
                true => self.narrow(state, atom, NEGATIVE, bound),
                false => self.narrow(state, atom, -bound, INFINITY),
            };
            return match narrowed {
                None => false,
                Some(true) => self.propagate(state),
                Some(false) => true,
            };
        }
        if state.bound_of(terms).is_some_and(|known| known <= bound)
            || self.interval_sup(state, &list) <= bound
            || state.facts.len() >= MOST_FACTS
        {
            return true;
        }
        state.put_fact(Fact { terms, bound });
        self.touch(state);
        let negative = self.linear.negated(terms);
        if -self.interval_sup(state, &self.linear.terms(negative)) > bound || !self.propagate(state) {
            return false;
        }
        if !combine_facts || state.facts.len() >= MANY_FACTS {
            return true;
        }
        self.combine_with_all(state, Fact { terms, bound })
    }

    /// Adds what follows from a new fact and each other one, where an atom goes and the result is shorter.
    fn combine_with_all(&mut self, state: &mut State, new: Fact) -> bool {
        let list = self.linear.terms(new.terms);
        let others: SmallVec<[Fact; 16]> = state.facts.iter().copied().collect();
        for other in others.into_iter().filter(|other| other.terms != new.terms) {
            let terms = self.linear.terms(other.terms);
            for &(atom, c) in list.iter() {
                let Some(&(_, d)) = terms.iter().find(|term| term.0 == atom) else { continue };
                if (c > 0) == (d > 0) {
                    continue;
                }
                let common = gcd(c, d);
                let (scale, multiple) = (d.abs() / common, c.abs() / common);
                let Some(sum) = combine(&list, scale, &terms, multiple) else { continue };
                let (shorter, longer) = (list.len().min(terms.len()), list.len().max(terms.len()));
                if sum.len() >= longer || sum.len() > shorter {
                    continue;
                }
                let bound = plus(times(scale, new.bound), times(multiple, other.bound));
                if bound == INFINITY {
                    continue;
                }
                if sum.is_empty() {
                    if bound < 0 {
                        return false;
                    }
                } else if self.interval_sup(state, &sum) > bound {
                    let lin = Lin { constant: -bound, terms: self.linear.intern(&sum) };
                    if !self.assume_at_most(state, lin, false) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Makes ranges narrower by the facts. False: a fact cannot hold.
    pub(super) fn propagate(&mut self, state: &mut State) -> bool {
        for _ in 0..PROPAGATION {
            let mut changed = false;
            for index in 0..state.facts.len() {
                let Fact { terms, bound } = state.facts[index];
                let list = self.linear.terms(terms);
                // lower bounds of the terms
                let lows: SmallVec<[i128; 6]> = list
                    .iter()
                    .map(|&(atom, c)| {
                        let known = state.known(&self.atoms, atom);
                        times(c, if c > 0 { known.low } else { known.high })
                    })
                    .collect();
                let infinite = lows.iter().filter(|low| **low == NEGATIVE).count();
                if infinite > 1 || lows.contains(&INFINITY) {
                    continue;
                }
                let sum: i128 = lows.iter().filter(|low| **low != NEGATIVE).sum();
                if infinite == 0 && sum > bound {
                    return false;
                }
                for (&(atom, c), &low) in list.iter().zip(&lows) {
                    if infinite == 1 && low != NEGATIVE {
                        continue;
                    }
                    let left = bound - (sum - if low == NEGATIVE { 0 } else { low });
                    let narrowed = match c > 0 {
                        true => self.narrow(state, atom, NEGATIVE, left.div_euclid(c)),
                        false => self.narrow(state, atom, -left.div_euclid(-c), INFINITY),
                    };
                    match narrowed {
                        None => return false,
                        Some(narrowed) => changed |= narrowed,
                    }
                }
            }
            if !changed {
                break;
            }
        }
        true
    }

    /// `lin` with the atoms that have one value replaced by it.
    pub(super) fn simplified(&mut self, state: &State, lin: Lin) -> Lin {
        let terms = self.linear.terms(lin.terms);
        let fixed: SmallVec<[(Atom, Lin); 4]> = terms
            .iter()
            .filter_map(|&(atom, _)| {
                let known = state.known(&self.atoms, atom);
                (known.low == known.high).then(|| (atom, Lin::constant(known.low)))
            })
            .collect();
        match fixed.is_empty() {
            true => lin,
            false => self.linear.substitute(lin, &fixed),
        }
    }
}

/// `scale·a + multiple·b`, `None` where the numbers grow too big.
fn combine(a: &[Term], scale: i128, b: &[Term], multiple: i128) -> Option<TermList> {
    let mut sum = TermList::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let (left, right) = (a.get(i), b.get(j));
        let atom = match (left, right) {
            (Some(x), Some(y)) => x.0.min(y.0),
            (Some(x), None) | (None, Some(x)) => x.0,
            (None, None) => break,
        };
        let mut c = 0_i128;
        if let Some(x) = left.filter(|x| x.0 == atom) {
            c = x.1.checked_mul(scale)?;
            i += 1;
        }
        if let Some(y) = right.filter(|y| y.0 == atom) {
            c = y.1.checked_mul(multiple)?.checked_add(c)?;
            j += 1;
        }
        if !(-LIMIT < c && c < LIMIT) {
            return None;
        }
        if c != 0 {
            sum.push((atom, c));
        }
    }
    Some(sum)
}
