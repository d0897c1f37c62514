//! Loaded modules as streams and launches see them, and the interpreter's programs in that form: its words for a
//! launch are translated here.

use std::io::Write;
use std::sync::Arc;

use super::interp::{self, Instance, LaunchRequest, Program};
use super::memory::Memory;
use crate::backend::{AccessRule, Answer, LaunchCall};
use crate::fault::{Fault, FaultKind};
use crate::ptx::LoadedPtx;
use crate::statistics::LaunchStatistics;

/// Kernels, and variables that live in one context's memory.
pub(super) trait Module: Send + Sync {
    /// The module's name, for faults.
    fn name(&self) -> &str;

    /// Runs a kernel from its first block to its last. Returns its fault, if it makes one.
    fn run(self: Arc<Self>, call: &LaunchCall<'_>, memory: &mut Memory) -> Result<(), Box<Fault>>;

    /// Frees the variables. No launch of the module is queued any more.
    fn release(self: Arc<Self>, memory: &mut Memory);
}

/// Decodes a module and places its variables in `memory`.
pub(super) fn load(ptx: &LoadedPtx, memory: &mut Memory) -> Answer<Arc<dyn Module>> {
    let program = Program::new(Arc::clone(ptx.module()), Arc::clone(ptx.source()));
    let instance = Arc::new(program).instantiate(memory)?;
    Ok(Arc::new(Loaded { name: ptx.source().name().to_owned(), instance: Arc::new(instance) }))
}

/// A module of the interpreter.
struct Loaded {
    name: String,
    instance: Arc<Instance>,
}

impl Module for Loaded {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(self: Arc<Self>, call: &LaunchCall<'_>, memory: &mut Memory) -> Result<(), Box<Fault>> {
        let Some((kernel, _)) = self.instance.program().module().function(&call.kernel) else {
            let message = "the module has no kernel of that name".to_owned();
            return Err(Box::new(Fault::new(FaultKind::Internal { message }, &*self.name, &**call.kernel)));
        };
        let buffers = call.buffers.iter().map(|buffer| interp::LaunchBuffer {
            argument: buffer.argument,
            address: buffer.address,
            bytes: buffer.bytes,
            writable: buffer.writable,
        });
        let request = LaunchRequest {
            instance: Arc::clone(&self.instance),
            kernel,
            grid: call.grid,
            block: call.block,
            dynamic_shared: call.dynamic_shared,
            params: call.params.to_vec(),
            buffers: buffers.collect(),
            access: match call.access {
                AccessRule::Checked => interp::AccessRule::Buffers,
                AccessRule::Unchecked => interp::AccessRule::AnyLive,
            },
            strict: call.strict,
            statistics: call.counts.is_some(),
            max_steps: call.max_steps,
        };
        let counted = interp::run(memory, &request, &mut print)?;
        if let Some(counts) = &call.counts {
            // whoever counts a launch makes the slot for it, so it is empty
            let _ = counts.set(statistics(counted));
        }
        Ok(())
    }

    fn release(self: Arc<Self>, memory: &mut Memory) {
        let instance = Arc::into_inner(self).map(|loaded| loaded.instance);
        if let Some(mut instance) = instance.and_then(Arc::into_inner) {
            instance.release(memory);
        }
    }
}

/// The interpreter's counts as the library's words.
fn statistics(counted: interp::Statistics) -> LaunchStatistics {
    LaunchStatistics {
        opcodes: counted.opcodes,
        thread_instructions: counted.thread_instructions,
        warp_instructions: counted.warp_instructions,
        divergent_instructions: counted.divergent_instructions,
        loaded_bytes: counted.loaded_bytes,
        stored_bytes: counted.stored_bytes,
        blocks: counted.blocks,
    }
}

/// What a kernel prints goes where CUDA puts it, to standard output. One that is closed is no reason to stop.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
