//! Registers that surely hold the address of a buffer, exactly as the launch gave it, where a basic block begins.
//!
//! [`Provenance`](super::provenance::Provenance) says where an address may lead; this says what it is. A register
//! counts only if every path to the block gave it the same parameter, so that one that nobody wrote never does.

use std::collections::BTreeMap;

use crate::ptx::ir::{
    AddressBase, Function, FunctionKind, Inst, Op, Operand, ParamBlock, RegClass, Space, Symbol, Width,
};

/// Parameters by the 64-bit slots that hold them.
type Held = BTreeMap<u32, usize>;

/// What is held at the beginning of each basic block, by the index of its first instruction.
pub(super) struct Pointers {
    at: BTreeMap<usize, Held>,
}

/// For each instruction, whether a basic block begins with it.
pub(super) fn leaders(code: &[Inst]) -> Vec<bool> {
    let mut leader = vec![false; code.len()];
    for (pc, inst) in code.iter().enumerate() {
        let next = inst.successors();
        if !next.targets.is_empty() || !next.falls_through {
            next.targets.iter().chain([&(pc as u32 + 1)]).for_each(|&target| {
                if let Some(leader) = leader.get_mut(target as usize) {
                    *leader = true;
                }
            });
        }
    }
    if let Some(first) = leader.first_mut() {
        *first = true;
    }
    leader
}

/// The parameter whose value `inst` loads whole, if it is one of `buffers`.
pub(super) fn loaded(function: &Function, buffers: &[usize], inst: &Inst) -> Option<usize> {
    let Op::Load(load) = &inst.op else { return None };
    let AddressBase::Symbol(Symbol::Param(ParamBlock::In, index)) = load.address.base else { return None };
    let whole = load.address.offset == 0 && load.ty.bytes() == 8 && load.dsts.len() == 1;
    let is_buffer = function.kind == FunctionKind::Kernel && buffers.contains(&(index as usize));
    (load.space == Space::Param && whole && is_buffer).then_some(index as usize)
}

impl Pointers {
    /// Follows the parameters `buffers` of `function`.
    pub(super) fn of(function: &Function, buffers: &[usize], leader: &[bool]) -> Self {
        let code = &function.code;
        let mut at: BTreeMap<usize, Held> = BTreeMap::from([(0, Held::new())]);
        let mut work = vec![0];
        while let Some(begin) = work.pop() {
            let Some(mut held) = at.get(&begin).cloned() else { continue };
            let mut pc = begin;
            while let Some(inst) = code.get(pc) {
                transfer(function, buffers, inst, &mut held);
                let next = inst.successors();
                let ends = leader.get(pc + 1).copied().unwrap_or(true);
                let falls = (next.falls_through && ends).then_some(pc as u32 + 1);
                for target in next.targets.iter().copied().chain(falls) {
                    let target = target as usize;
                    let changed = match at.get_mut(&target) {
                        Some(there) => {
                            let before = there.len();
                            there.retain(|slot, parameter| held.get(slot) == Some(parameter));
                            there.len() != before
                        }
                        None => {
                            at.insert(target, held.clone());
                            true
                        }
                    };
                    if changed && !work.contains(&target) {
                        work.push(target);
                    }
                }
                if ends || !next.falls_through {
                    break;
                }
                pc += 1;
            }
        }
        Self { at }
    }

    /// The parameter that the 64-bit register `slot` holds where the block at `begin` begins.
    pub(super) fn get(&self, begin: usize, slot: u32) -> Option<usize> {
        self.at.get(&begin)?.get(&slot).copied()
    }
}

fn transfer(function: &Function, buffers: &[usize], inst: &Inst, held: &mut Held) {
    let copied = match &inst.op {
        Op::Mov { dst, src: Operand::Reg(src) } if dst.width == Width::B64 && src.width == Width::B64 => {
            held.get(&src.index).copied()
        }
        // global addresses and generic ones to global memory are the same numbers
        Op::ConvertAddress { space: Space::Global, src: Operand::Reg(src), .. }
            if src.width == Width::B64 =>
        {
            held.get(&src.index).copied()
        }
        _ => loaded(function, buffers, inst),
    };
    inst.for_each_def(|reg| {
        if reg.class() == RegClass::Slot64 {
            held.remove(&reg.index);
            if let (Some(parameter), None) = (copied, inst.guard) {
                held.insert(reg.index, parameter);
            }
        }
    });
}
