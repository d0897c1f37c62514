//! The check of an access: does every address it can have lie in the region that the address counts from? And local
//! memory at fixed offsets, which is followed like registers.

use smallvec::{SmallVec, smallvec};

use super::atoms::{AtomKey, INFINITY};
use super::engine::{Engine, Slot};
use super::linear::{Lin, gcd};
use super::report::{Cause, Why};
use super::state::{Base, Content, State, Value};
use super::transfer::{At, is_plain};
use super::{Region, SiteKind, Verdict};
use crate::ptx::ir::*;

/// Bytes that `discard` takes.
const DISCARDED: u32 = 128;

/// One access of an instruction, or one thing that it does to memory unseen.
pub(super) struct Touch {
    pub(super) kind: SiteKind,
    pub(super) space: Space,
    pub(super) bytes: u32,
    /// None where the instruction names none.
    address: Option<Address>,
}

/// What an instruction touches besides parameters, in the order of its sites.
pub(super) fn touches(op: &Op) -> SmallVec<[Touch; 2]> {
    let unseen = |kind| smallvec![Touch { kind, space: Space::Generic, bytes: 0, address: None }];
    match op {
        Op::Call(_) => unseen(SiteKind::Call),
        Op::Unsupported(_) => unseen(SiteKind::Unsupported),
        Op::Hint { what: Hint::Discard, address: Some(address), space } => {
            let (kind, bytes) = (SiteKind::Store, DISCARDED);
            smallvec![Touch { kind, space: *space, bytes, address: Some(*address) }]
        }
        _ => {
            let accesses = op.memory_accesses().into_iter().filter(|access| access.space != Space::Param);
            let touch = |access: MemoryAccess| {
                let kind = match access.kind {
                    MemoryAccessKind::Read => SiteKind::Load,
                    MemoryAccessKind::Write => SiteKind::Store,
                    MemoryAccessKind::Atomic => SiteKind::Atomic,
                };
                Touch { kind, space: access.space, bytes: access.size, address: Some(access.address) }
            };
            accesses.map(touch).collect()
        }
    }
}

impl Engine<'_> {
    pub(super) fn region_of(&self, symbol: Symbol) -> Option<Region> {
        match symbol {
            Symbol::Variable(id) | Symbol::Shared(id) => Some(Region::Variable(id)),
            Symbol::DynamicShared(id) => Some(Region::DynamicShared(id)),
            Symbol::Local(index) => Some(Region::Local(index)),
            Symbol::Param(..) | Symbol::Function(_) => None,
        }
    }

    pub(super) fn space_of(&self, region: Region) -> Space {
        match region {
            Region::Buffer(_) => Space::Global,
            Region::Variable(id) => {
                self.module.variables.get(id.0 as usize).map_or(Space::Param, |v| v.space)
            }
            Region::DynamicShared(_) => Space::Shared,
            Region::Local(_) => Space::Local,
        }
    }

    /// Length and alignment of a region in bytes.
    pub(super) fn extent_of(&self, region: Region) -> (u64, u64) {
        let variable = |id: VariableId| self.module.variables.get(id.0 as usize);
        match region {
            Region::Buffer(index) => {
                self.launch.buffers.get(index as usize).map_or((0, 1), |buffer| (buffer.bytes, buffer.align))
            }
            Region::Variable(id) => variable(id).map_or((0, 1), |v| (v.size, u64::from(v.align))),
            Region::DynamicShared(id) => {
                let align = variable(id).map_or(1, |v| u64::from(v.align));
                (u64::from(self.launch.dynamic_shared), align)
            }
            Region::Local(index) => {
                let local = self.function.locals.get(index as usize);
                local.map_or((0, 1), |local| (u64::from(local.size), u64::from(local.align)))
            }
        }
    }

    /// Records the verdicts of an instruction's accesses. The region, if there is one access and it is proved.
    pub(super) fn check_sites(&mut self, state: &mut State, op: &Op, pc: u32) -> Option<Region> {
        let first = self.analysis.site_at[pc as usize]? as usize;
        let mut proved = None;
        for (index, touch) in touches(op).into_iter().enumerate() {
            let verdict = match (touch.kind, touch.address) {
                (SiteKind::Call, _) => Verdict::Open { reason: Why::Call },
                (_, Some(address)) => self.check(state, address, touch.space, touch.bytes, At { pc }),
                (_, None) => Verdict::Open { reason: Why::NotUnderstood },
            };
            proved = match verdict {
                Verdict::Proved { region, aligned: true, .. } => Some(region),
                _ => None,
            };
            self.verdicts[first + index] = Some(verdict);
        }
        proved
    }

    fn address(&mut self, state: &State, address: Address, at: At) -> Option<(Value, u32)> {
        let (value, width) = match address.base {
            AddressBase::Absolute => return None,
            AddressBase::Symbol(symbol) => {
                let region = self.region_of(symbol)?;
                (Value { base: Some(Base { region, generic: false }), lin: Lin::ZERO }, 64)
            }
            AddressBase::Reg(reg) => {
                let width = reg.width.bits();
                (self.value(state, Operand::Reg(reg), width, at, 99), width)
            }
        };
        let lin = self.linear.plus(value.lin, i128::from(address.offset));
        Some((Value { lin: self.simplified(state, lin), ..value }, width))
    }

    /// Whether an address of this base is one of `space`.
    fn is_address_of(&self, base: Base, space: Space) -> bool {
        let own = self.space_of(base.region);
        match own {
            Space::Global => matches!(space, Space::Global | Space::Generic),
            _ if base.generic => space == Space::Generic,
            _ => space == own,
        }
    }

    fn check(&mut self, state: &State, address: Address, space: Space, size: u32, at: At) -> Verdict {
        let Some((value, width)) = self.address(state, address, at) else {
            return Verdict::Open { reason: Why::Absolute };
        };
        let Some(base) = value.base else {
            return Verdict::Open { reason: Why::NoBase { cause: self.cause(value.lin) } };
        };
        if !self.is_address_of(base, space) {
            return Verdict::Open { reason: Why::WrongSpace };
        }
        let region = base.region;
        let (bytes, align) = self.extent_of(region);
        let lin = self.fit(state, value.lin, width, true).unwrap_or(value.lin);
        let (lo, hi) = self.bounds(state, lin);
        let size = i128::from(size);
        if lo < 0 || hi > i128::from(bytes) - size {
            let reason = Why::Range { lo, hi, size: size as u32, region, bytes, cause: self.cause(lin) };
            return Verdict::Open { reason };
        }
        let (modulus, remainder) = self.congruence(state, lin);
        let aligned = modulus % size == 0 && remainder % size == 0 && i128::from(align) % size == 0;
        // both between 0 and the length of the region
        Verdict::Proved { lo: lo as u64, hi: hi as u64, region, aligned }
    }

    /// What made the part of an offset of which least is known.
    fn cause(&self, lin: Lin) -> Option<Cause> {
        let terms = self.linear.terms(lin.terms);
        let causes = terms.iter().filter_map(|term| match self.atoms.get(term.0).key {
            AtomKey::Thread(_) | AtomKey::Block(_) | AtomKey::Lane => None,
            AtomKey::Quotient(lin, _) | AtomKey::View { of: lin, .. } => self.cause(lin),
            AtomKey::Rounds(index) => Some(Cause::Rounds(self.header_line(index))),
            AtomKey::Round(index, _) => Some(Cause::Changed(self.header_line(index))),
            AtomKey::Result(pc, _) | AtomKey::Predicated(pc, _) => Some(Cause::Value(self.line(pc))),
            AtomKey::Operand(pc, _) => Some(Cause::Operand(self.line(pc))),
            AtomKey::Join(block, _) => Some(Cause::Paths(self.line(self.graph.blocks[block as usize].start))),
        });
        causes.min_by_key(|cause| cause.rank())
    }

    fn header_line(&self, index: u32) -> u32 {
        let header = self.graph.loops[index as usize].header;
        self.line(self.graph.blocks[header as usize].start)
    }

    fn line(&self, pc: u32) -> u32 {
        self.function.code.get(pc as usize).map_or(0, |inst| inst.line)
    }

    pub(super) fn forget_slots(&mut self, state: &mut State) {
        state.places.truncate(self.analysis.slice.place_count());
    }

    /// The place of the local slot that an access names, if the access is one element at a fixed offset.
    pub(super) fn slot_of(
        &mut self,
        state: &State,
        address: Address,
        space: Space,
        ty: Type,
        elements: usize,
        at: At,
    ) -> Option<u32> {
        if elements != 1 || !is_plain(ty) || !matches!(space, Space::Local | Space::Generic) {
            return None;
        }
        let (value, _) = self.address(state, address, at)?;
        let base = value.base.filter(|base| self.is_address_of(*base, space))?;
        let Region::Local(local) = base.region else { return None };
        let slot = Slot { local, offset: value.lin.as_constant()?, size: ty.bytes() };
        let index = self.slots.iter().position(|known| *known == slot).unwrap_or_else(|| {
            self.slots.push(slot);
            self.slots.len() - 1
        });
        Some((self.analysis.slice.place_count() + index) as u32)
    }

    /// A store: what it may overwrite of local memory is forgotten, what it certainly writes is known.
    pub(super) fn store(&mut self, state: &mut State, store: &Store, proved: Option<Region>, at: At) {
        if !matches!(store.space, Space::Local | Space::Generic) {
            return;
        }
        let Some((value, _)) = self.address(state, store.address, at) else {
            self.forget_slots(state);
            return;
        };
        let local = match value.base.map(|base| base.region) {
            Some(Region::Local(local)) => local,
            Some(_) => return,
            None => {
                self.forget_slots(state);
                return;
            }
        };
        let size = i128::from(store.ty.bytes() * store.srcs.len() as u32);
        let (low, high) = match value.lin.as_constant() {
            Some(offset) => (offset, offset + size),
            None => (-INFINITY, INFINITY),
        };
        let registers = self.analysis.slice.place_count();
        for (index, slot) in self.slots.iter().enumerate() {
            if slot.local == local && slot.offset < high && low < slot.offset + i128::from(slot.size) {
                let place = registers + index;
                if place < state.places.len() {
                    state.places[place] = Content::Unknown;
                }
            }
        }
        let place = self.slot_of(state, store.address, store.space, store.ty, store.srcs.len(), at);
        if let (Some(place), Some(_), [src]) = (place, proved, &store.srcs[..]) {
            let width = src.reg().map_or(store.ty.bits(), |reg| reg.width.bits());
            let value = self.value(state, *src, width, at, 0);
            // an address is whole in eight bytes only
            if value.base.is_none() || store.ty.bits() == 64 {
                state.set(place, Content::Integer(value));
            }
        }
    }
}

/// The largest power of two that divides an address, at least 1.
pub fn alignment_of(address: u64) -> u64 {
    gcd(i128::from(address), 1 << 62) as u64
}
