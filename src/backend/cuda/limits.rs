//! What a CUDA device says about itself, asked once when it is opened. `cust` does the asking: these calls answer
//! documented codes only, whatever has happened to a context.

use cust::device::{Device, DeviceAttribute};

use crate::backend::{Answer, DeviceInfo, Limits};
use crate::dim::Dim3;
use crate::error::ErrorKind;

/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`, which `cust` does not name.
const SHARED_PER_BLOCK_OPTIN: i32 = 97;

/// How many CUDA devices there are, or why there are none.
pub(super) fn count() -> Result<u32, String> {
    cust::init(cust::CudaFlags::empty())
        .map_err(|error| format!("the NVIDIA driver does not start: {error}"))?;
    Device::num_devices().map_err(|error| format!("the NVIDIA driver does not count its devices: {error}"))
}

/// What device `ordinal` is and allows; `pitch_alignment` was asked for in a context.
pub(super) fn info(ordinal: u32, pitch_alignment: usize) -> Answer<DeviceInfo> {
    let unavailable = |error: cust::error::CudaError| ErrorKind::DeviceUnavailable {
        message: format!("cuda:{ordinal}: the driver does not describe the device: {error}"),
    };
    let device = Device::get_device(ordinal).map_err(unavailable)?;
    let ask = |attribute| {
        device.get_attribute(attribute).map(|value| u32::try_from(value).unwrap_or(0)).map_err(unavailable)
    };
    let shared_per_block = ask(DeviceAttribute::MaxSharedMemoryPerBlock)?;
    Ok(DeviceInfo {
        name: device.name().map_err(unavailable)?,
        id: format!("cuda:{ordinal}"),
        capability: (
            ask(DeviceAttribute::ComputeCapabilityMajor)?,
            ask(DeviceAttribute::ComputeCapabilityMinor)?,
        ),
        memory: device.total_memory().map_err(unavailable)? as u64,
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
            shared_per_block_optin: shared_optin(device).unwrap_or(shared_per_block),
            pitch_alignment,
            max_pitch: ask(DeviceAttribute::MaxPitch)? as usize,
            warp: ask(DeviceAttribute::WarpSize)?,
        },
    })
}

fn shared_optin(device: Device) -> Option<u32> {
    super::context::attribute(device.as_raw(), SHARED_PER_BLOCK_OPTIN).and_then(|bytes| bytes.try_into().ok())
}
