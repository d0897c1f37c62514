//! From a refusal to a [`Fault`]: the place in the PTX, the thread, the memory it meant. Only here is it found out
//! what an address that may not be touched belongs to.

use super::LaunchRequest;
use super::access::{Raise, Refusal};
use super::program::Program;
use super::registers::LANES;
use crate::backend::host::memory::{FIRST_SLOT, Memory, MemoryError, slot_of};
use crate::dim::Dim3;
use crate::fault::{Access, Fault, FaultKind, NearBuffer, Site, Space};
use crate::ptx::site as place;

/// Addresses below this are called a null pointer with an index.
const NULL_LIMIT: u64 = 1 << 20;

/// The fault of a launch.
pub(super) fn fault(memory: &Memory, request: &LaunchRequest, raise: &Raise, block: [u32; 3]) -> Fault {
    let program = &request.instance.program;
    let kernel = program.module.functions.get(request.kernel.0 as usize);
    let name = kernel.map_or("", |kernel| kernel.name.as_str());
    let kind = match &raise.refusal {
        Refusal::Is(kind) => kind.clone(),
        Refusal::Outside => outside(memory, raise.access.map_or(0, |access| access.address)),
    };
    let mut fault = Fault::new(kind, program.source.name(), name);
    let thread = raise.warp * LANES as u32 + raise.lane;
    fault.site = site(program, request.block, raise.function, raise.pc, block, thread);
    fault.access = raise.access;
    fault.buffer = raise.access.and_then(|access| nearest(memory, request, &access));
    fault
}

/// The place of an instruction, with the thread that ran it.
pub(super) fn site(
    program: &Program,
    extent: Dim3,
    function: u32,
    pc: u32,
    block: [u32; 3],
    thread: u32,
) -> Option<Site> {
    let pc = program.within(function, pc)?;
    place::site(&program.module, &program.source, extent, function, pc, block, thread)
}

fn outside(memory: &Memory, address: u64) -> FaultKind {
    match memory.bytes(address, 0) {
        _ if address < NULL_LIMIT => FaultKind::Null,
        Err(MemoryError::Freed { .. }) => FaultKind::Freed,
        Err(MemoryError::Null | MemoryError::Window | MemoryError::Stray) => FaultKind::Stray,
        Ok(_) | Err(MemoryError::OutOfRange { .. } | MemoryError::Interior { .. }) => FaultKind::OutOfRange,
    }
}

/// The buffer of the launch, the variable or the allocation whose slot the address lies in.
fn nearest(memory: &Memory, request: &LaunchRequest, access: &Access) -> Option<NearBuffer> {
    if !matches!(access.space, Space::Global | Space::Generic | Space::Const) {
        return None;
    }
    let address = access.address;
    let slot = slot_of(address);
    let program = &request.instance.program;
    let kernel = program.module.functions.get(request.kernel.0 as usize)?;
    let offset = |start: u64| i128::from(address) - i128::from(start);
    let buffers = request.buffers.iter().filter(|buffer| slot_of(buffer.address) == slot).map(|buffer| {
        let name = kernel.params.get(buffer.argument).map_or("", |param| param.name.as_str());
        NearBuffer {
            argument: Some(buffer.argument),
            name: name.to_owned(),
            bytes: buffer.bytes,
            offset: offset(buffer.address),
        }
    });
    if slot < FIRST_SLOT {
        return NearBuffer::empty(buffers, access);
    }
    let variables =
        program.module.variables.iter().zip(&request.instance.variables).filter_map(|(variable, place)| {
            let (start, len) = (*place)?;
            (slot_of(start) == slot).then(|| NearBuffer {
                argument: None,
                name: variable.name.clone(),
                bytes: len,
                offset: offset(start),
            })
        });
    let known = buffers.chain(variables).min_by_key(|near| near.distance(access.bytes));
    known.or_else(|| {
        let (start, len, name) = match (memory.allocation_near(address), memory.bytes(address, 0)) {
            (Some((start, len)), _) => (start, len, "memory that was not given to this launch"),
            (None, Err(MemoryError::Freed { base, len })) => (base, len, "freed memory"),
            _ => return None,
        };
        Some(NearBuffer { argument: None, name: name.to_owned(), bytes: len, offset: offset(start) })
    })
}
