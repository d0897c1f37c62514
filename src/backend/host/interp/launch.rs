//! A launch from request to result: what it may touch is collected, blocks run in order, a fault is completed.

use std::ops::Range;
use std::sync::Arc;

use super::access::{Reachable, Stretch};
use super::block::thread_indices;
use super::context::{Context, Launch};
use super::global::Direct;
use super::parallel;
use super::program::Instance;
use super::registers::Row32;
use super::report;
use super::stats::Statistics;
use super::strict::Strict;
use crate::backend::host::memory::Memory;
use crate::dim::Dim3;
use crate::fault::Fault;
use crate::ptx::ir::{CallTarget, FunctionId, Intrinsic, Op, Space};

/// Bytes of the heap that `malloc` in kernels gets its memory from, for the length of the launch.
const HEAP_BYTES: usize = 8 << 20;

/// A launch that was validated: the kernel's parameters, limits and access rule.
pub(crate) struct LaunchRequest {
    pub(crate) instance: Arc<Instance>,
    pub(crate) kernel: FunctionId,
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    /// Bytes.
    pub(crate) dynamic_shared: u32,
    /// The kernel's `In` block, of [`param_bytes`](crate::ptx::ir::Function::param_bytes) bytes.
    pub(crate) params: Vec<u8>,
    pub(crate) buffers: Vec<LaunchBuffer>,
    pub(crate) access: AccessRule,
    /// Reports what only a watched run can see; slower.
    pub(crate) strict: bool,
    /// Counts instructions and bytes; slower.
    pub(crate) statistics: bool,
    /// Steps (instructions of a warp) after which the launch is a fault.
    pub(crate) max_steps: Option<u64>,
}

/// A buffer that the launch was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaunchBuffer {
    /// Position among the arguments, from 0.
    pub(crate) argument: usize,
    pub(crate) address: u64,
    /// Length in bytes.
    pub(crate) bytes: u64,
    pub(crate) writable: bool,
}

/// What a launch may touch, besides the variables of its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessRule {
    /// The buffers it was given.
    Buffers,
    /// Every live allocation.
    AnyLive,
}

/// Runs all blocks. `sink` gets what the kernel prints, thread by thread in the order of execution.
///
/// # Errors
/// The first fault. What blocks and threads before it wrote stays written.
pub(crate) fn run(
    memory: &mut Memory,
    request: &LaunchRequest,
    sink: &mut dyn FnMut(&str),
) -> Result<Statistics, Box<Fault>> {
    let heap = heap(memory, request);
    let launch = resolve(memory, request, heap);
    let mut strict = request.strict.then(|| {
        let written = memory.written_mut().map(|written| written.clone()).collect();
        Box::new(Strict::new(&launch, written))
    });
    let result = run_blocks(memory, request, &launch, &mut strict, sink);
    note_written(memory, &launch, strict.as_deref());
    let result = result.map_err(|(raise, block)| {
        let mut fault = report::fault(memory, request, &raise, block);
        fault.contained = request.access == AccessRule::Buffers;
        Box::new(fault)
    });
    if let Some((address, _)) = heap {
        // allocated above, so it is there
        let _ = memory.free(address);
    }
    result
}

/// What ended a launch, and in which block.
pub(super) type Raised = (Box<super::access::Raise>, [u32; 3]);

fn run_blocks(
    memory: &mut Memory,
    request: &LaunchRequest,
    launch: &Launch,
    strict: &mut Option<Box<Strict>>,
    sink: &mut dyn FnMut(&str),
) -> Result<Statistics, Raised> {
    let mut allocations: Vec<&mut [u8]> = memory.live_allocations_mut().map(|(_, bytes)| bytes).collect();
    let tids: Vec<[Row32; 3]> = thread_indices(launch);
    let blocks = u64::try_from(request.grid.count()).unwrap_or(u64::MAX);
    let mut begin = 0;
    if !(request.strict || request.statistics) {
        let progress = parallel::run(launch, &mut allocations, &tids, blocks, sink);
        if let Some(raised) = progress.fault {
            return Err(raised);
        }
        begin = progress.done;
    }
    let mut context = Context::new(launch, Direct { allocations }, &tids);
    context.statistics = request.statistics.then(Box::default);
    context.strict = strict.take();
    let mut warps = Vec::new();
    let result = (begin..blocks).try_for_each(|index| {
        let result = context.run_block(index, &mut warps);
        context.output.drain(..).for_each(|text| sink(&text));
        result.map_err(|raise| (raise, context.block))
    });
    *strict = context.strict.take();
    result?;
    Ok(context.statistics.map(|statistics| *statistics).unwrap_or_default())
}

/// Notes what the launch wrote: as strict mode saw it, else whatever it was given to write.
fn note_written(memory: &mut Memory, launch: &Launch, strict: Option<&Strict>) {
    let mut written: Vec<_> = memory.written_mut().collect();
    let mut note = |allocation: u32, range: Range<usize>| {
        if let Some(written) = written.get_mut(allocation as usize) {
            written.add(range);
        }
    };
    match strict {
        Some(strict) => strict.each_written(note),
        None => {
            launch.reachable.writable().for_each(|s| note(s.allocation, s.offset..s.offset + s.len as usize))
        }
    }
}

/// A heap for kernels of modules that call `malloc`; none if there is no room for one.
fn heap(memory: &mut Memory, request: &LaunchRequest) -> Option<(u64, u64)> {
    let code = request.instance.program.module.functions.iter().flat_map(|function| &function.code);
    let allocates = |op: &Op| match op {
        Op::Call(call) => matches!(call.target, CallTarget::Intrinsic(Intrinsic::Malloc)),
        _ => false,
    };
    code.into_iter()
        .any(|inst| allocates(&inst.op))
        .then(|| memory.allocate(HEAP_BYTES, 0).ok())
        .flatten()
        .map(|address| (address, HEAP_BYTES as u64))
}

fn resolve(memory: &Memory, request: &LaunchRequest, heap: Option<(u64, u64)>) -> Launch {
    let program = &request.instance.program;
    let live: Vec<(u64, u64)> =
        memory.live_allocations().map(|(base, bytes)| (base, bytes.len() as u64)).collect();
    // a stretch of the memory that is there; one that leaves its allocation ends with it
    let stretch = |address: u64, len: u64, writable: bool, constant: bool| {
        let allocation = live.partition_point(|&(base, _)| base <= address).checked_sub(1)?;
        let (base, whole) = live[allocation];
        let offset = address - base;
        let len = len.min(whole.checked_sub(offset)?);
        Some(Stretch {
            start: address,
            len,
            writable,
            constant,
            allocation: allocation as u32,
            offset: offset as usize,
        })
    };
    let constants: Vec<(u64, u64)> = program
        .module
        .variables
        .iter()
        .zip(&request.instance.variables)
        .filter_map(|(variable, place)| place.filter(|_| variable.space == Space::Const))
        .collect();
    let mut stretches: Vec<Stretch> = Vec::new();
    match request.access {
        AccessRule::Buffers => {
            stretches.extend(
                request.buffers.iter().filter_map(|b| stretch(b.address, b.bytes, b.writable, false)),
            );
            let variables = program.module.variables.iter().zip(&request.instance.variables);
            stretches.extend(variables.filter_map(|(variable, place)| {
                let (address, len) = (*place)?;
                let constant = variable.space == Space::Const;
                stretch(address, len, !constant, constant)
            }));
            stretches.extend(heap.and_then(|(address, len)| stretch(address, len, true, false)));
        }
        AccessRule::AnyLive => {
            stretches.extend(live.iter().filter_map(|&(base, len)| {
                let constant = constants.iter().any(|&(address, _)| address == base);
                stretch(base, len, !constant, constant)
            }));
        }
    }
    let kernel = program.module.functions.get(request.kernel.0 as usize);
    let shared = kernel.map(|kernel| kernel.shared.clone()).unwrap_or_default();
    let dynamic_offset = shared.dynamic_offset.max(shared.static_bytes);
    Launch {
        instance: Arc::clone(&request.instance),
        kernel: request.kernel.0,
        grid: request.grid,
        block: request.block,
        dynamic_shared: request.dynamic_shared,
        dynamic_offset,
        shared_bytes: dynamic_offset + request.dynamic_shared,
        params: request.params.clone(),
        reachable: Reachable::new(stretches),
        max_steps: request.max_steps,
        heap,
    }
}
