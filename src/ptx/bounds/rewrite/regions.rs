//! Regions: stretches of code whose accesses are tested together at their head. If the test holds, the original text
//! runs; if not, a copy in which each access has its own check, so that what is recorded, and what a skipped load
//! leaves, never depends on regions. Here they are found; [`heads`](super::heads) writes them.
//!
//! A region is entered at its head alone, runs forward, and may jump over parts of itself (a [trace](super::traces)). It
//! contains nothing that a warp or a block does together: the two copies must not both hold a barrier. An access whose
//! address is not known at the head, because it is loaded on the way, keeps its own check in both copies.
//!
//! # Why a test at the head is enough
//! Accesses of one [`Group`] are compared with the same memory, `len` bytes from `base`, and their addresses are sums
//! with the same terms, so they are *A* + *oᵢ* with the same *A*, modulo 2⁶⁴ (2³² for shared addresses in 32-bit
//! registers), whatever wrapped around on the way. With *low* the least *oᵢ* and *span* the bytes from there to the
//! end of the last access, the test is *x* = (*A* + *low* − *base*) mod 2⁶⁴ ≤ *len* − *span*, which fails if *span* >
//! *len*. Then access *i* begins at (*x* + *oᵢ* − *low*) mod 2⁶⁴ from the base; as *oᵢ* − *low* + *sizeᵢ* ≤ *span*, that
//! sum is at most *len* − *sizeᵢ*, so it does not wrap, and the access lies inside. Where one access writes, *len* counts
//! as 0 for memory that may only be read.
//!
//! *A* does not change between the head and the access: its register was written before the head and not since, or by
//! instructions that have no other effect and are repeated at the head, from such registers. Where a jump over a part
//! arrives, what that part may have written is unknown.
//!
//! An address that is surely a parameter plus *scale* × a 32-bit index is tested by its index
//! ([`IndexLimit`](super::IndexLimit)): the index is then an integer and not a residue.
//!
//! Alignment follows from provenance, as for single checks, or the head looks at one address of the group, of an
//! access of the greatest size; the others differ from it by multiples of their sizes, or they are not in the group.
//!
//! An access that has a guard, or is jumped over unless a predicate holds, is in a group with those of the same
//! condition, and the test holds also where the condition does not. What it depends on must be known at the head like an
//! address. Groups in shared memory are joined whatever their conditions and tested without any: the test is then more
//! than is needed, never less.

use super::check::Place;
use super::groups::{Group, Known, is_repeatable};
use super::provenance::Origin;
use super::sites::Open;
use super::traces::target;
use super::values::Block;
use super::writer::Writer;
use crate::ptx::ir::{AddressBase, Inst, MemoryAccess, Op, ParamBlock, Reg, Symbol, Width};

/// Most accesses and instructions of one region, so that the work and the text stay in proportion.
const MOST_ACCESSES: usize = 256;
const MOST_INSTRUCTIONS: usize = 2048;
/// What things cost, in instructions of the hardware: a jump past the copy, with what brings the warp's threads
/// together again; the note of a failure.
const JUMP: i64 = 4;
const NOTE: i64 = 4;

/// Code that is tested as a whole.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) head: usize,
    pub(super) last: usize,
    pub(super) groups: Vec<Group>,
    /// Registers that must hold little for some groups to vouch for others.
    pub(super) steps: Vec<Reg>,
    /// Accesses that need no check of their own behind the test.
    pub(super) covered: Vec<usize>,
    /// Instructions of the hardware that it saves.
    saved: i64,
}

/// An instruction with accesses that need a check.
struct Candidate {
    pc: usize,
    places: Vec<(Place, MemoryAccess)>,
    /// Instructions of the hardware for a check of its own.
    single: i64,
}

impl Writer<'_, '_> {
    /// The regions of a trace, in order.
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
            self.cut(block, (pc, run), &candidates, &mut regions);
            pc = run.max(pc + 1);
        }
        regions
    }

    /// Where code from `pc` on stops being fit for a copy; `pc` itself if it is not.
    fn run_of(&self, pc: usize, end: usize) -> usize {
        let code = &self.function.code;
        let place = |pc: usize| {
            let inst = &code[pc];
            let alone = |other: Option<&Inst>| other.is_none_or(|other| other.span.start != inst.span.start);
            let alone = alone(code.get(pc + 1)) && alone(pc.checked_sub(1).and_then(|pc| code.get(pc)));
            let placed = self.instructions.get(&inst.span.start)?;
            let text = self.source.text(placed.syntax.span);
            let plain = !text.contains("//") && !text.contains("/*");
            (alone && plain && (may_be_copied(inst) || target(inst).is_some_and(|to| to > pc)))
                .then_some(placed.stretch)
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
    fn cut(
        &self,
        block: &Block<'_>,
        (begin, end): (usize, usize),
        candidates: &[Candidate],
        regions: &mut Vec<Region>,
    ) {
        let (mut at, mut free) = (0, begin);
        while at < candidates.len() {
            let most = candidates.len().min(at + MOST_ACCESSES);
            let (mut region, open) = self.region_of(block, (free, end), &candidates[at..most]);
            // what is loaded on the way may be known at the head of a second region
            if let Some(open) = open.filter(|&open| open > 0) {
                let (first, _) = self.region_of(block, (free, end), &candidates[at..at + open]);
                let behind = (free.max(first.last + 1), end);
                let (second, _) = self.region_of(block, behind, &candidates[at + open..most]);
                if first.saved.max(0) + second.saved.max(0) > region.saved {
                    region = first;
                }
            }
            if region.saved <= 0 || region.covered.len() < 2 {
                free = candidates[at].pc + 1;
                at += 1;
                continue;
            }
            free = region.last + 1;
            at += candidates[at..].iter().take_while(|candidate| candidate.pc <= region.last).count();
            regions.push(region);
        }
    }

    /// The region from the first candidate on, or from the first jump over it, in a run; and the number of the first
    /// candidate that its test cannot cover.
    fn region_of(
        &self,
        block: &Block<'_>,
        (begin, end): (usize, usize),
        candidates: &[Candidate],
    ) -> (Region, Option<usize>) {
        let (code, jumps) = (&self.function.code, block.jumps);
        let first = candidates.first().map_or(begin, |candidate| candidate.pc);
        let head = jumps.closed(code, begin, first).0;
        let mut region = Region {
            head,
            last: head,
            groups: Vec::new(),
            steps: Vec::new(),
            covered: Vec::new(),
            saved: -JUMP,
        };
        let mut open = None;
        let mut known = Known::new();
        for (number, candidate) in candidates.iter().enumerate() {
            let (_, behind) = jumps.closed(code, head, candidate.pc);
            let behind = behind.max(region.last + 1);
            if behind > end || !jumps.are_closed(head, behind) {
                break;
            }
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
            region.last = behind - 1;
            region.saved += candidate.single;
        }
        region.steps = self.thin(block, head, &mut region.groups);
        region.saved -= region.steps.len() as i64;
        for group in region.groups.iter().filter(|group| !group.vouched) {
            region.saved -= match self.group_index(block, group, head) {
                Some(_) => 1,
                None if group.narrow => 2,
                None => 4,
            };
            region.saved -= i64::from(group.looked_at().is_some()) + i64::from(group.guard.is_some());
        }
        (region, open)
    }
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
