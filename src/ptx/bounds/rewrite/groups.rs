//! Groups of accesses that one comparison covers, and how an access comes into one: what the head of a region knows of
//! its address. [`regions`](super::regions) says why the comparison is enough.

use std::collections::HashMap;

use super::check::Place;
use super::params::{IndexLimit, Limit};
use super::provenance::Origin;
use super::values::{Atom, Block, Made, Sum};
use super::writer::Writer;
use crate::ptx::ir::{
    AddressBase, Guard, MemoryAccess, MemoryAccessKind, Op, ParamBlock, Reg, RegClass, Space, SpecialReg,
    Symbol, Width,
};

/// Most bytes from the first to the last access of a group.
const MOST_SPAN: i64 = 1 << 30;

/// Instructions from a region's head on, and whether what they write is known there.
pub(super) type Known = HashMap<usize, bool>;

/// Accesses at constant distances from each other.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) origin: Origin,
    pub(super) space: Space,
    pub(super) narrow: bool,
    pub(super) guard: Option<(Guard, Made)>,
    sum: Sum,
    pub(super) members: Vec<Member>,
    /// Do other groups vouch for it?
    pub(super) vouched: bool,
}

/// One access of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) pc: usize,
    pub(super) access: MemoryAccess,
    pub(super) reg: Reg,
    pub(super) made: Made,
    /// Bytes from the group's first member.
    pub(super) at: i64,
    /// Must its address be a multiple of its size?
    aligned: bool,
    /// Is that known but for the buffer's own address?
    known: bool,
}

impl Group {
    /// The member with the lowest address.
    pub(super) fn low(&self) -> Option<&Member> {
        self.members.iter().min_by_key(|member| member.at)
    }

    /// Bytes from there to the end of the last access.
    fn span(&self) -> u32 {
        let low = self.low().map_or(0, |member| member.at);
        let end = self.members.iter().map(|member| member.at + i64::from(member.access.size)).max();
        u32::try_from(end.unwrap_or(low) - low).unwrap_or(u32::MAX)
    }

    pub(super) fn terms(&self) -> &[(Atom, u64)] {
        &self.sum.terms
    }

    /// How many times the addresses have `atom`.
    pub(super) fn times(&self, atom: Atom) -> u64 {
        self.terms().iter().find(|(known, _)| *known == atom).map_or(0, |(_, times)| *times)
    }

    /// What the lowest address has besides its terms.
    pub(super) fn constant(&self) -> u64 {
        self.sum.constant.wrapping_add(self.low().map_or(0, |low| low.at) as u64)
    }

    /// The group as one access, from its lowest address.
    pub(super) fn whole(&self) -> Option<MemoryAccess> {
        let low = self.low()?;
        let writes = self.members.iter().any(|member| member.access.kind != MemoryAccessKind::Read);
        let kind = if writes { MemoryAccessKind::Write } else { MemoryAccessKind::Read };
        Some(MemoryAccess { kind, size: self.span(), ..low.access })
    }

    /// What the buffer's address must be a multiple of, where that says all about alignment.
    pub(super) fn align(&self) -> u32 {
        match self.looked_at() {
            Some(_) => 1,
            None => {
                let aligned = self.members.iter().filter(|member| member.aligned);
                aligned.map(|member| member.access.size).max().unwrap_or(1)
            }
        }
    }

    /// The member whose alignment the head looks at; `None`: nobody's.
    pub(super) fn looked_at(&self) -> Option<&Member> {
        let aligned = || self.members.iter().filter(|member| member.aligned && member.access.size > 1);
        if aligned().all(|member| member.known) {
            return None;
        }
        aligned().max_by_key(|member| member.access.size)
    }

    /// May an access at `at` bytes from the first one be in the group?
    fn fits(&self, at: i64, size: u32, aligned: bool) -> bool {
        let low = self.members.iter().map(|member| member.at).min().unwrap_or(at).min(at);
        let ends = self.members.iter().map(|member| member.at + i64::from(member.access.size));
        let end = ends.max().unwrap_or(at).max(at + i64::from(size));
        let multiples = self.members.iter().filter(|member| member.aligned && aligned).all(|member| {
            let least = i64::from(member.access.size.min(size));
            (member.at - at) % least == 0
        });
        end - low <= MOST_SPAN && multiples
    }
}

impl Writer<'_, '_> {
    /// Puts an access in the group that it belongs to. `None`: the head cannot test it.
    pub(super) fn join(
        &self,
        block: &Block<'_>,
        head: usize,
        known: &mut Known,
        groups: &mut Vec<Group>,
        place: Place,
        access: &MemoryAccess,
    ) -> Option<()> {
        let Place { pc, number, open } = place;
        let inst = &self.function.code[pc];
        let AddressBase::Reg(reg) = access.address.base else { return None };
        let narrow = reg.width == Width::B32;
        if !open.range || !access.size.is_power_of_two() || (narrow && access.space != Space::Shared) {
            return None;
        }
        if matches!(inst.op, Op::AsyncCopy { ignore_source: Some(_), .. }) {
            return None;
        }
        let (origin, multiple) = self.provenance.origin(pc, number, &access.address);
        if origin == Origin::Any && access.space != Space::Shared {
            return None;
        }
        let made = block.made(reg, pc);
        let own = inst.guard.map(|guard| (guard, block.made(guard.predicate, pc)));
        let jumped = block.jumps.jumped_over_unless(&self.function.code, head, pc);
        let guard = own.or_else(|| jumped.map(|(at, guard)| (guard, block.made(guard.predicate, at))));
        let mut is_known = |reg, made| self.known_at(block, head, known, reg, made);
        let guard_known = guard.is_none_or(|(guard, made)| is_known(guard.predicate, made));
        if !is_known(reg, made) || (!guard_known && (own.is_some() || access.space != Space::Shared)) {
            return None;
        }
        let guard = guard.filter(|_| guard_known);
        let width = if narrow { Width::B32 } else { Width::B64 };
        let sum = block.address(pc, number)?.and(access.address.offset as u64, width);
        let mut member = Member {
            pc,
            access: *access,
            reg,
            made,
            at: 0,
            aligned: open.alignment,
            known: origin != Origin::Any && multiple >= access.size,
        };
        for group in groups.iter_mut() {
            let same = group.origin == origin
                && group.space == access.space
                && group.narrow == narrow
                && (group.guard == guard || access.space == Space::Shared)
                && group.sum.terms == sum.terms;
            let at = sum.constant.wrapping_sub(group.sum.constant);
            let at = if narrow { i64::from(at as i32) } else { at as i64 };
            if same && at.unsigned_abs() < MOST_SPAN as u64 && group.fits(at, access.size, open.alignment) {
                member.at = at;
                // one test for what is done under different conditions: shared memory is rarely left where it is not
                // touched
                group.guard = group.guard.filter(|known| Some(*known) == guard);
                group.members.push(member);
                return Some(());
            }
        }
        let (space, members) = (access.space, vec![member]);
        groups.push(Group { origin, space, narrow, guard, sum, members, vouched: false });
        Some(())
    }

    /// Is what `reg` holds, written by `made`, known where the region begins at `head`?
    fn known_at(&self, block: &Block<'_>, head: usize, known: &mut Known, reg: Reg, made: Made) -> bool {
        let plain = || self.function.register_name(reg).is_some_and(|name| !name.contains('.'));
        let Some(write) = made.filter(|write| write.pc >= head) else { return plain() };
        if write.joined {
            return false;
        }
        let pc = write.pc;
        if let Some(answer) = known.get(&pc) {
            return *answer;
        }
        let answer = plain()
            && self.may_be_repeated(pc)
            && block.uses(pc).iter().all(|(reg, made)| self.known_at(block, head, known, *reg, *made));
        known.insert(pc, answer);
        answer
    }

    /// Has the instruction no effect but on its one destination, and does its text say which that is?
    fn may_be_repeated(&self, pc: usize) -> bool {
        let inst = &self.function.code[pc];
        if inst.guard.is_some() || !is_repeatable(&inst.op) {
            return false;
        }
        let mut written = Vec::new();
        inst.op.for_each_def(|reg| written.push(reg));
        let [reg] = written.as_slice() else { return false };
        let name = self.function.register_name(*reg);
        let first = self.syntax_of(inst).and_then(|syntax| syntax.operands.first());
        let text = first.map(|operand| self.source.text(operand.span));
        reg.class() != RegClass::Slot128 && name.is_some() && text == name.as_deref()
    }

    /// The test of a whole group by an index, if its addresses are a parameter plus a multiple of one, and where the
    /// index is held at the head.
    pub(super) fn group_index(
        &self,
        block: &Block<'_>,
        group: &Group,
        head: usize,
    ) -> Option<(IndexLimit, Reg, Made)> {
        let (low, whole) = (group.low()?, group.whole()?);
        let sum = group.sum.and(low.at as u64, Width::B64);
        let limit = buffer_limit(group.origin, &whole, group.align())?;
        let (limit, reg, made) = index_limit(block, &sum, limit)?;
        let held = match made {
            Some(made) if made.pc >= head => self.known_at(block, head, &mut Known::new(), reg, Some(made)),
            _ => block.made(reg, head) == made && self.function.register_name(reg).is_some(),
        };
        held.then_some((limit, reg, made))
    }

    /// The same for one access, if the test refuses exactly what a comparison of the address would.
    pub(super) fn single_index(
        &self,
        block: &Block<'_>,
        place: Place,
        access: &MemoryAccess,
    ) -> Option<(IndexLimit, String)> {
        let Place { pc, number, open } = place;
        let (origin, multiple) = self.provenance.origin(pc, number, &access.address);
        let known = open.alignment && multiple >= access.size;
        let limit = buffer_limit(origin, access, if known { access.size } else { 1 })?;
        let sum = block.address(pc, number)?.and(access.address.offset as u64, Width::B64);
        let (limit, reg, made) = index_limit(block, &sum, limit)?;
        let exact = limit.signed && limit.first()? > i64::from(i32::MIN) + 1;
        let held = block.made(reg, pc) == made;
        let name = self.function.register_name(reg)?;
        (open.range && exact && held).then_some((limit, name))
    }
}

/// The limit of an access to a buffer.
fn buffer_limit(origin: Origin, access: &MemoryAccess, align: u32) -> Option<Limit> {
    let Origin::Buffer(parameter) = origin else { return None };
    let write = access.kind != MemoryAccessKind::Read;
    let anywhere = matches!(access.space, Space::Global | Space::Generic);
    anywhere.then_some(Limit { parameter, bytes: access.size, write, align })
}

/// The index that tells where an address lies: it must be `limit`'s own parameter plus a multiple of that index plus a
/// constant.
fn index_limit(block: &Block<'_>, sum: &Sum, limit: Limit) -> Option<(IndexLimit, Reg, Made)> {
    let [(Atom::Pointer(parameter), 1), (Atom::Extended(index), scale)] = *sum.terms.as_slice() else {
        return None;
    };
    let extension = block.extensions.get(index)?;
    let scale = u32::try_from(scale).ok().filter(|&scale| scale <= 1 << 31)?;
    let offset = sum.constant as i64;
    let limit = IndexLimit { limit, scale, offset, signed: extension.signed };
    let same = parameter == limit.limit.parameter && limit.first().is_some();
    same.then_some((limit, extension.reg, extension.made))
}

/// Does an operation give the same result wherever it stands, as long as its registers are the same?
pub(super) fn is_repeatable(op: &Op) -> bool {
    match op {
        Op::Mov { .. }
        | Op::AddressOf { .. }
        | Op::MultiplyAdd { .. }
        | Op::IntegerUnary { .. }
        | Op::Logic { .. }
        | Op::Shift { .. }
        | Op::SetPredicate { .. }
        | Op::Select { .. }
        | Op::Convert(_)
        | Op::ConvertAddress { .. }
        | Op::Integer { .. } => true,
        Op::Load(load) => {
            let parameter =
                matches!(load.address.base, AddressBase::Symbol(Symbol::Param(ParamBlock::In, _)));
            load.space == Space::Param && parameter
        }
        Op::ReadSpecial { special, .. } => matches!(
            special,
            SpecialReg::Tid(_) | SpecialReg::NTid(_) | SpecialReg::CtaId(_) | SpecialReg::NCtaId(_)
        ),
        _ => false,
    }
}
