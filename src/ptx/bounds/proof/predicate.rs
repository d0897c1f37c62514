//! Conditions: what a predicate register holds, whether a state decides it, and what follows from its truth.

use super::engine::Engine;
use super::linear::{FastMap, Lin};
use super::state::{Fact, State, Value};

/// The number of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Form(u32);

impl Form {
    pub(super) const UNKNOWN: Self = Self(0);
    pub(super) const FALSE: Self = Self(1);
    pub(super) const TRUE: Self = Self(2);
}

/// How two integers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Relation {
    fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::AtLeast,
            Self::AtLeast => Self::Less,
            Self::Greater => Self::AtMost,
            Self::AtMost => Self::Greater,
        }
    }
}

/// Both sides of a comparison, as read with a width and sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Compare {
    pub(super) relation: Relation,
    pub(super) signed: bool,
    pub(super) width: u32,
    pub(super) a: Value,
    pub(super) b: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    Unknown,
    Constant(bool),
    Compare(Compare),
    Not(Form),
    And(Form, Form),
    Or(Form, Form),
    Xor(Form, Form),
}

/// All conditions that were made.
pub(super) struct Forms {
    list: Vec<Condition>,
    index: FastMap<Condition, Form>,
}

impl Forms {
    pub(super) fn new() -> Self {
        let list = vec![Condition::Unknown, Condition::Constant(false), Condition::Constant(true)];
        Self { list, index: FastMap::default() }
    }

    fn get(&self, form: Form) -> Condition {
        self.list[form.0 as usize]
    }

    pub(super) fn make(&mut self, condition: Condition) -> Form {
        match condition {
            Condition::Unknown => return Form::UNKNOWN,
            Condition::Constant(value) => return if value { Form::TRUE } else { Form::FALSE },
            Condition::Not(form) => match self.get(form) {
                Condition::Unknown => return form,
                Condition::Not(inner) => return inner,
                _ => {}
            },
            _ => {}
        }
        let list = &mut self.list;
        *self.index.entry(condition).or_insert_with(|| {
            list.push(condition);
            Form(list.len() as u32 - 1)
        })
    }

    pub(super) fn negated_if(&mut self, form: Form, negated: bool) -> Form {
        if negated { self.make(Condition::Not(form)) } else { form }
    }
}

impl Engine<'_> {
    /// The difference `a − b` as an exact integer; for equality, a number that is 0 where they are equal.
    fn difference(&mut self, state: &mut State, compare: &Compare) -> Option<Lin> {
        let Compare { relation, signed, width, a, b } = *compare;
        if a.base != b.base {
            return None;
        }
        if matches!(relation, Relation::Equal | Relation::NotEqual) {
            let difference = self.linear.sub(a.lin, b.lin);
            return self.fit(state, difference, width, true);
        }
        if a.base.is_some() {
            return None;
        }
        let a = self.integer(state, a.lin, width, signed);
        let b = self.integer(state, b.lin, width, signed);
        Some(self.linear.sub(a, b))
    }

    /// Whether a condition holds, where the state says so.
    pub(super) fn decide(&mut self, state: &mut State, form: Form) -> Option<bool> {
        match self.forms.get(form) {
            Condition::Unknown => None,
            Condition::Constant(value) => Some(value),
            Condition::Not(form) => self.decide(state, form).map(|value| !value),
            Condition::And(a, b) => match (self.decide(state, a), self.decide(state, b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(a, b) => match (self.decide(state, a), self.decide(state, b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Condition::Xor(a, b) => Some(self.decide(state, a)? != self.decide(state, b)?),
            Condition::Compare(compare) => self.decide_comparison(state, &compare),
        }
    }

    fn decide_comparison(&mut self, state: &mut State, compare: &Compare) -> Option<bool> {
        let difference = self.difference(state, compare)?;
        let (difference, below) = match compare.relation {
            Relation::Equal | Relation::NotEqual => {
                let (inf, sup) = self.bounds(state, difference);
                let (modulus, remainder) = self.congruence(state, difference);
                let never = inf > 0 || sup < 0 || (modulus != 1 && remainder != 0);
                let equal = if never { Some(false) } else { (inf == 0 && sup == 0).then_some(true) };
                return equal.map(|equal| equal == (compare.relation == Relation::Equal));
            }
            Relation::Less => (difference, -1),
            Relation::AtMost => (difference, 0),
            Relation::Greater => (self.linear.scale(difference, -1), -1),
            Relation::AtLeast => (self.linear.scale(difference, -1), 0),
        };
        if self.sup(state, difference) <= below {
            return Some(true);
        }
        (self.inf(state, difference) > below).then_some(false)
    }

    /// Adds that `form` has this truth. False: then this point is never reached.
    pub(super) fn assume(&mut self, state: &mut State, form: Form, truth: bool) -> bool {
        match self.forms.get(form) {
            Condition::Unknown => true,
            Condition::Constant(value) => value == truth,
            Condition::Not(form) => self.assume(state, form, !truth),
            Condition::Xor(a, b) => {
                if let Some(value) = self.decide(state, a) {
                    return self.assume(state, b, truth != value);
                }
                if let Some(value) = self.decide(state, b) {
                    return self.assume(state, a, truth != value);
                }
                true
            }
            Condition::And(a, b) => self.assume_both(state, a, b, true, truth),
            Condition::Or(a, b) => self.assume_both(state, a, b, false, truth),
            Condition::Compare(compare) => self.assume_comparison(state, &compare, truth),
        }
    }

    /// `a and b` (or, where not `and`, `a or b`) has this truth.
    fn assume_both(&mut self, state: &mut State, a: Form, b: Form, and: bool, truth: bool) -> bool {
        if and == truth {
            return self.assume(state, a, truth) && self.assume(state, b, truth);
        }
        // one of the two decides it; only where the other cannot, something follows
        if self.decide(state, a) == Some(and) {
            return self.assume(state, b, truth);
        }
        if self.decide(state, b) == Some(and) {
            return self.assume(state, a, truth);
        }
        true
    }

    fn assume_comparison(&mut self, state: &mut State, compare: &Compare, truth: bool) -> bool {
        let relation = if truth { compare.relation } else { compare.relation.negated() };
        if state.guards.is_some() && compare.a.base == compare.b.base {
            self.note_guard(state, compare, relation);
        }
        let compare = Compare { relation, ..*compare };
        let Some(difference) = self.difference(state, &compare) else { return true };
        match relation {
            Relation::Equal => {
                self.note_equality(state, difference);
                let opposite = self.linear.scale(difference, -1);
                self.assume_not_positive(state, difference) && self.assume_not_positive(state, opposite)
            }
            Relation::NotEqual => {
                let (inf, sup) = self.bounds(state, difference);
                if inf == 0 && sup == 0 {
                    return false;
                }
                let positive = match (inf >= 0, sup <= 0) {
                    (true, _) => self.linear.scale(difference, -1),
                    (_, true) => difference,
                    _ => return true,
                };
                let strict = self.linear.plus(positive, 1);
                self.assume_not_positive(state, strict)
            }
            Relation::Less => {
                let strict = self.linear.plus(difference, 1);
                self.assume_not_positive(state, strict)
            }
            Relation::AtMost => self.assume_not_positive(state, difference),
            Relation::Greater => {
                let opposite = self.linear.scale(difference, -1);
                let strict = self.linear.plus(opposite, 1);
                self.assume_not_positive(state, strict)
            }
            Relation::AtLeast => {
                let opposite = self.linear.scale(difference, -1);
                self.assume_not_positive(state, opposite)
            }
        }
    }

    /// `difference` is 0: a loop's rounds in it equal the rest.
    fn note_equality(&mut self, state: &mut State, difference: Lin) {
        for &(atom, c) in self.linear.terms(difference.terms).iter() {
            let is_rounds = matches!(self.atoms.get(atom).key, super::atoms::AtomKey::Rounds(_));
            if is_rounds && c.abs() == 1 {
                let own = self.linear.atom(atom);
                let value = self.linear.add_scaled(own, difference, -c);
                state.equalities.retain(|(known, _)| *known != atom);
                state.equalities.push((atom, value));
            }
        }
    }

    /// Notes a condition that was met as if nothing wrapped.
    fn note_guard(&mut self, state: &mut State, compare: &Compare, relation: Relation) {
        let difference = self.linear.sub(compare.a.lin, compare.b.lin);
        let opposite = self.linear.scale(difference, -1);
        let Some(guards) = state.guards.as_deref_mut() else { return };
        let mut at_most = |lin: Lin, strict: bool| {
            if !lin.is_constant() {
                let fact = Fact { terms: lin.terms, bound: -lin.constant - i128::from(strict) };
                match guards.at_most.iter_mut().find(|known| known.terms == fact.terms) {
                    Some(known) => known.bound = known.bound.min(fact.bound),
                    None => guards.at_most.push(fact),
                }
            }
        };
        match relation {
            Relation::Equal => {
                at_most(difference, false);
                at_most(opposite, false);
            }
            Relation::NotEqual => {
                if !guards.not_zero.contains(&difference) {
                    guards.not_zero.push(difference);
                }
            }
            Relation::Less | Relation::AtMost => at_most(difference, relation == Relation::Less),
            Relation::Greater | Relation::AtLeast => at_most(opposite, relation == Relation::Greater),
        }
    }
}
