//! What a kernel's code says about its parameters before any launch: which it may store through, which are addresses
//! at all.

use std::collections::HashMap;

use super::provenance::{Argument, Origin, Provenance};
use super::writer;
use crate::ptx::LoadedPtx;
use crate::ptx::ir::{Call, CallTarget, Function, Module, Op, Space};

/// Does a kernel store through one of its parameters?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// This instruction does, if it is reached: the first one of the kernel's, or of a function that it calls.
    Yes(Place),
    /// None does.
    No,
    /// Some store may go anywhere.
    Unknown,
}

/// An instruction of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index into [`Module::functions`].
    pub function: u32,
    /// Index into that function's code.
    pub pc: u32,
}

/// For each parameter of the kernel `kernel`, of which those with the indices `buffers` are buffers and the others hold
/// no address, whether it is stored through. A kernel that stores through what it is given as `Read` can be refused when
/// it is loaded.
#[must_use]
pub fn stores(loaded: &LoadedPtx, kernel: &str, buffers: &[usize]) -> Vec<Writes> {
    let module = loaded.module();
    let Some((id, function)) = module.function(kernel) else { return Vec::new() };
    let mut search = Search { module, known: HashMap::new(), path: Vec::new() };
    let found = search.function(id.0, buffers, &[]);
    let mut writes = found.through;
    writes.resize(function.params.len(), Writes::No);
    for index in buffers.iter().filter(|_| found.anywhere) {
        if let Some(entry) = writes.get_mut(*index)
            && *entry == Writes::No
        {
            *entry = Writes::Unknown;
        }
    }
    writes
}

/// What is known of the parameters of a function: its number, those that are buffers, those that are no addresses.
type Question = (u32, Vec<usize>, Vec<usize>);

/// What a function writes.
#[derive(Clone, Default)]
struct Found {
    /// For each of its parameters, `Yes` or `No`.
    through: Vec<Writes>,
    /// Some store of which is not known where it goes.
    anywhere: bool,
}

/// Calls within calls that are followed.
const DEEPEST: usize = 32;
/// Questions that are answered for one kernel.
const MOST_QUESTIONS: usize = 1000;

/// The search through a kernel and what it calls.
struct Search<'a> {
    module: &'a Module,
    known: HashMap<Question, Found>,
    /// The functions that are being asked.
    path: Vec<u32>,
}

impl Search<'_> {
    /// What the function number `id` writes if its parameters `buffers` are buffers and `numbers` no addresses.
    fn function(&mut self, id: u32, buffers: &[usize], numbers: &[usize]) -> Found {
        let unknown = Found { through: Vec::new(), anywhere: true };
        let Some(function) = self.module.functions.get(id as usize).filter(|function| function.defined)
        else {
            return unknown;
        };
        if self.path.contains(&id) || self.path.len() == DEEPEST || self.known.len() == MOST_QUESTIONS {
            return unknown;
        }
        let question = (id, buffers.to_vec(), numbers.to_vec());
        if let Some(found) = self.known.get(&question) {
            return found.clone();
        }
        self.path.push(id);
        let provenance = Provenance::of_parameters(self.module, function, buffers, numbers);
        let mut found = Found { through: vec![Writes::No; function.params.len()], anywhere: false };
        for (pc, inst) in function.code.iter().enumerate() {
            if let Op::Call(call) = &inst.op {
                self.call(call, pc, &provenance, &mut found);
            }
            if !writer::writes(inst) {
                continue;
            }
            for (number, access) in inst.op.memory_accesses().iter().enumerate() {
                match provenance.origin(pc, number, &access.address).0 {
                    Origin::Buffer(index) => {
                        found.note(index, Writes::Yes(Place { function: id, pc: pc as u32 }));
                    }
                    Origin::Any if matches!(access.space, Space::Global | Space::Generic) => {
                        found.anywhere = true;
                    }
                    _ => {}
                }
            }
        }
        self.path.pop();
        self.known.insert(question, found.clone());
        found
    }

    /// What a call writes, in terms of the caller's parameters.
    fn call(&mut self, call: &Call, pc: usize, provenance: &Provenance<'_>, found: &mut Found) {
        let callee = match &call.target {
            CallTarget::Direct(callee) => callee.0,
            CallTarget::Intrinsic(_) => return,
            CallTarget::Indirect { .. } => {
                found.anywhere = true;
                return;
            }
        };
        let arguments: Vec<_> =
            call.args.iter().map(|argument| provenance.argument(pc, argument.call_param)).collect();
        let with = |wanted: fn(&Argument) -> bool| -> Vec<usize> {
            arguments.iter().enumerate().filter(|(_, argument)| wanted(argument)).map(|(i, _)| i).collect()
        };
        let buffers = with(|argument| matches!(argument, Argument::Buffer(_)));
        let numbers = with(|argument| matches!(argument, Argument::Number));
        let inner = self.function(callee, &buffers, &numbers);
        found.anywhere |= inner.anywhere;
        for (argument, writes) in arguments.iter().zip(inner.through) {
            if let Argument::Buffer(index) = argument {
                found.note(*index, writes);
            }
        }
    }
}

impl Found {
    /// Notes what is written through a parameter; the first place stays.
    fn note(&mut self, index: usize, writes: Writes) {
        if let Some(entry) = self.through.get_mut(index)
            && *entry == Writes::No
        {
            *entry = writes;
        }
    }
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
