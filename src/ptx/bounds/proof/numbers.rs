//! A register's residue read as an exact integer, and division by a constant. Whether a value wraps around is
//! decided here and nowhere else.

use super::atoms::{AtomKey, INFINITY, Known};
use super::engine::Engine;
use super::linear::{Lin, gcd, residue};
use super::queries::DEPTH;
use super::state::State;

impl Engine<'_> {
    /// The integer that `lin`, modulo `2^width`, is read as, where `lin` provably lies in one window of values.
    pub(super) fn fit(&mut self, state: &State, lin: Lin, width: u32, signed: bool) -> Option<Lin> {
        if let Some(constant) = lin.as_constant() {
            return Some(Lin::constant(residue(constant, width, signed)));
        }
        let modulus = 1_i128 << width;
        let low = if signed { -(modulus / 2) } else { 0 };
        for depth in [0, DEPTH] {
            let (inf, sup) = (self.inf_to(state, lin, depth), self.sup_to(state, lin, depth));
            if inf == -INFINITY || sup == INFINITY {
                continue;
            }
            let window = (inf - low).div_euclid(modulus);
            if (sup - low).div_euclid(modulus) == window {
                return Some(self.linear.plus(lin, -window * modulus));
            }
        }
        None
    }

    /// The integer that `lin`, modulo `2^width`, is read as: itself, or an atom of its own.
    pub(super) fn integer(&mut self, state: &mut State, lin: Lin, width: u32, signed: bool) -> Lin {
        if let Some(exact) = self.fit(state, lin, width, signed) {
            return exact;
        }
        let other = AtomKey::View { width, signed: !signed, of: lin };
        if let Some(atom) = self.atoms.find(other) {
            let known = state.known(&self.atoms, atom);
            if known.low >= 0 && known.high < 1 << (width - 1) {
                return self.linear.atom(atom);
            }
        }
        let loops = self.loops_of(lin);
        let key = AtomKey::View { width, signed, of: lin };
        let atom = self.atoms.make(key, Known::of_width(width, signed), loops);
        let known = state.known(&self.atoms, atom);
        if known.modulus == 1 {
            let (modulus, remainder) = self.congruence(state, lin);
            let modulus = gcd(modulus, 1 << width);
            if modulus > 1 {
                let remainder = remainder.rem_euclid(modulus);
                state.set_known(&self.atoms, atom, Known { modulus, remainder, ..known });
                self.touch(state);
            }
        }
        self.linear.atom(atom)
    }

    /// `lin = divisor·high + low` with `0 ≤ low < divisor`, where that is provable term by term.
    pub(super) fn split(&mut self, state: &State, lin: Lin, divisor: i128) -> Option<(Lin, Lin)> {
        let mut high = Lin::constant(lin.constant.div_euclid(divisor));
        let mut low = Lin::constant(lin.constant.rem_euclid(divisor));
        for &(atom, c) in self.linear.terms(lin.terms).iter() {
            let term = self.linear.atom(atom);
            match c % divisor == 0 {
                true => high = self.linear.add_scaled(high, term, c / divisor),
                false => low = self.linear.add_scaled(low, term, c),
            }
        }
        if low.is_constant() {
            return Some((high, low));
        }
        for depth in [0, DEPTH] {
            let (inf, sup) = (self.inf_to(state, low, depth), self.sup_to(state, low, depth));
            if inf == -INFINITY || sup == INFINITY {
                continue;
            }
            let block = inf.div_euclid(divisor);
            if sup.div_euclid(divisor) == block {
                let high = self.linear.plus(high, block);
                return Some((high, self.linear.plus(low, -block * divisor)));
            }
        }
        None
    }

    /// `lin mod divisor`, where the congruence decides it.
    pub(super) fn remainder_by_congruence(&self, state: &State, lin: Lin, divisor: i128) -> Option<i128> {
        let (modulus, remainder) = self.congruence(state, lin);
        (modulus % divisor == 0).then(|| remainder.rem_euclid(divisor))
    }

    /// `⌊lin / divisor⌋` for a positive divisor.
    pub(super) fn floor_divide(&mut self, state: &mut State, lin: Lin, divisor: i128) -> Lin {
        if divisor == 1 {
            return lin;
        }
        let lin = self.simplified(state, lin);
        if let Some((high, _)) = self.split(state, lin, divisor) {
            return high;
        }
        let remainder = self.remainder_by_congruence(state, lin, divisor);
        let loops = self.loops_of(lin);
        let atom = self.atoms.make(AtomKey::Quotient(lin, divisor), Known::ANYTHING, loops);
        let quotient = self.linear.atom(atom);
        let (inf, sup) = self.bounds(state, lin);
        let low = if inf == -INFINITY { inf } else { inf.div_euclid(divisor) };
        let high = if sup == INFINITY { sup } else { sup.div_euclid(divisor) };
        // a point that is never reached may be narrowed to nothing; then it stays as it is
        let _ = self.narrow(state, atom, low, high);
        // divisor·quotient − lin, between 1 − divisor and 0
        let scaled = self.linear.scale(quotient, divisor);
        let below = self.linear.sub(scaled, lin);
        let above = self.linear.scale(below, -1);
        let (below, above) = match remainder {
            Some(remainder) => (self.linear.plus(below, remainder), self.linear.plus(above, -remainder)),
            None => {
                let above = self.linear.plus(above, 1 - divisor);
                self.define(below);
                self.define(above);
                (below, above)
            }
        };
        let _ = self.assume_not_positive(state, below) && self.assume_not_positive(state, above);
        quotient
    }

    /// Remembers `lin ≤ 0` as true in every state, so that joins need not prove it.
    fn define(&mut self, lin: Lin) {
        let list = self.linear.terms(lin.terms);
        let common = list.iter().fold(0, |common, term| gcd(common, term.1));
        if list.len() < 2 || common == 0 {
            return;
        }
        let divided: super::linear::TermList = list.iter().map(|&(atom, c)| (atom, c / common)).collect();
        let terms = self.linear.intern(&divided);
        let bound = (-lin.constant).div_euclid(common);
        let known = self.definitions.entry(terms).or_insert(bound);
        *known = bound.min(*known);
    }

    /// `lin mod 2^bits`.
    pub(super) fn low_bits(&mut self, state: &mut State, lin: Lin, bits: u32) -> Lin {
        let modulus = 1_i128 << bits;
        let lin = self.simplified(state, lin);
        if let Some((_, low)) = self.split(state, lin, modulus) {
            return low;
        }
        if let Some(remainder) = self.remainder_by_congruence(state, lin, modulus) {
            return Lin::constant(remainder);
        }
        let quotient = self.floor_divide(state, lin, modulus);
        self.linear.add_scaled(lin, quotient, -modulus)
    }

    /// The loops in which some atom of `lin` changes.
    pub(super) fn loops_of(&self, lin: Lin) -> u128 {
        self.linear.terms(lin.terms).iter().fold(0, |loops, term| loops | self.atoms.get(term.0).loops)
    }
}
