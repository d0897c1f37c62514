//! What an atom stands for, and what is true of it in every state.

use super::linear::{Atom, FastMap, Lin};
use crate::ptx::ir::Axis;

/// Above every number; its negative is below.
pub(super) const INFINITY: i128 = i128::MAX;

/// What made an atom. Equal keys are one atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AtomKey {
    Thread(Axis),
    Block(Axis),
    Lane,
    /// Finished rounds of a loop.
    Rounds(u32),
    /// `⌊lin / divisor⌋`
    Quotient(Lin, i128),
    /// A value of this width read as an integer of this sign.
    View {
        width: u32,
        signed: bool,
        of: Lin,
    },
    /// The result number `.1` of an instruction that is not followed.
    Result(u32, u32),
    /// What operand `.1` of an instruction holds when nothing is known of it.
    Operand(u32, u32),
    /// A place at the beginning of a block, where paths bring different values.
    Join(u32, u32),
    /// A place at the beginning of each round of a loop.
    Round(u32, u32),
    /// A place after a predicated instruction.
    Predicated(u32, u32),
}

/// A range and a congruence: `low ≤ x ≤ high`, `x ≡ remainder (mod modulus)`; modulus 0 is a known value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) low: i128,
    pub(super) high: i128,
    pub(super) modulus: i128,
    pub(super) remainder: i128,
}

impl Known {
    pub(super) const ANYTHING: Self = Self::between(-INFINITY, INFINITY);

    pub(super) const fn between(low: i128, high: i128) -> Self {
        Self { low, high, modulus: 1, remainder: 0 }
    }

    /// Every value of a register of `width` bits, read so.
    pub(super) fn of_width(width: u32, signed: bool) -> Self {
        let low = if signed { -(1_i128 << (width - 1)) } else { 0 };
        Self::between(low, low + (1_i128 << width) - 1)
    }
}

/// What is true of an atom everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomInfo {
    pub(super) key: AtomKey,
    /// By definition, so in every state.
    pub(super) known: Known,
    /// The loops in which its value changes, as bits.
    pub(super) loops: u128,
}

/// All atoms that were made.
#[derive(Default)]
pub(super) struct Atoms {
    infos: Vec<AtomInfo>,
    index: FastMap<AtomKey, Atom>,
}

impl Atoms {
    pub(super) fn find(&self, key: AtomKey) -> Option<Atom> {
        self.index.get(&key).copied()
    }

    pub(super) fn get(&self, atom: Atom) -> &AtomInfo {
        &self.infos[atom.0 as usize]
    }

    /// The atom of this key. What is known by definition depends on the key alone.
    pub(super) fn make(&mut self, key: AtomKey, known: Known, loops: u128) -> Atom {
        let infos = &mut self.infos;
        *self.index.entry(key).or_insert_with(|| {
            infos.push(AtomInfo { key, known, loops });
            Atom(infos.len() as u32 - 1)
        })
    }
}
