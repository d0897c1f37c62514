//! What the addresses and conditions of a kernel depend on: the registers that are followed, and the bytes of
//! parameters that a proof may use. Everything else (floats, above all) is never looked at.

use super::graph::Bits;
use crate::ptx::ir::*;

/// The registers and parameters that matter.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    /// By class and index: the place of a register that is followed.
    places: [Vec<Option<u32>>; 3],
    count: usize,
    /// Bytes of the `In` block that are read into followed registers, as `(offset, size)`.
    pub(super) params: Vec<(u32, u32)>,
    /// Whether a followed register holds the number of blocks along an axis.
    pub(super) reads_grid: bool,
}

/// Does an instruction write local memory, as far as can be told without its address?
pub(super) fn may_write_local(op: &Op) -> bool {
    matches!(op, Op::Call(_) | Op::Unsupported(_))
        || op.memory_accesses().iter().any(|access| {
            access.kind != MemoryAccessKind::Read && matches!(access.space, Space::Generic | Space::Local)
        })
}

/// Is the result calculated from the operands? If not, it is some value of its type.
fn is_followed(op: &Op) -> bool {
    match op {
        Op::Mov { .. }
        | Op::ReadSpecial { .. }
        | Op::AddressOf { .. }
        | Op::Pack { .. }
        | Op::Unpack { .. }
        | Op::Integer { .. }
        | Op::MultiplyAdd { .. }
        | Op::IntegerUnary { .. }
        | Op::Logic { .. }
        | Op::Shift { .. }
        | Op::BitFieldExtract { .. }
        | Op::Select { .. }
        | Op::ConvertAddress { .. } => true,
        Op::SetPredicate { ty, .. } => !ty.is_float(),
        Op::Convert(convert) => !convert.src_ty.is_float() && !convert.dst_ty.is_float(),
        _ => false,
    }
}

fn class_index(class: RegClass) -> Option<usize> {
    match class {
        RegClass::Predicate => Some(0),
        RegClass::Slot32 => Some(1),
        RegClass::Slot64 => Some(2),
        RegClass::Slot128 => None,
    }
}

impl Slice {
    pub(super) fn new(function: &Function) -> Self {
        let file = &function.registers;
        let mut wanted = [file.predicates, file.slots32, file.slots64].map(|count| Bits::new(count as usize));
        let want = |wanted: &mut [Bits; 3], reg: Reg| {
            class_index(reg.class()).is_some_and(|class| wanted[class].insert(reg.index as usize))
        };
        let local_slots = !function.locals.is_empty();
        for inst in &function.code {
            if let Some(guard) = inst.guard {
                want(&mut wanted, guard.predicate);
            }
            inst.op.memory_accesses().iter().for_each(|access| {
                if let AddressBase::Reg(reg) = access.address.base {
                    want(&mut wanted, reg);
                }
            });
            if let Op::Hint { address: Some(Address { base: AddressBase::Reg(reg), .. }), .. } = &inst.op {
                want(&mut wanted, *reg);
            }
            // what a local slot holds may come back as an address
            if let Op::Store(store) = &inst.op
                && local_slots
                && matches!(store.space, Space::Local | Space::Generic)
                && !store.ty.is_float()
            {
                store.srcs.iter().filter_map(|src| src.reg()).for_each(|reg| _ = want(&mut wanted, reg));
            }
        }
        let mut params = Vec::new();
        let mut reads_grid = false;
        loop {
            let mut changed = false;
            // backwards, as sources mostly stand before
            for inst in function.code.iter().rev() {
                let mut matters = false;
                inst.for_each_def(|reg| {
                    matters |= class_index(reg.class())
                        .is_some_and(|class| wanted[class].contains(reg.index as usize));
                });
                if matters && is_followed(&inst.op) {
                    inst.op.for_each_use(|reg| changed |= want(&mut wanted, reg));
                }
                reads_grid |=
                    matters && matches!(&inst.op, Op::ReadSpecial { special: SpecialReg::NCtaId(_), .. });
                if matters && let Some(read) = parameter_read(function, &inst.op) {
                    params.push(read);
                }
            }
            if !changed {
                break;
            }
        }
        params.sort_unstable();
        params.dedup();
        let mut count = 0;
        let places = wanted.map(|set| {
            let mut places = Vec::new();
            for index in set.iter() {
                places.resize(index + 1, None);
                places[index] = Some(count);
                count += 1;
            }
            places
        });
        Self { places, count: count as usize, params, reads_grid }
    }

    /// Where the value of `reg` is kept, if it is followed.
    pub(super) fn place(&self, reg: Reg) -> Option<u32> {
        self.places[class_index(reg.class())?].get(reg.index as usize).copied().flatten()
    }

    pub(super) fn place_count(&self) -> usize {
        self.count
    }
}

/// The bytes of the `In` block that a load reads.
pub(super) fn parameter_read(function: &Function, op: &Op) -> Option<(u32, u32)> {
    let Op::Load(load) = op else { return None };
    let AddressBase::Symbol(Symbol::Param(ParamBlock::In, index)) = load.address.base else { return None };
    let param = function.params.get(index as usize)?;
    let offset = i64::from(param.offset).checked_add(load.address.offset)?;
    let offset = u32::try_from(offset).ok()?;
    let size = load.ty.bytes() * load.dsts.len() as u32;
    (offset.checked_add(size)? <= function.param_bytes).then_some((offset, size))
}
