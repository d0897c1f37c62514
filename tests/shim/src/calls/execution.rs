//! Launches.

use std::ffi::c_uint;

use smallvec::SmallVec;

use crate::backend::{Backend, Limits};
use crate::codes::{Answer, Code};
use crate::context;
use crate::dim::Dim3;
use crate::handle::Handle;
use crate::module::{self, Function};
use crate::process::current;
use crate::raw::{Extra, Parameters};

driver! {
    fn cuLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: Handle,
        parameters: Parameters,
        extra: Extra,
    ) {
        let here = current()?;
        let (owner, function) = context::function(function)?;
        let stream = here.stream(stream)?;
        if owner.serial != here.serial {
            return Err(Code::INVALID_HANDLE);
        }
        let (grid, block) = (Dim3::new(grid_x, grid_y, grid_z), Dim3::new(block_x, block_y, block_z));
        check(&function, &here.backend.info().limits, grid, block, shared)?;
        let params = arguments(&function, &parameters, &extra)?;
        here.queue(&stream, module::launch(&function, grid, block, shared, params)).map(drop)
    }
}

/// Refuses what the device cannot launch.
fn check(function: &Function, limits: &Limits, grid: Dim3, block: Dim3, shared: u32) -> Answer {
    let fits = |size: Dim3, most: Dim3| {
        size.axes().iter().zip(most.axes()).all(|(&(_, size), (_, most))| (1..=most).contains(&size))
    };
    let bounds = function.module.ptx.module().function(&function.name).map(|(_, kernel)| kernel.bounds);
    let bounds = bounds.unwrap_or_default();
    let threads = |shape: [u32; 3]| shape.iter().map(|&axis| u128::from(axis)).product::<u128>();
    let allowed = fits(grid, limits.grid)
        && fits(block, limits.block)
        && block.count() <= u128::from(limits.threads_per_block)
        && bounds.max_ntid.is_none_or(|most| block.count() <= threads(most))
        && bounds.req_ntid.is_none_or(|shape| shape == [block.x, block.y, block.z])
        && shared <= function.most_dynamic(limits.shared_per_block);
    if allowed { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

/// The parameter block of a launch.
fn arguments(function: &Function, parameters: &Parameters, extra: &Extra) -> Answer<SmallVec<[u8; 64]>> {
    let signature = function.module.ptx.kernel(&function.name).ok_or(Code::NOT_FOUND)?;
    let mut bytes = SmallVec::from_elem(0, signature.bytes as usize);
    if signature.parameters.is_empty() {
        return Ok(bytes);
    }
    match (parameters.is_null(), extra.is_null()) {
        (false, true) => {
            for (index, parameter) in signature.parameters.iter().enumerate() {
                let place = parameter.offset as usize..(parameter.offset + parameter.size) as usize;
                parameters.read(index, bytes.get_mut(place).ok_or(Code::INVALID_VALUE)?)?;
            }
        }
        (true, false) => extra.read(&mut bytes)?,
        // neither, or both
        _ => return Err(Code::INVALID_VALUE),
    }
    Ok(bytes)
}
