//! Which accesses of a kernel are in range for one launch, proved before it runs: the sizes, the scalars and the
//! lengths of the buffers are known numbers then, what is loaded from memory is anything.
//!
//! Every value is kept as a linear expression that is right modulo two to its width; whether it wraps around is asked
//! only where it is read as an integer (`numbers`). Facts speak of atoms, which do not change, never of registers, so
//! that no assignment makes one false. A loop's invariants are guessed from its guards and kept only if one more pass
//! over the body, which assumes exactly them, proves that they hold again.
//!
//! What is open gets a check, and a load that the check refuses must give zero: the proofs that come after it count
//! on a value of the loaded type.

mod access;
mod atoms;
mod bits;
mod cache;
mod engine;
mod graph;
mod join;
mod linear;
mod loops;
mod numbers;
mod predicate;
mod queries;
mod report;
mod slice;
mod state;
mod transfer;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use access::alignment_of;
pub use cache::ProofCache;
pub use report::{Cause, Why};

use crate::dim::Dim3;
use crate::ptx::ir::{self, CallTarget, Function, FunctionId, FunctionKind, Op, Space, Type, VariableId};
use crate::ptx::source::Span;
use graph::Graph;
use slice::Slice;

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// A buffer of the launch, by its index in [`LaunchFacts::buffers`].
    Buffer(u32),
    /// A `.global`, `.const` or static `.shared` variable.
    Variable(VariableId),
    /// Dynamic shared memory, by an array declared at its beginning.
    DynamicShared(VariableId),
    /// A variable of the kernel's local frame, by index.
    Local(u32),
}

/// What an instruction does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes.
    Atomic,
    /// Calls: whatever is called may touch memory.
    Call,
    /// Not supported, so anything.
    Unsupported,
}

/// A place in the code that touches memory other than parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The kernel, or a device function that it may call.
    pub function: FunctionId,
    /// Index of the instruction in [`Function::code`]. An asynchronous copy has two sites: source, destination.
    pub pc: u32,
    /// The line of PTX, from 1.
    pub line: u32,
    /// The instruction in the text.
    pub span: Span,
    /// The space of the address.
    pub space: Space,
    /// What is done.
    pub kind: SiteKind,
    /// Bytes of the whole access, all elements of a vector together; 0 for calls.
    pub bytes: u32,
}

/// What is known of a launch before it runs.
#[derive(Clone, Copy, Debug)]
pub struct LaunchFacts<'a> {
    /// Blocks.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The `In` block. Where a buffer's address stands, its bytes are not looked at.
    pub params: &'a [u8],
    /// The buffers.
    pub buffers: &'a [BufferFacts],
}

/// What is known of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferFacts {
    /// Index of the parameter that holds its address.
    pub param: usize,
    /// Where in that parameter the address stands, in bytes: not 0 only in a structure.
    pub offset: u32,
    /// Length in bytes.
    pub bytes: u64,
    /// A power of two that divides its address.
    pub align: u64,
    /// Whether the launch may write it.
    pub writable: bool,
    /// The range of its elements, known only where nothing in the launch can write it.
    pub contents: Option<Contents>,
}

/// The least and the greatest element of an integer buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Contents {
    /// Type of the elements.
    pub ty: Type,
    /// The least.
    pub min: i128,
    /// The greatest.
    pub max: i128,
}

/// What was found out about a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every execution is in range.
    Proved {
        /// Least offset of the first byte in the region.
        lo: u64,
        /// Greatest offset of the first byte.
        hi: u64,
        /// The region.
        region: Region,
        /// Whether every address is a multiple of the access's size.
        aligned: bool,
    },
    /// No thread comes here.
    Dead,
    /// Not proved.
    Open {
        /// Why not.
        reason: Why,
    },
}

/// The verdicts on all sites of a kernel for one launch.
#[derive(Clone, Debug)]
pub struct Verdicts {
    verdicts: Vec<Verdict>,
    /// Sites that need a check.
    open: Vec<u32>,
}

impl Verdicts {
    fn new(verdicts: Vec<Verdict>, analysis: &Analysis, launch: &LaunchFacts<'_>) -> Self {
        let needs_check = |index: usize| match verdicts[index] {
            Verdict::Dead => false,
            Verdict::Open { .. } => true,
            Verdict::Proved { region, aligned, .. } => {
                !aligned
                    || (analysis.sites[index].kind != SiteKind::Load && !analysis.is_writable(region, launch))
            }
        };
        let open =
            (0..verdicts.len()).filter(|&index| needs_check(index)).map(|index| index as u32).collect();
        Self { verdicts, open }
    }

    /// The verdict on each site, in the order of [`Analysis::sites`].
    pub fn all(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Whether nothing needs a check: everything is in range, aligned, and writable where it is written.
    pub fn all_proved(&self) -> bool {
        self.open.is_empty()
    }

    /// The sites that need a check, by index into [`Analysis::sites`].
    pub fn open(&self) -> impl Iterator<Item = usize> + '_ {
        self.open.iter().map(|site| *site as usize)
    }
}

/// What can be said of a kernel before any launch.
#[derive(Debug)]
pub struct Analysis {
    module: Arc<ir::Module>,
    kernel: FunctionId,
    slice: Slice,
    graph: Result<Graph, &'static str>,
    sites: Vec<Site>,
    /// The first site of each instruction.
    site_at: Vec<Option<u32>>,
    /// Whether an instruction touches memory or a register that is followed.
    matters: Vec<bool>,
    /// Bits of each register that is followed, by place.
    widths: Vec<u32>,
}

impl Analysis {
    /// Reads the code of a kernel.
    pub fn new(module: &Arc<ir::Module>, kernel: FunctionId) -> Self {
        let module = Arc::clone(module);
        let function = &module.functions[kernel.0 as usize];
        let slice = Slice::new(function);
        let graph = match &function.unsupported {
            Some(_) => Err("the kernel has a declaration that is not supported"),
            None if module.address_size != 64 => Err("the kernel's addresses do not have 64 bits"),
            None => Graph::new(function, &slice),
        };
        let mut widths = vec![64; slice.place_count()];
        let mut matters = vec![false; function.code.len()];
        let mut site_at = vec![None; function.code.len()];
        let mut sites = Vec::new();
        for (pc, inst) in function.code.iter().enumerate() {
            inst.for_each_def(|reg| {
                if let Some(place) = slice.place(reg) {
                    widths[place as usize] = reg.width.bits();
                    matters[pc] = true;
                }
            });
            let before = sites.len();
            add_sites(&mut sites, kernel, function, pc, &module);
            if sites.len() > before {
                site_at[pc] = Some(before as u32);
            }
            matters[pc] |= sites.len() > before || matches!(inst.op, Op::Call(_));
        }
        for called in called_functions(&module, kernel) {
            let function = &module.functions[called.0 as usize];
            (0..function.code.len()).for_each(|pc| add_sites(&mut sites, called, function, pc, &module));
        }
        Self { kernel, slice, graph, sites, site_at, matters, widths, module }
    }

    /// Everything that touches memory: the kernel's own instructions in order, then those of functions it may call.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The kernel.
    pub fn kernel(&self) -> FunctionId {
        self.kernel
    }

    /// Analyses one launch.
    pub fn prove(&self, launch: &LaunchFacts<'_>) -> Verdicts {
        let verdicts = match &self.graph {
            Ok(graph) => engine::Engine::new(self, graph, launch).prove(),
            Err(reason) => vec![Verdict::Open { reason: Why::Kernel(reason) }; self.sites.len()],
        };
        Verdicts::new(verdicts, self, launch)
    }

    fn function(&self) -> &Function {
        &self.module.functions[self.kernel.0 as usize]
    }

    fn is_writable(&self, region: Region, launch: &LaunchFacts<'_>) -> bool {
        match region {
            Region::Buffer(index) => launch.buffers.get(index as usize).is_some_and(|buffer| buffer.writable),
            Region::Variable(id) => {
                self.module.variables.get(id.0 as usize).is_some_and(|v| v.space != Space::Const)
            }
            Region::DynamicShared(_) | Region::Local(_) => true,
        }
    }
}

fn add_sites(sites: &mut Vec<Site>, id: FunctionId, function: &Function, pc: usize, module: &ir::Module) {
    let inst = &function.code[pc];
    for touch in access::touches(&inst.op) {
        // the sites of a function of the module are listed themselves
        let is_listed = matches!(&inst.op, Op::Call(call) if match &call.target {
            CallTarget::Direct(id) => module.functions[id.0 as usize].defined,
            CallTarget::Indirect { .. } => true,
            CallTarget::Intrinsic(_) => false,
        });
        if !is_listed {
            let (line, span) = (inst.line, inst.span);
            let access::Touch { kind, space, bytes, .. } = touch;
            sites.push(Site { function: id, pc: pc as u32, line, span, space, kind, bytes });
        }
    }
}

/// The device functions that a kernel may call, itself or through others.
fn called_functions(module: &ir::Module, kernel: FunctionId) -> Vec<FunctionId> {
    let mut found: Vec<FunctionId> = Vec::new();
    let mut open = vec![kernel];
    while let Some(id) = open.pop() {
        for inst in &module.functions[id.0 as usize].code {
            let Op::Call(call) = &inst.op else { continue };
            let targets: Vec<FunctionId> = match &call.target {
                CallTarget::Direct(target) => vec![*target],
                CallTarget::Intrinsic(_) => Vec::new(),
                CallTarget::Indirect { .. } => {
                    let device = module.functions.iter().enumerate();
                    let device = device.filter(|(_, function)| function.kind == FunctionKind::Device);
                    device.map(|(index, _)| FunctionId(index as u32)).collect()
                }
            };
            for target in targets {
                if target != kernel && !found.contains(&target) {
                    found.push(target);
                    open.push(target);
                }
            }
        }
    }
    found.sort_unstable();
    found
}
