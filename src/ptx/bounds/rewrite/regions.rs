//! Regions: stretches of straight-line code whose accesses are tested together at their head. If the test holds, the
//! original text runs; if not, a copy in which each access has its own check, so that what is recorded, and what a
//! skipped load leaves, never depends on regions. Here they are found; [`heads`](super::heads) writes them.
//!
//! # Why a test at the head is enough
//! Accesses of one [`Group`] are compared with the same memory, `len` bytes from `base`, and their addresses are sums
//! with the same terms, so they are *A* + *oᵢ* with the same *A*, modulo 2⁶⁴ (2³² for shared addresses in 32-bit
//! registers), whatever wrapped around on the way. With *low* the least *oᵢ* and *span* the bytes from there to the
//! end of the last access, the test is *x* = (*A* + *low* − *base*) mod 2⁶⁴ ≤ *len* − *span*, which fails if *span* >
//! *len*. Then access *i* begins at (*x* + *oᵢ* − *low*) mod 2⁶⁴ from the base; as *oᵢ* − *low* + *sizeᵢ* ≤ *span*, that
//! sum is at most *len* − *sizeᵢ*, so it does not wrap, and the access lies inside. Where one access writes, *len* counts
//! as 0 for memory that may only be read. *A* does not change between the head and the access: its register was
//! written before the head, or by instructions that are repeated at the head from such registers.
//!
//! An address that is surely a parameter plus *scale* × a 32-bit index is tested by its index
//! ([`IndexLimit`]): the index is then an integer and not a residue.
//!
//! Alignment follows from provenance, as for single checks, or the head looks at one address of the group, of an
//! access of the greatest size; the others differ from it by multiples of their sizes, or they are not in the group.
//!
//! An access with a guard is in a group with those of the same guard, and the test holds also where the guard does
//! not. The guard's predicate must be known at the head like an address.

use std::collections::HashMap;

use super::check::Place;
use super::params::{IndexLimit, Limit};
use super::provenance::Origin;
use super::sites::Open;
use super::values::{Atom, Block, Made, Sum};
use super::writer::Writer;
use crate::ptx::ir::{
    AddressBase, Guard, Inst, MemoryAccess, MemoryAccessKind, Op, ParamBlock, Reg, RegClass, Space,
    SpecialReg, Symbol, Width,
};

/// Instructions from a region's head on, and whether what they write is known there.
type Known = HashMap<usize, bool>;

/// Most accesses and instructions of one region, so that the work and the text stay in proportion.
const MOST_ACCESSES: usize = 256;
const MOST_INSTRUCTIONS: usize = 2048;
/// Most bytes from the first to the last access of a group.
const MOST_SPAN: i64 = 1 << 30;

/// What things cost, in instructions of the hardware: a jump past the copy, with what brings the warp's threads
/// together again; the note of a failure.
const JUMP: i64 = 4;
const NOTE: i64 = 4;

/// Straight-line code that is tested as a whole.
#[derive(Debug)]
pub(super) struct Region {
    /// The first instruction, an access.
    pub(super) head: usize,
    /// The last one, an access too.
    pub(super) last: usize,
    pub(super) groups: Vec<Group>,
    /// Accesses that need no check of their own behind the test.
    pub(super) covered: Vec<usize>,
    /// Instructions of the hardware that it saves.
    saved: i64,
}

/// Accesses at constant distances from each other.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) origin: Origin,
    pub(super) space: Space,
    pub(super) narrow: bool,
    pub(super) guard: Option<(Guard, Made)>,
    sum: Sum,
    pub(super) members: Vec<Member>,
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

/// An instruction with accesses that need a check.
struct Candidate {
    pc: usize,
    places: Vec<(Place, MemoryAccess)>,
    /// Instructions of the hardware for a check of its own.
    single: i64,
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

    /// The member whose alignment the head looks at, with its distance from the lowest; `None`: nobody's.
    pub(super) fn looked_at(&self) -> Option<(&Member, i64)> {
        let aligned = || self.members.iter().filter(|member| member.aligned && member.access.size > 1);
        if aligned().all(|member| member.known) {
            return None;
        }
        let low = self.low()?;
        aligned().max_by_key(|member| member.access.size).map(|member| (member, member.at - low.at))
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
    /// The regions of a basic block, in order.
    pub(super) fn regions(
        &self,
        block: &Block<'_>,
        (begin, end): (usize, usize),
        open: &[Option<Open>],
    ) -> Vec<Region> {
        let mut regions = Vec::new();
        let mut pc = begin;
        while pc < end {
            let run = self.run_of(pc, end);
            let candidates: Vec<Candidate> =
                (pc..run).filter_map(|pc| self.candidate(block, pc, open[pc]?)).collect();
            self.cut(block, &candidates, &mut regions);
            pc = run.max(pc + 1);
        }
        regions
    }

    /// Where straight-line code from `pc` on stops being fit for a copy; `pc` itself if it is not.
    fn run_of(&self, pc: usize, end: usize) -> usize {
        let code = &self.function.code;
        let place = |pc: usize| {
            let inst = &code[pc];
            let alone = |other: Option<&Inst>| other.is_none_or(|other| other.span.start != inst.span.start);
            let alone = alone(code.get(pc + 1)) && alone(pc.checked_sub(1).and_then(|pc| code.get(pc)));
            let placed = self.instructions.get(&inst.span.start)?;
            let text = self.source.text(placed.syntax.span);
            let plain = !text.contains("//") && !text.contains("/*");
            (alone && plain && may_be_copied(inst)).then_some(placed.stretch)
        };
        let Some(stretch) = place(pc) else { return pc };
        let most = end.min(pc + MOST_INSTRUCTIONS);
        (pc + 1..most).find(|&pc| place(pc) != Some(stretch)).unwrap_or(most)
    }

    fn candidate(&self, block: &Block<'_>, pc: usize, open: Open) -> Option<Candidate> {
        let inst = &self.function.code[pc];
        let accesses = inst.op.memory_accesses();
        let places: Vec<(Place, MemoryAccess)> = accesses
            .iter()
            .enumerate()
            .filter(|(_, access)| !self.is_named_and_inside(&access.address, access.size, access.kind))
            .map(|(number, access)| (Place { pc, number, open }, *access))
            .collect();
        if places.is_empty() {
            return None;
        }
        let mut written = 0;
        inst.op.for_each_def(|_| written += 1);
        let tests: i64 = places.iter().map(|(place, access)| self.single_cost(block, *place, access)).sum();
        Some(Candidate { pc, places, single: tests + NOTE + written })
    }

    fn single_cost(&self, block: &Block<'_>, place: Place, access: &MemoryAccess) -> i64 {
        let (origin, _) = self.provenance.origin(place.pc, place.number, &access.address);
        match access.address.base {
            AddressBase::Reg(reg) if reg.width == Width::B32 => 2,
            _ if origin == Origin::Any => 4 * self.buffers.len() as i64,
            _ if self.single_index(block, place, access).is_some() => 1,
            _ => 4,
        }
    }

    /// Divides the accesses of one run into regions and those that stay alone.
    fn cut(&self, block: &Block<'_>, candidates: &[Candidate], regions: &mut Vec<Region>) {
        let mut at = 0;
        while at < candidates.len() {
            let most = candidates.len().min(at + MOST_ACCESSES);
            let (mut region, open) = self.region_of(block, &candidates[at..most]);
            // what is loaded on the way may be known at the head of a second region
            if let Some(open) = open.filter(|&open| open > 0) {
                let (first, _) = self.region_of(block, &candidates[at..at + open]);
                let (second, _) = self.region_of(block, &candidates[at + open..most]);
                if first.saved.max(0) + second.saved.max(0) > region.saved {
                    region = first;
                }
            }
            if region.saved <= 0 || region.covered.len() < 2 {
                at += 1;
                continue;
            }
            at += candidates[at..].iter().take_while(|candidate| candidate.pc <= region.last).count();
            regions.push(region);
        }
    }

    /// The region from the first candidate on, and the number of the first one that its test cannot cover.
    fn region_of(&self, block: &Block<'_>, candidates: &[Candidate]) -> (Region, Option<usize>) {
        let head = candidates.first().map_or(0, |candidate| candidate.pc);
        let mut region = Region { head, last: head, groups: Vec::new(), covered: Vec::new(), saved: -JUMP };
        let mut open = None;
        let mut known = Known::new();
        for (number, candidate) in candidates.iter().enumerate() {
            let joins = candidate.places.iter().try_fold((), |(), (place, access)| {
                self.join(block, head, &mut known, &mut region.groups, *place, access)
            });
            if joins.is_none() {
                if number == 0 {
                    return (region, Some(0));
                }
                open = open.or(Some(number));
                continue;
            }
            region.covered.push(candidate.pc);
            region.last = candidate.pc;
            region.saved += candidate.single;
        }
        for group in &region.groups {
            region.saved -= match self.group_index(block, group, head) {
                Some(_) => 1,
                None if group.narrow => 2,
                None => 4,
            };
            region.saved -= i64::from(group.looked_at().is_some()) + i64::from(group.guard.is_some());
        }
        (region, open)
    }

    /// Puts an access in the group that it belongs to. `None`: the head cannot test it.
    fn join(
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
        let guard = inst.guard.map(|guard| (guard, block.made(guard.predicate, pc)));
        let at_head = self.known_at(block, head, known, reg, made)
            && guard.is_none_or(|(guard, made)| self.known_at(block, head, known, guard.predicate, made));
        if !at_head {
            return None;
        }
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
                && group.guard == guard
                && group.sum.terms == sum.terms;
            let at = sum.constant.wrapping_sub(group.sum.constant);
            let at = if narrow { i64::from(at as i32) } else { at as i64 };
            if same && at.abs() < MOST_SPAN && group.fits(at, access.size, open.alignment) {
                member.at = at;
                group.members.push(member);
                return Some(());
            }
        }
        let (space, members) = (access.space, vec![member]);
        groups.push(Group { origin, space, narrow, guard, sum, members });
        Some(())
    }

    /// Is what `reg` holds, written at `made`, known where the region begins at `head`?
    fn known_at(&self, block: &Block<'_>, head: usize, known: &mut Known, reg: Reg, made: Made) -> bool {
        let plain = || self.function.register_name(reg).is_some_and(|name| !name.contains('.'));
        let Some(pc) = made.filter(|&pc| pc >= head) else { return plain() };
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
            Some(made) if made >= head => self.known_at(block, head, &mut Known::new(), reg, Some(made)),
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

/// May an instruction stand in two places of which a thread runs one? Not if it meets other threads, and not where its
/// text is changed for other reasons than its accesses.
fn may_be_copied(inst: &Inst) -> bool {
    let of_a_call = |access: &MemoryAccess| matches!(access.address.base, AddressBase::Symbol(Symbol::Param(block, _)) if block != ParamBlock::In);
    if inst.op.memory_accesses().iter().any(of_a_call) || inst.op.reads_carry() || inst.op.writes_carry() {
        return false;
    }
    match &inst.op {
        Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::AsyncCopy { .. } => true,
        Op::Pack { .. }
        | Op::Unpack { .. }
        | Op::SumAbsoluteDifference { .. }
        | Op::DotProduct { .. }
        | Op::Lop3 { .. }
        | Op::FunnelShift { .. }
        | Op::BitFieldExtract { .. }
        | Op::BitFieldInsert { .. }
        | Op::BitMask { .. }
        | Op::Extend { .. }
        | Op::FindNthSet { .. }
        | Op::Permute { .. }
        | Op::Float { .. }
        | Op::FloatMultiplyAdd { .. }
        | Op::FloatUnary { .. }
        | Op::FloatMinMax3 { .. }
        | Op::TestProperty { .. }
        | Op::Set { .. }
        | Op::SelectBySign { .. }
        | Op::ConvertPair { .. }
        | Op::PackSaturate { .. }
        | Op::IsSpace { .. } => true,
        op => is_repeatable(op),
    }
}

/// Does an operation give the same result wherever it stands, as long as its registers are the same?
fn is_repeatable(op: &Op) -> bool {
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
