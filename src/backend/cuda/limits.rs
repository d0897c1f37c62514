//! What the driver says about itself and its devices, asked once when a device is opened.

use std::ffi::CStr;

use cust::device::DeviceAttribute;

use super::codes;
use super::context::driver_error;
use super::driver::{self, Driver};
use crate::backend::{DeviceInfo, Limits};
use crate::dim::Dim3;

/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`, which `cust` does not name.
const SHARED_PER_BLOCK_OPTIN: i32 = 97;

/// How many CUDA devices there are, or why there are none.
pub(super) fn count() -> Result<u32, String> {
    start().map_err(|failure| {
        let advice = codes::advice(failure.code).map_or_else(String::new, |advice| format!(": {advice}"));
        format!("the NVIDIA driver does not start: {}{advice}", driver_error(failure))
    })?;
    let mut count = 0;
    // SAFETY: `count` is a place for the answer.
    unsafe { driver::device_count(&mut count) }.map_err(|failure| {
        format!("the NVIDIA driver does not count its devices: {}", driver_error(failure))
    })?;
    Ok(u32::try_from(count).unwrap_or(0))
}

/// Starts the driver in this process; once it runs, does nothing.
fn start() -> Driver<()> {
    // SAFETY: the flags must be 0.
    unsafe { driver::start(0) }
}

/// The newest CUDA that the driver knows: major and minor.
pub(super) fn version() -> Option<(u32, u32)> {
    let mut version = 0;
    // SAFETY: `version` is a place for the answer.
    unsafe { driver::version(&mut version) }.ok()?;
    let version = u32::try_from(version).ok()?;
    Some((version / 1000, version % 1000 / 10))
}

/// The driver's handle for device number `ordinal`.
pub(super) fn device(ordinal: u32) -> Driver<i32> {
    let mut device = 0;
    // SAFETY: `device` is a place for the answer.
    unsafe { driver::device_get(&mut device, i32::try_from(ordinal).unwrap_or(i32::MAX)) }?;
    Ok(device)
}

/// What a device, number `ordinal`, is and allows; `pitch_alignment` was asked for in a context.
pub(super) fn info(device: i32, ordinal: u32, pitch_alignment: usize) -> Driver<DeviceInfo> {
    let ask = |what: DeviceAttribute| attribute(device, what as i32);
    let shared_per_block = ask(DeviceAttribute::MaxSharedMemoryPerBlock)?;
    Ok(DeviceInfo {
        name: name(device)?,
        id: format!("cuda:{ordinal}"),
        capability: (
            ask(DeviceAttribute::ComputeCapabilityMajor)?,
            ask(DeviceAttribute::ComputeCapabilityMinor)?,
        ),
        memory: memory(device)?,
        limits: Limits {
            grid: Dim3::new(
                ask(DeviceAttribute::MaxGridDimX)?,
                ask(DeviceAttribute::MaxGridDimY)?,
                ask(DeviceAttribute::MaxGridDimZ)?,
            ),
            block: Dim3::new(
                ask(DeviceAttribute::MaxBlockDimX)?,
                ask(DeviceAttribute::MaxBlockDimY)?,
                ask(DeviceAttribute::MaxBlockDimZ)?,
            ),
            threads_per_block: ask(DeviceAttribute::MaxThreadsPerBlock)?,
            shared_per_block,
            shared_per_block_optin: attribute(device, SHARED_PER_BLOCK_OPTIN).unwrap_or(shared_per_block),
            pitch_alignment,
            max_pitch: ask(DeviceAttribute::MaxPitch)? as usize,
            warp: ask(DeviceAttribute::WarpSize)?,
        },
    })
}

/// A device attribute by number.
fn attribute(device: i32, attribute: i32) -> Driver<u32> {
    let mut value = 0;
    // SAFETY: `value` is a place for the answer; an unknown attribute is refused.
    unsafe { driver::device_attribute(&mut value, attribute, device) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

fn name(device: i32) -> Driver<String> {
    let mut name = [0_u8; 256];
    // SAFETY: `name` has room for as many bytes as are given.
    unsafe { driver::device_name(name.as_mut_ptr().cast(), name.len() as i32, device) }?;
    let text = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

/// Bytes of memory.
fn memory(device: i32) -> Driver<u64> {
    let mut bytes = 0;
    // SAFETY: `bytes` is a place for the answer.
    unsafe { driver::device_memory(&mut bytes, device) }?;
    Ok(bytes as u64)
}
