//! Initialisation, versions, devices, and the words for codes.

use std::ffi::{c_char, c_int, c_uint};

use crate::codes::{self, Code};
use crate::process::{self, device, ready};
use crate::raw::{Out, TextBuffer};

/// CUDA 13.0.
const VERSION: c_int = 13_000;

driver! {
    fn cuInit(flags: c_uint) {
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        process::initialise()
    }

    fn cuDriverGetVersion(version: Out<c_int>) {
        version.set(VERSION)
    }

    fn cuGetErrorName(code: Code, name: Out<*const c_char>) {
        let found = codes::name(code);
        name.set(found.unwrap_or(std::ptr::null()))?;
        found.map(|_| ()).ok_or(Code::INVALID_VALUE)
    }

    fn cuGetErrorString(code: Code, text: Out<*const c_char>) {
        let found = codes::description(code);
        text.set(found.unwrap_or(std::ptr::null()))?;
        found.map(|_| ()).ok_or(Code::INVALID_VALUE)
    }

    fn cuDeviceGetCount(count: Out<c_int>) {
        ready()?;
        count.set(process::devices().len() as c_int)
    }

    fn cuDeviceGet(number: Out<c_int>, ordinal: c_int) {
        ready()?;
        device(ordinal)?;
        number.set(ordinal)
    }

    fn cuDeviceGetName(name: TextBuffer, size: c_int, number: c_int) {
        ready()?;
        let (_, device) = device(number)?;
        let size = usize::try_from(size).map_err(|_| Code::INVALID_VALUE)?;
        match name.fill(&device.info.name, size) {
            0 => Err(Code::INVALID_VALUE),
            _ => Ok(()),
        }
    }

    fn cuDeviceGetUuid(uuid: Out<[u8; 16]>, number: c_int) {
        ready()?;
        let (index, _) = device(number)?;
        let mut bytes = *b"scoped-gpu host\0";
        bytes[15] = index as u8;
        uuid.set(bytes)
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, number: c_int) {
        ready()?;
        bytes.set(device(number)?.1.info.memory as usize)
    }

    fn cuDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, number: c_int) {
        ready()?;
        let capability = device(number)?.1.info.capability;
        major.set(capability.0 as c_int)?;
        minor.set(capability.1 as c_int)
    }

    fn cuDeviceGetAttribute(value: Out<c_int>, attribute: c_uint, number: c_int) {
        ready()?;
        let (index, device) = device(number)?;
        value.set(self::attribute(index, device, attribute).ok_or(Code::INVALID_VALUE)?)
    }

    fn cuDeviceCanAccessPeer(can: Out<c_int>, number: c_int, peer: c_int) {
        ready()?;
        device(number)?;
        device(peer)?;
        can.set(0)
    }
}

/// The value of a `CUdevice_attribute`; `None` for those that the host device has no answer to.
fn attribute(index: usize, device: &process::Device, attribute: c_uint) -> Option<c_int> {
    let limits = &device.info.limits;
    let value = match attribute {
        // MAX_THREADS_PER_BLOCK, MAX_BLOCK_DIM_X … MAX_GRID_DIM_Z
        1 => limits.threads_per_block,
        2 => limits.block.x,
        3 => limits.block.y,
        4 => limits.block.z,
        5 => limits.grid.x,
        6 => limits.grid.y,
        7 => limits.grid.z,
        // MAX_SHARED_MEMORY_PER_BLOCK, TOTAL_CONSTANT_MEMORY, WARP_SIZE
        8 => limits.shared_per_block,
        9 => 64 << 10,
        10 => limits.warp,
        // MAX_PITCH
        11 => c_int::try_from(limits.max_pitch).unwrap_or(c_int::MAX) as u32,
        // MAX_REGISTERS_PER_BLOCK, CLOCK_RATE in kHz, TEXTURE_ALIGNMENT, GPU_OVERLAP
        12 => 65_536,
        13 => 1_000_000,
        14 => 512,
        15 => 1,
        // MULTIPROCESSOR_COUNT
        16 => std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        // KERNEL_EXEC_TIMEOUT, INTEGRATED, CAN_MAP_HOST_MEMORY, COMPUTE_MODE
        17..=20 => 0,
        // CONCURRENT_KERNELS, ECC_ENABLED
        31 => 1,
        32 => 0,
        // PCI_BUS_ID, PCI_DEVICE_ID, TCC_DRIVER
        33 => index as u32,
        34 | 35 => 0,
        // MEMORY_CLOCK_RATE in kHz, GLOBAL_MEMORY_BUS_WIDTH in bits, L2_CACHE_SIZE
        36 => 1_000_000,
        37 => 64,
        38 => 0,
        // MAX_THREADS_PER_MULTIPROCESSOR, ASYNC_ENGINE_COUNT, UNIFIED_ADDRESSING
        39 => 2048,
        40 | 41 => 1,
        // PCI_DOMAIN_ID, TEXTURE_PITCH_ALIGNMENT
        50 => 0,
        51 => 32,
        // COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR, STREAM_PRIORITIES_SUPPORTED
        75 => device.info.capability.0,
        76 => device.info.capability.1,
        78 => 0,
        // GLOBAL_L1_CACHE_SUPPORTED, LOCAL_L1_CACHE_SUPPORTED
        79 | 80 => 0,
        // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, MAX_REGISTERS_PER_MULTIPROCESSOR, MANAGED_MEMORY
        81 => limits.shared_per_block_optin + 1024,
        82 => 65_536,
        83 => 0,
        // MULTI_GPU_BOARD, MULTI_GPU_BOARD_GROUP_ID, HOST_NATIVE_ATOMIC_SUPPORTED
        84..=86 => 0,
        // PAGEABLE_MEMORY_ACCESS, CONCURRENT_MANAGED_ACCESS, COMPUTE_PREEMPTION_SUPPORTED,
        // CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
        88..=91 => 0,
        // COOPERATIVE_LAUNCH
        95 => 0,
        // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        97 => limits.shared_per_block_optin,
        // MAX_BLOCKS_PER_MULTIPROCESSOR, RESERVED_SHARED_MEMORY_PER_BLOCK, MEMORY_POOLS_SUPPORTED
        106 => 32,
        111 => 1024,
        115 => 0,
        _ => return None,
    };
    c_int::try_from(value).ok()
}
