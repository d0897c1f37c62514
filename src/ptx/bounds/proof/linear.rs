//! Linear expressions over atoms, hash-consed: equal lists of terms have equal numbers. Arithmetic only; what is
//! known of the atoms is elsewhere.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use smallvec::SmallVec;

/// An integer that does not change until the statement that made it runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Atom(pub(super) u32);

/// An atom and its coefficient, never 0.
pub(super) type Term = (Atom, i128);

/// Terms by ascending atom.
pub(super) type TermList = SmallVec<[Term; 4]>;

/// The number of a list of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Terms(pub(super) u32);

impl Terms {
    pub(super) const NONE: Self = Self(0);
}

/// `constant + Σ coefficient × atom`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lin {
    pub(super) constant: i128,
    pub(super) terms: Terms,
}

impl Lin {
    pub(super) const ZERO: Self = Self::constant(0);

    pub(super) const fn constant(constant: i128) -> Self {
        Self { constant, terms: Terms::NONE }
    }

    pub(super) fn is_constant(self) -> bool {
        self.terms == Terms::NONE
    }

    /// The value, if no atom is in it.
    pub(super) fn as_constant(self) -> Option<i128> {
        self.is_constant().then_some(self.constant)
    }
}

/// Numbers beyond this are not calculated with: the analysis gives up.
pub(super) const LIMIT: i128 = 1 << 110;

/// A hasher for small keys of integers: multiply and rotate.
#[derive(Clone, Copy, Default)]
pub(super) struct FastHasher(u64);

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
    fn write_i128(&mut self, value: i128) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }
}

/// A map with [`FastHasher`].
pub(super) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;

/// All lists of terms that were made.
pub(super) struct Linear {
    lists: Vec<Rc<[Term]>>,
    index: FastMap<Rc<[Term]>, Terms>,
    negatives: Vec<Option<Terms>>,
    /// Some number passed [`LIMIT`]: what was calculated since is worthless.
    pub(super) overflowed: bool,
}

impl Linear {
    pub(super) fn new() -> Self {
        let none: Rc<[Term]> = Rc::from([]);
        let mut index = FastMap::default();
        index.insert(Rc::clone(&none), Terms::NONE);
        Self { lists: vec![none], index, negatives: vec![Some(Terms::NONE)], overflowed: false }
    }

    pub(super) fn terms(&self, terms: Terms) -> Rc<[Term]> {
        Rc::clone(&self.lists[terms.0 as usize])
    }

    pub(super) fn intern(&mut self, terms: &[Term]) -> Terms {
        if let Some(&found) = self.index.get(terms) {
            return found;
        }
        let number = Terms(self.lists.len() as u32);
        let list: Rc<[Term]> = Rc::from(terms);
        self.lists.push(Rc::clone(&list));
        self.negatives.push(None);
        self.index.insert(list, number);
        number
    }

    pub(super) fn atom(&mut self, atom: Atom) -> Lin {
        Lin { constant: 0, terms: self.intern(&[(atom, 1)]) }
    }

    fn checked(&mut self, value: Option<i128>) -> i128 {
        match value {
            Some(value) if -LIMIT < value && value < LIMIT => value,
            _ => {
                self.overflowed = true;
                0
            }
        }
    }

    /// `x + k·y`
    pub(super) fn add_scaled(&mut self, x: Lin, y: Lin, k: i128) -> Lin {
        if k == 0 {
            return x;
        }
        let constant = y.constant.checked_mul(k).and_then(|product| product.checked_add(x.constant));
        let constant = self.checked(constant);
        if y.is_constant() {
            return Lin { constant, terms: x.terms };
        }
        if k == 1 && x.is_constant() {
            return Lin { constant, terms: y.terms };
        }
        let (a, b) = (self.terms(x.terms), self.terms(y.terms));
        let mut sum = TermList::new();
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let take_a = j >= b.len() || (i < a.len() && a[i].0 <= b[j].0);
            let take_b = i >= a.len() || (j < b.len() && b[j].0 <= a[i].0);
            let mut coefficient = Some(0_i128);
            let atom = if take_a { a[i].0 } else { b[j].0 };
            if take_a {
                coefficient = Some(a[i].1);
                i += 1;
            }
            if take_b {
                coefficient = b[j].1.checked_mul(k).zip(coefficient).and_then(|(p, c)| p.checked_add(c));
                j += 1;
            }
            let coefficient = self.checked(coefficient);
            if coefficient != 0 {
                sum.push((atom, coefficient));
            }
        }
        Lin { constant, terms: self.intern(&sum) }
    }

    pub(super) fn add(&mut self, x: Lin, y: Lin) -> Lin {
        self.add_scaled(x, y, 1)
    }

    pub(super) fn sub(&mut self, x: Lin, y: Lin) -> Lin {
        match x == y {
            true => Lin::ZERO,
            false => self.add_scaled(x, y, -1),
        }
    }

    pub(super) fn plus(&mut self, x: Lin, constant: i128) -> Lin {
        let constant = self.checked(x.constant.checked_add(constant));
        Lin { constant, terms: x.terms }
    }

    pub(super) fn scale(&mut self, x: Lin, k: i128) -> Lin {
        match k {
            1 => x,
            -1 => Lin { constant: -x.constant, terms: self.negated(x.terms) },
            _ => self.add_scaled(Lin::ZERO, x, k),
        }
    }

    pub(super) fn negated(&mut self, terms: Terms) -> Terms {
        if let Some(known) = self.negatives[terms.0 as usize] {
            return known;
        }
        let list: TermList = self.terms(terms).iter().map(|&(atom, c)| (atom, -c)).collect();
        let negative = self.intern(&list);
        self.negatives[terms.0 as usize] = Some(negative);
        self.negatives[negative.0 as usize] = Some(terms);
        negative
    }

    /// `lin` with each atom replaced where `by` says so.
    pub(super) fn substitute(&mut self, lin: Lin, by: &[(Atom, Lin)]) -> Lin {
        let terms = self.terms(lin.terms);
        if !terms.iter().any(|term| by.iter().any(|(atom, _)| *atom == term.0)) {
            return lin;
        }
        let mut result = Lin::constant(lin.constant);
        for &(atom, c) in terms.iter() {
            let value = match by.iter().find(|(replaced, _)| *replaced == atom) {
                Some((_, value)) => *value,
                None => self.atom(atom),
            };
            result = self.add_scaled(result, value, c);
        }
        result
    }

    /// The coefficient of `atom`, 0 if it is not there.
    pub(super) fn coefficient(&self, terms: Terms, atom: Atom) -> i128 {
        self.lists[terms.0 as usize].iter().find(|term| term.0 == atom).map_or(0, |term| term.1)
    }
}

/// The greatest common divisor of the absolute values.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
            return i128::from(gcd_small(x, y));
        }
        (a, b) = (b, a % b);
    }
    // of numbers below LIMIT
    i128::try_from(a).unwrap_or(1)
}

fn gcd_small(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `value mod 2^width`, taken from the signed or unsigned range of that width.
pub(super) fn residue(value: i128, width: u32, signed: bool) -> i128 {
    let modulus = 1_i128 << width;
    let low = if signed { -(modulus / 2) } else { 0 };
    (value - low).rem_euclid(modulus) + low
}
