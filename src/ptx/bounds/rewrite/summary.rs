//! What a kernel's code says about its parameters before any launch: which it may store through, which are addresses
//! at all.

use super::provenance::{Origin, Provenance};
use super::writer;
use crate::ptx::LoadedPtx;
use crate::ptx::ir::{CallTarget, Function, Module, Op, Space};

/// Does a kernel store through one of its parameters?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Some instruction does, if it is reached.
    Yes,
    /// None does.
    No,
    /// Some store may go anywhere, or a function is called that stores.
    Unknown,
}

/// For each parameter of the kernel `kernel`, of which those with the indices `buffers` are buffers, whether it is
/// stored through. A kernel that stores through what it is given as `Read` can be refused when it is loaded.
#[must_use]
pub fn stores(loaded: &LoadedPtx, kernel: &str, buffers: &[usize]) -> Vec<Writes> {
    let module = loaded.module();
    let Some((_, function)) = module.function(kernel) else { return Vec::new() };
    let mut result = vec![Writes::No; function.params.len()];
    let provenance = Provenance::of(module, function, buffers);
    let unknown = |result: &mut Vec<Writes>| {
        for index in buffers {
            if let Some(entry) = result.get_mut(*index)
                && *entry == Writes::No
            {
                *entry = Writes::Unknown;
            }
        }
    };
    for (pc, inst) in function.code.iter().enumerate() {
        if let Op::Call(call) = &inst.op {
            match call.target {
                CallTarget::Direct(callee) if !may_store(module, callee.0, &mut Vec::new()) => {}
                CallTarget::Intrinsic(_) => {}
                _ => unknown(&mut result),
            }
        }
        if !writer::writes(inst) {
            continue;
        }
        for (number, access) in inst.op.memory_accesses().iter().enumerate() {
            match provenance.origin(pc, number, &access.address).0 {
                Origin::Buffer(index) => {
                    if let Some(entry) = result.get_mut(index) {
                        *entry = Writes::Yes;
                    }
                }
                Origin::Any if matches!(access.space, Space::Global | Space::Generic) => unknown(&mut result),
                _ => {}
            }
        }
    }
    result
}

fn may_store(module: &Module, id: u32, path: &mut Vec<u32>) -> bool {
    if path.contains(&id) {
        return false;
    }
    path.push(id);
    let Some(function) = module.functions.get(id as usize) else { return true };
    let stores = |op: &Op| match op {
        Op::Call(call) => match call.target {
            CallTarget::Direct(callee) => may_store(module, callee.0, path),
            CallTarget::Intrinsic(_) => false,
            CallTarget::Indirect { .. } => true,
        },
        _ => false,
    };
    let mut stores = stores;
    function.code.iter().any(|inst| writer::writes(inst) || stores(&inst.op)) || !function.defined
}

/// Does the kernel need rewriting although each of its own accesses was proved: has it `trap`, assertions, or calls
/// of functions?
#[must_use]
pub fn stops_by_itself(loaded: &LoadedPtx, kernel: &str) -> bool {
    loaded.module().function(kernel).is_some_and(|(_, function)| writer::stops(function))
}

/// Does some access, cast of an address or call use the parameter `index` as an address?
pub(super) fn is_address(module: &Module, function: &Function, index: usize) -> bool {
    let only = [index];
    let provenance = Provenance::of(module, function, &only);
    let loaded = function.code.iter().any(|inst| super::text::loads_parameter(&inst.op, index));
    loaded && provenance.reaches_an_address()
}
