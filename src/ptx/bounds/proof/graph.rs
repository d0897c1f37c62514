//! The kernel's flow graph, made once: blocks, loops, the order in which a region is run, registers that matter
//! and where they are live.

use super::slice::Slice;
use crate::ptx::ir::{Function, Inst, Op, Reg};

/// The most loops that are followed; the set of loops around a value is kept in as many bits.
const MOST_LOOPS: usize = 128;

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }
    /// Whether it was not there.
    pub(super) fn insert(&mut self, bit: usize) -> bool {
        let old = self.0[bit / 64];
        self.0[bit / 64] |= 1 << (bit % 64);
        old != self.0[bit / 64]
    }
    fn remove(&mut self, bit: usize) {
        self.0[bit / 64] &= !(1 << (bit % 64));
    }
    pub(super) fn contains(&self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
    fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(index, &word): (usize, &u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

/// Instructions that run one after another.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Where control goes if the last instruction branches.
    pub(super) taken: Option<u32>,
    /// Where it goes if not.
    pub(super) next: Option<u32>,
    /// The loops around it, as bits; a header belongs to its loop.
    pub(super) loops: u128,
    /// The loop of which it is the header.
    pub(super) heads: Option<u32>,
    /// Places that are read before they are written from here on.
    pub(super) live: Vec<u32>,
}

/// A natural loop.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) header: u32,
    pub(super) body: Bits,
    pub(super) order: Vec<Item>,
    /// Live places of the header that the body writes.
    pub(super) modified: Vec<u32>,
    /// Whether the body may write local memory, or calls.
    pub(super) writes_local: bool,
}

/// What is run in a region, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Block(u32),
    Loop(u32),
}

/// A kernel's flow graph.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub(super) blocks: Vec<Block>,
    pub(super) loops: Vec<Loop>,
    pub(super) order: Vec<Item>,
    block_of: Vec<u32>,
}

impl Graph {
    /// # Errors
    /// Why the flow is not followed.
    pub(super) fn new(function: &Function, slice: &Slice) -> Result<Self, &'static str> {
        let code = &function.code;
        if code.iter().any(|inst| matches!(inst.op, Op::BranchIndexed { .. })) {
            return Err("the kernel branches by an index");
        }
        let (mut blocks, block_of) = cut(code);
        let (order, number) = reverse_postorder(&blocks);
        let predecessors = predecessors(&blocks, &number);
        let dominators = dominators(&order, &number, &predecessors);
        let mut loops: Vec<(u32, Bits)> = Vec::new();
        for &block in &order {
            for target in successors(&blocks[block as usize]) {
                if number[target as usize] > number[block as usize] {
                    continue;
                }
                if !dominates(&dominators, target, block) {
                    return Err("the kernel enters a loop in more than one place");
                }
                let at = loops.iter().position(|(header, _)| *header == target).unwrap_or_else(|| {
                    let mut body = Bits::new(blocks.len());
                    body.insert(target as usize);
                    loops.push((target, body));
                    loops.len() - 1
                });
                let mut open = vec![block];
                while let Some(block) = open.pop() {
                    if loops[at].1.insert(block as usize) {
                        open.extend(&predecessors[block as usize]);
                    }
                }
            }
        }
        if loops.len() > MOST_LOOPS {
            return Err("the kernel has more than 128 loops");
        }
        for (index, (header, body)) in loops.iter().enumerate() {
            blocks[*header as usize].heads = Some(index as u32);
            body.iter().for_each(|block| blocks[block].loops |= 1 << index);
        }
        live_places(&mut blocks, &order, code, slice);
        let region = |index: Option<usize>| {
            let around = index.map_or(0, |index| blocks[loops[index].0 as usize].loops);
            let item = |&block: &u32| {
                let here = &blocks[block as usize];
                match here.heads {
                    Some(inner) if here.loops == around | 1 << inner && Some(inner as usize) != index => {
                        Some(Item::Loop(inner))
                    }
                    _ => (here.loops == around).then_some(Item::Block(block)),
                }
            };
            order.iter().filter_map(item).collect::<Vec<_>>()
        };
        let made = loops.iter().enumerate().map(|(index, (header, body))| {
            let instructions = || body.iter().flat_map(|block| &code[range(&blocks[block])]);
            let mut written = Bits::new(slice.place_count());
            instructions().for_each(|inst| {
                inst.for_each_def(|reg| {
                    if let Some(place) = slice.place(reg) {
                        written.insert(place as usize);
                    }
                });
            });
            let live = blocks[*header as usize].live.iter().copied();
            Loop {
                header: *header,
                body: body.clone(),
                order: region(Some(index)),
                modified: live.filter(|&place| written.contains(place as usize)).collect(),
                writes_local: instructions().any(|inst| super::slice::may_write_local(&inst.op)),
            }
        });
        Ok(Self { loops: made.collect(), order: region(None), block_of, blocks })
    }

    /// The loops around an instruction.
    pub(super) fn loops_at(&self, pc: u32) -> u128 {
        self.blocks[self.block_of[pc as usize] as usize].loops
    }
}

fn range(block: &Block) -> std::ops::Range<usize> {
    block.start as usize..block.end as usize
}

pub(super) fn successors(block: &Block) -> impl Iterator<Item = u32> {
    block.next.into_iter().chain(block.taken)
}

fn ends_block(inst: &Inst) -> bool {
    matches!(inst.op, Op::Branch { .. } | Op::Return | Op::Exit | Op::Trap | Op::Unsupported(_))
}

/// Cuts the code into blocks; also which block each instruction is in.
fn cut(code: &[Inst]) -> (Vec<Block>, Vec<u32>) {
    let mut leads = vec![false; code.len() + 1];
    leads[0] = true;
    for (pc, inst) in code.iter().enumerate() {
        inst.successors().targets.iter().for_each(|target| leads[*target as usize] = true);
        leads[pc + 1] |= ends_block(inst);
    }
    let mut block_of = Vec::with_capacity(code.len());
    let mut count = 0;
    for &leads in &leads[..code.len()] {
        count += u32::from(leads);
        block_of.push(count - 1);
    }
    let mut blocks = Vec::with_capacity(count as usize);
    let mut start = 0;
    for pc in 0..code.len() {
        if !leads[pc + 1] && pc + 1 != code.len() {
            continue;
        }
        let to = code[pc].successors();
        let next = (to.falls_through && pc + 1 < code.len()).then(|| block_of[pc + 1]);
        let taken = to.targets.first().map(|target| block_of[*target as usize]);
        let (start_here, end) = (start as u32, pc as u32 + 1);
        blocks.push(Block { start: start_here, end, taken, next, loops: 0, heads: None, live: Vec::new() });
        start = pc + 1;
    }
    (blocks, block_of)
}

/// Blocks that can be reached, each before those it leads to but for loops; and the place of each in that order.
fn reverse_postorder(blocks: &[Block]) -> (Vec<u32>, Vec<u32>) {
    let mut number = vec![u32::MAX; blocks.len()];
    let mut order = Vec::with_capacity(blocks.len());
    if blocks.is_empty() {
        return (order, number);
    }
    let mut seen = Bits::new(blocks.len());
    seen.insert(0);
    let mut open: Vec<(u32, smallvec::SmallVec<[u32; 2]>)> = vec![(0, successors(&blocks[0]).collect())];
    while let Some((block, left)) = open.last_mut() {
        match left.pop() {
            Some(target) => {
                if seen.insert(target as usize) {
                    open.push((target, successors(&blocks[target as usize]).collect()));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    for (index, &block) in order.iter().enumerate() {
        number[block as usize] = index as u32;
    }
    (order, number)
}

fn predecessors(blocks: &[Block], number: &[u32]) -> Vec<Vec<u32>> {
    let mut found = vec![Vec::new(); blocks.len()];
    for (index, block) in blocks.iter().enumerate().filter(|(index, _)| number[*index] != u32::MAX) {
        successors(block).for_each(|target| found[target as usize].push(index as u32));
    }
    found
}

/// The immediate dominator of each block that can be reached (Cooper, Harvey and Kennedy's iteration).
fn dominators(order: &[u32], number: &[u32], predecessors: &[Vec<u32>]) -> Vec<Option<u32>> {
    let mut found: Vec<Option<u32>> = vec![None; number.len()];
    if let Some(&entry) = order.first() {
        found[entry as usize] = Some(entry);
    }
    loop {
        let mut changed = false;
        for &block in order.iter().skip(1) {
            let mut known =
                predecessors[block as usize].iter().copied().filter(|p| found[*p as usize].is_some());
            let Some(first) = known.next() else { continue };
            let meet = known.fold(first, |mut a, mut b| {
                while a != b {
                    while number[a as usize] > number[b as usize] {
                        a = found[a as usize].unwrap_or(b);
                    }
                    while number[b as usize] > number[a as usize] {
                        b = found[b as usize].unwrap_or(a);
                    }
                }
                a
            });
            changed |= found[block as usize].replace(meet) != Some(meet);
        }
        if !changed {
            return found;
        }
    }
}

fn dominates(dominators: &[Option<u32>], above: u32, mut block: u32) -> bool {
    loop {
        if block == above {
            return true;
        }
        match dominators[block as usize] {
            Some(next) if next != block => block = next,
            _ => return false,
        }
    }
}

fn live_places(blocks: &mut [Block], order: &[u32], code: &[Inst], slice: &Slice) {
    let count = slice.place_count();
    let mut live = vec![Bits::new(count); blocks.len()];
    loop {
        let mut changed = false;
        for &index in order.iter().rev() {
            let block = &blocks[index as usize];
            let mut here = Bits::new(count);
            successors(block).for_each(|target| here.join(&live[target as usize]));
            for inst in code[range(block)].iter().rev() {
                let place = |reg: Reg| slice.place(reg).map(|place| place as usize);
                if inst.guard.is_none() {
                    inst.for_each_def(|reg| place(reg).into_iter().for_each(|place| here.remove(place)));
                } else {
                    // the old value stays where the guard does not hold
                    inst.for_each_def(|reg| place(reg).into_iter().for_each(|p| _ = here.insert(p)));
                }
                inst.for_each_use(|reg| place(reg).into_iter().for_each(|p| _ = here.insert(p)));
            }
            changed |= here != live[index as usize];
            live[index as usize] = here;
        }
        if !changed {
            break;
        }
    }
    for (block, live) in blocks.iter_mut().zip(live) {
        block.live = live.iter().map(|place| place as u32).collect();
    }
}
