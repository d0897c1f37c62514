//! Families of groups: addresses *A* + *k* × *S*, *k* = 0, 1, 2, …, as an unrolled loop makes them that walks down a
//! column. Where the step *S* is small, the first and the last vouch for those between.
//!
//! # Why
//! Say |*S*| ≤ 2⁴⁰ and *k* ≤ 2¹⁶. The head tests that *x₀* and *xₙ*, the distances of the first and the last from the base
//! modulo 2⁶⁴, lie in 0 … *len* − *span*. As integers let *X(k)* = *x₀* + *k* × *S*, which is the distance of *k* modulo
//! 2⁶⁴. *X(n)* and *xₙ* are equal modulo 2⁶⁴ and differ by less than that, as *len* ≤ 2⁶² ([`Limit`] sees to it) and
//! |*n* × *S*| ≤ 2⁵⁶; so they are equal. *X* is monotonous, so each *X(k)* lies between them, and is the distance itself.
//!
//! [`Limit`]: super::Limit

use super::groups::Group;
use super::provenance::Origin;
use super::values::{Atom, Block, Write};
use super::writer::Writer;
use crate::ptx::ir::{Reg, Space, Width};

/// Most steps between the first and the last.
const MOST_STEPS: i64 = 1 << 16;
/// Greatest magnitude of a step; a power of two.
pub(super) const MOST_STEP: u64 = 1 << 40;

impl Writer<'_, '_> {
    /// Marks the groups that two others vouch for, if the registers that are given hold no more than [`MOST_STEP`],
    /// as signed integers.
    pub(super) fn thin(&self, block: &Block<'_>, head: usize, groups: &mut [Group]) -> Vec<Reg> {
        let mut steps = Vec::new();
        for first in 0..groups.len() {
            if groups[first].vouched {
                continue;
            }
            // the atom that the next group of the family has once more
            for next in first + 1..groups.len() {
                let Some((atom, _)) = step_between(&groups[first], &groups[next]) else { continue };
                let Some(step) = self.step(block, head, atom) else { continue };
                let family: Vec<(usize, i64)> = (0..groups.len())
                    .filter(|&other| !groups[other].vouched)
                    .filter_map(|other| match other == first {
                        true => Some((other, 0)),
                        false => {
                            let (same, times) = step_between(&groups[first], &groups[other])?;
                            (same == atom).then_some((other, times))
                        }
                    })
                    .collect();
                let least = family.iter().map(|(_, times)| *times).min().unwrap_or(0);
                let most = family.iter().map(|(_, times)| *times).max().unwrap_or(0);
                let between: Vec<usize> = family
                    .iter()
                    .filter(|(_, times)| least < *times && *times < most)
                    .map(|(other, _)| *other)
                    .collect();
                if between.is_empty() || most - least > MOST_STEPS {
                    continue;
                }
                between.iter().for_each(|&other| groups[other].vouched = true);
                if let Some(step) = step
                    && !steps.contains(&step)
                {
                    steps.push(step);
                }
                break;
            }
        }
        steps
    }

    /// What must hold of an atom for it to be a small step: nothing, or its register is small. `None`: nobody can
    /// tell.
    fn step(&self, block: &Block<'_>, head: usize, atom: Atom) -> Option<Option<Reg>> {
        let (reg, made) = match atom {
            Atom::Extended(_) => return Some(None),
            Atom::Entry(reg) => (reg, None),
            Atom::Made(pc, reg) => (reg, Some(Write { pc, joined: false })),
            Atom::Joined(pc, reg) => (reg, Some(Write { pc: pc.checked_sub(1)?, joined: true })),
            Atom::Pointer(_) => return None,
        };
        let held = reg.width == Width::B64 && block.made(reg, head) == made;
        let named = self.function.register_name(reg).is_some_and(|name| !name.contains('.'));
        (held && named).then_some(Some(reg))
    }
}

/// By how many times which atom the addresses of two groups differ, if in nothing else.
fn step_between(first: &Group, other: &Group) -> Option<(Atom, i64)> {
    let alike = first.space == other.space
        && matches!(first.space, Space::Global | Space::Generic)
        && first.origin == other.origin
        && matches!(first.origin, Origin::Buffer(_))
        && first.guard == other.guard
        && first.looked_at().is_none()
        && other.looked_at().is_none()
        && first.align() == other.align();
    let (one, two) = (first.whole()?, other.whole()?);
    if !alike || (one.kind, one.size) != (two.kind, two.size) || first.constant() != other.constant() {
        return None;
    }
    let mut differing = None;
    let terms = first.terms().iter().chain(other.terms()).map(|(atom, _)| *atom);
    for atom in terms {
        let times = other.times(atom).wrapping_sub(first.times(atom)) as i64;
        match differing {
            _ if times == 0 => {}
            None => differing = Some((atom, times)),
            Some((known, _)) if known == atom => {}
            Some(_) => return None,
        }
    }
    differing.filter(|(_, times)| times.unsigned_abs() <= MOST_STEPS as u64)
}
