//! What is known at a point of the program: values of registers and local slots, ranges and congruences of
//! atoms, and facts between atoms.

use super::Region;
use super::atoms::{Atoms, Known};
use super::linear::{Atom, Lin, Terms};
use super::predicate::Form;

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Base {
    pub(super) region: Region,
    /// The address is a generic one of shared, local or constant memory. Global addresses are the same in both.
    pub(super) generic: bool,
}

/// `base + lin`, modulo two to the width of the register that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Value {
    pub(super) base: Option<Base>,
    pub(super) lin: Lin,
}

impl Value {
    pub(super) fn number(lin: Lin) -> Self {
        Self { base: None, lin }
    }
}

/// What a register or a local slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Unknown,
    Integer(Value),
    Predicate(Form),
}

/// `Σ coefficient × atom ≤ bound`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) terms: Terms,
    pub(super) bound: i128,
}

/// Conditions met since a loop's header, as if no value wrapped: guesses for the loop's invariants.
#[derive(Clone, Debug, Default)]
pub(super) struct Guards {
    pub(super) at_most: Vec<Fact>,
    pub(super) not_zero: Vec<Lin>,
}

/// Everything known at one point.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Tracked registers, then local slots.
    pub(super) places: Vec<Content>,
    atoms: Vec<Known>,
    pub(super) facts: Vec<Fact>,
    /// Rounds of a loop that are known to equal an expression.
    pub(super) equalities: Vec<(Atom, Lin)>,
    pub(super) guards: Option<Box<Guards>>,
    /// Changes with everything that a bound depends on; equal in copies until they change.
    pub(super) version: u32,
}

impl State {
    pub(super) fn new(places: usize) -> Self {
        Self {
            places: vec![Content::Unknown; places],
            atoms: Vec::new(),
            facts: Vec::new(),
            equalities: Vec::new(),
            guards: None,
            version: 0,
        }
    }

    pub(super) fn get(&self, place: u32) -> Content {
        self.places.get(place as usize).copied().unwrap_or(Content::Unknown)
    }

    pub(super) fn set(&mut self, place: u32, content: Content) {
        let place = place as usize;
        if place >= self.places.len() {
            self.places.resize(place + 1, Content::Unknown);
        }
        self.places[place] = content;
    }

    pub(super) fn known(&self, atoms: &Atoms, atom: Atom) -> Known {
        self.atoms.get(atom.0 as usize).copied().unwrap_or_else(|| atoms.get(atom).known)
    }

    /// Replaces what is known of an atom. The caller changes the version.
    pub(super) fn set_known(&mut self, atoms: &Atoms, atom: Atom, known: Known) {
        let index = atom.0 as usize;
        for missing in self.atoms.len()..=index {
            self.atoms.push(atoms.get(Atom(missing as u32)).known);
        }
        self.atoms[index] = known;
    }

    /// How many atoms the state says more of than their definition.
    pub(super) fn atom_count(&self) -> usize {
        self.atoms.len()
    }

    pub(super) fn bound_of(&self, terms: Terms) -> Option<i128> {
        self.facts.iter().find(|fact| fact.terms == terms).map(|fact| fact.bound)
    }

    /// Adds a fact, or makes it stronger.
    pub(super) fn put_fact(&mut self, fact: Fact) {
        match self.facts.iter_mut().find(|known| known.terms == fact.terms) {
            Some(known) => known.bound = known.bound.min(fact.bound),
            None => self.facts.push(fact),
        }
    }
}
