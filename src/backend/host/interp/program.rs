//! A module made ready to run: decoded code with one program counter for all functions, the layout of each
//! function's registers and frame, and the module's variables placed in device memory.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::decode;
use super::liveness;
use super::op::Inst;
use crate::backend::host::memory::{Memory, OutOfMemory, SLOT_SHIFT};
use crate::ptx::ir::{
    self, FunctionId, FunctionKind, Module, RegClass, RegisterFile, RelocationTarget, Space, VariableId,
};
use crate::ptx::source::Source;

/// Function pointers are addresses in a slot of their own.
pub(super) const FUNCTION_WINDOW: u64 = 4 << SLOT_SHIFT;
/// Distance of two function pointers.
const FUNCTION_STEP: u64 = 16;

/// A module ready to run.
pub(crate) struct Program {
    pub(super) module: Arc<Module>,
    pub(super) source: Arc<Source>,
    pub(super) code: Vec<Inst>,
    pub(super) functions: Vec<Layout>,
    /// Kernels whose blocks were seen to read what earlier blocks wrote: they run in order from then on.
    ordered: Vec<AtomicBool>,
}

/// Where the parts of a function lie.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Program counter of its first instruction; that of instruction `i` is `entry + i`.
    pub(super) entry: u32,
    /// Rows of its registers, followed by those of its constants.
    pub(super) file: RegisterFile,
    pub(super) constants32: Vec<(u32, u32)>,
    pub(super) constants64: Vec<(u32, u64)>,
    /// The predicate row that always holds.
    pub(super) always: u32,
    /// Byte offsets of the blocks in the frame; `.local` variables come first.
    pub(super) in_offset: u32,
    pub(super) out_offset: u32,
    pub(super) call_offset: u32,
    pub(super) frame_bytes: u32,
    /// Of a kernel: the registers that may be read before they are written.
    pub(super) unwritten: Vec<(RegClass, u32)>,
}

impl Program {
    /// Decodes all functions of `module`, which was read from `source`.
    pub(crate) fn new(module: Arc<Module>, source: Arc<Source>) -> Self {
        let mut code = Vec::new();
        let mut functions = Vec::with_capacity(module.functions.len());
        for function in &module.functions {
            let mut layout = layout(function);
            layout.entry = code.len() as u32;
            decode::function(function, &mut layout, &mut code);
            if function.kind == FunctionKind::Kernel {
                layout.unwritten = liveness::read_before_written(function);
            }
            functions.push(layout);
        }
        let ordered = functions.iter().map(|_| AtomicBool::new(false)).collect();
        Self { module, source, code, functions, ordered }
    }

    /// The module it was made from.
    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    /// Was this kernel seen to depend on the order of its blocks?
    pub(super) fn depends_on_order(&self, kernel: u32) -> &AtomicBool {
        static NEVER_RUN: AtomicBool = AtomicBool::new(true);
        self.ordered.get(kernel as usize).unwrap_or(&NEVER_RUN)
    }

    /// The instruction at `pc` of the function with this index.
    pub(super) fn inst(&self, function: u32, pc: u32) -> Option<&ir::Inst> {
        let pc = self.within(function, pc)?;
        self.module.functions.get(function as usize)?.code.get(pc as usize)
    }

    /// The index into a function's own code of an instruction of the program.
    pub(super) fn within(&self, function: u32, pc: u32) -> Option<u32> {
        pc.checked_sub(self.functions.get(function as usize)?.entry)
    }

    /// Places the module's variables in `memory`.
    pub(crate) fn instantiate(self: &Arc<Self>, memory: &mut Memory) -> Result<Instance, OutOfMemory> {
        let mut instance =
            Instance { program: Arc::clone(self), variables: vec![None; self.module.variables.len()] };
        if let Err(error) = instance.place(memory) {
            instance.release(memory);
            return Err(error);
        }
        instance.initialise(memory);
        Ok(instance)
    }
}

fn layout(function: &ir::Function) -> Layout {
    let align = |at: u32| at.next_multiple_of(16);
    let in_offset = align(function.local_bytes);
    // a kernel's parameters are the same for all threads and live with the launch
    let in_bytes = if function.kind == FunctionKind::Kernel { 0 } else { function.param_bytes };
    let out_offset = align(in_offset + in_bytes);
    let call_offset = align(out_offset + function.return_bytes);
    let frame_bytes = align(call_offset + function.call_bytes);
    Layout { file: function.registers, in_offset, out_offset, call_offset, frame_bytes, ..Layout::default() }
}

/// The pointer to a function.
pub(super) fn function_address(id: FunctionId) -> u64 {
    FUNCTION_WINDOW + (u64::from(id.0) + 1) * FUNCTION_STEP
}

/// The function a pointer points to, if it is one of `count`.
pub(super) fn function_at(address: u64, count: usize) -> Option<FunctionId> {
    let index = address.checked_sub(FUNCTION_WINDOW + FUNCTION_STEP)?;
    let id = index / FUNCTION_STEP;
    (index % FUNCTION_STEP == 0 && id < count as u64).then_some(FunctionId(id as u32))
}

/// A program whose variables have places in one device's memory.
pub(crate) struct Instance {
    pub(super) program: Arc<Program>,
    /// Address and length of each `.global` and `.const` variable.
    pub(super) variables: Vec<Option<(u64, u64)>>,
}

impl Instance {
    /// The decoded module.
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Address and length in bytes of a `.global` or `.const` variable.
    pub(crate) fn variable(&self, id: VariableId) -> Option<(u64, u64)> {
        self.variables.get(id.0 as usize).copied().flatten()
    }

    /// Gives the memory of the variables back.
    pub(crate) fn release(&mut self, memory: &mut Memory) {
        for place in &mut self.variables {
            if let Some((address, _)) = place.take() {
                // gone already if the device was reset
                let _ = memory.free(address);
            }
        }
    }

    fn place(&mut self, memory: &mut Memory) -> Result<(), OutOfMemory> {
        for (variable, place) in self.program.module.variables.iter().zip(&mut self.variables) {
            if matches!(variable.space, Space::Global | Space::Const) {
                let address = memory.allocate(variable.size as usize, 0)?;
                // a variable without an initialiser holds zeros, which counts as written
                let _ = memory.bytes_mut(address, variable.size as usize);
                *place = Some((address, variable.size));
            }
        }
        Ok(())
    }

    fn initialise(&self, memory: &mut Memory) {
        for (variable, place) in self.program.module.variables.iter().zip(&self.variables) {
            let (Some(initializer), Some((address, len))) = (&variable.initializer, place) else { continue };
            let Ok(bytes) = memory.bytes_mut(*address, *len as usize) else { continue };
            let known = initializer.bytes.len().min(bytes.len());
            bytes[..known].copy_from_slice(&initializer.bytes[..known]);
            for relocation in &initializer.relocations {
                let target = match relocation.target {
                    RelocationTarget::Function(id) => function_address(id),
                    // addresses of global and constant variables are generic addresses already
                    RelocationTarget::Variable(id) | RelocationTarget::Generic(id) => {
                        self.variable(id).map_or(0, |(address, _)| address)
                    }
                };
                let value = target.wrapping_add_signed(relocation.addend) >> relocation.shift.min(63);
                let (from, size) = (relocation.offset as usize, relocation.size.min(8) as usize);
                if let Some(place) = bytes.get_mut(from..from + size) {
                    place.copy_from_slice(&value.to_le_bytes()[..size]);
                }
            }
        }
    }
}
