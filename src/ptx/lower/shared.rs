//! Static shared memory: an offset for each variable that holds in every kernel that uses it, so that
//! code of functions called from several kernels can be decoded once.

use std::collections::BTreeSet;

use crate::ptx::ir::*;
use crate::ptx::source::SyntaxError;

/// What a function's own code refers to.
#[derive(Default)]
struct Mentions {
    shared: BTreeSet<VariableId>,
    callees: BTreeSet<FunctionId>,
    /// A call through a pointer: any function whose address is taken somewhere.
    indirect: bool,
}

/// Gives each static shared variable an offset and each kernel its layout.
///
/// A variable begins behind everything that any kernel using it has before it. A variable of one kernel
/// thus costs the others nothing, although all share one set of offsets.
pub(super) fn lay_out(module: &mut Module) -> Result<(), SyntaxError> {
    let mentions: Vec<Mentions> = module.functions.iter().map(mentions).collect();
    let address_taken = address_taken(module);
    let uses: Vec<(usize, BTreeSet<VariableId>)> = (0..module.functions.len())
        .filter(|&index| module.functions[index].kind == FunctionKind::Kernel)
        .map(|index| (index, reachable(index, &mentions, &address_taken)))
        .collect();

    let mut ends = vec![0u32; uses.len()];
    for index in 0..module.variables.len() {
        let id = VariableId(index as u32);
        let variable = &module.variables[index];
        if variable.space != Space::Shared || variable.is_dynamic_shared() {
            continue;
        }
        let users: Vec<usize> = (0..uses.len()).filter(|&k| uses[k].1.contains(&id)).collect();
        let start = users.iter().map(|&k| ends[k]).max().unwrap_or(0);
        let offset = u64::from(start).next_multiple_of(u64::from(variable.align));
        let end = u32::try_from(offset + variable.size).map_err(|_| {
            SyntaxError::new(variable.span, format!("shared memory up to `{}` exceeds 4 GiB", variable.name))
        })?;
        module.variables[index].shared_offset = Some(offset as u32);
        for k in users {
            ends[k] = end;
            let kernel = &mut module.functions[uses[k].0];
            kernel.shared.variables.push(id);
        }
    }

    for ((index, used), end) in uses.into_iter().zip(ends) {
        let dynamic = used.iter().map(|id| &module.variables[id.0 as usize]);
        let align = dynamic.filter(|v| v.is_dynamic_shared()).map(|v| v.align).max();
        let offset = u64::from(end).next_multiple_of(u64::from(align.unwrap_or(1)));
        let layout = &mut module.functions[index].shared;
        layout.static_bytes = end;
        layout.dynamic_offset = u32::try_from(offset).unwrap_or(u32::MAX);
        layout.uses_dynamic = align.is_some();
    }
    Ok(())
}

/// Calls `f` for each symbol that the code names.
fn for_each_symbol(function: &Function, mut f: impl FnMut(Symbol)) {
    for inst in &function.code {
        inst.op.for_each_symbol(&mut f);
    }
}

fn mentions(function: &Function) -> Mentions {
    let mut mentions = Mentions::default();
    for_each_symbol(function, |symbol| {
        if let Symbol::Shared(id) | Symbol::DynamicShared(id) = symbol {
            mentions.shared.insert(id);
        }
    });
    for inst in &function.code {
        if let Op::Call(call) = &inst.op {
            match &call.target {
                CallTarget::Direct(id) => drop(mentions.callees.insert(*id)),
                CallTarget::Indirect { candidates: Some(list), .. } => {
                    mentions.callees.extend(list.iter().copied());
                }
                CallTarget::Indirect { candidates: None, .. } => mentions.indirect = true,
                CallTarget::Intrinsic(_) => {}
            }
        }
    }
    mentions
}

fn address_taken(module: &Module) -> BTreeSet<FunctionId> {
    let mut taken = BTreeSet::new();
    for function in &module.functions {
        for_each_symbol(function, |symbol| {
            if let Symbol::Function(id) = symbol {
                taken.insert(id);
            }
        });
    }
    for initializer in module.variables.iter().filter_map(|v| v.initializer.as_ref()) {
        for relocation in &initializer.relocations {
            if let RelocationTarget::Function(id) = relocation.target {
                taken.insert(id);
            }
        }
    }
    taken
}

/// The shared variables of a kernel and of everything it may call.
fn reachable(
    kernel: usize,
    mentions: &[Mentions],
    address_taken: &BTreeSet<FunctionId>,
) -> BTreeSet<VariableId> {
    let mut seen = BTreeSet::from([FunctionId(kernel as u32)]);
    let mut open = vec![FunctionId(kernel as u32)];
    let mut shared = BTreeSet::new();
    while let Some(id) = open.pop() {
        let mentions = &mentions[id.0 as usize];
        shared.extend(&mentions.shared);
        let indirect = mentions.indirect.then_some(address_taken);
        for &callee in mentions.callees.iter().chain(indirect.into_iter().flatten()) {
            if seen.insert(callee) {
                open.push(callee);
            }
        }
    }
    shared
}
