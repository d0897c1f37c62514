//! What the host device says about itself: its name, its memory and the limits of launches and pitches. The limits
//! are those of a GPU of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute
//! Capability"), so that a program which the host device accepts is accepted by such a GPU too.

use crate::backend::{DeviceInfo, Limits};
use crate::dim::Dim3;

/// Rows of pitched arrays begin at multiples of this, as `cuMemAllocPitch` arranges them on an H200.
const PITCH_ALIGNMENT: usize = 512;
/// `CU_DEVICE_ATTRIBUTE_MAX_PITCH` of every current device.
const MAX_PITCH: usize = i32::MAX as usize;
/// Memory of a host device on a machine that does not say how much it has.
const FALLBACK_MEMORY: u64 = 4 << 30;

const LIMITS: Limits = Limits {
    grid: Dim3::new(i32::MAX as u32, 65_535, 65_535),
    block: Dim3::new(1024, 1024, 64),
    threads_per_block: 1024,
    shared_per_block: 48 << 10,
    shared_per_block_optin: 227 << 10,
    pitch_alignment: PITCH_ALIGNMENT,
    max_pitch: MAX_PITCH,
    warp: 32,
};

/// The host device with `memory` bytes.
pub(super) fn info(memory: u64) -> DeviceInfo {
    DeviceInfo {
        name: "scoped-gpu host device".to_owned(),
        id: "host".to_owned(),
        capability: (9, 0),
        memory,
        limits: LIMITS,
    }
}

/// Half of the machine's memory, in bytes, where the system tells.
pub(super) fn default_memory() -> u64 {
    std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| total_memory(&text))
        .map_or(FALLBACK_MEMORY, |total| total / 2)
}

/// Bytes in the `MemTotal` line of Linux's `/proc/meminfo`, which counts KiB.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn pitches_are_those_of_a_gpu() {
        // measured on an H200 with cuMemAllocPitch
        for (row, expected) in [(4, 512), (512, 512), (513, 1024), (4000, 4096), (100_000, 100_352)] {
            assert_eq!(LIMITS.pitch(row).unwrap(), expected);
        }
        assert!(LIMITS.pitch(MAX_PITCH - 511).is_ok());
        for too_wide in [MAX_PITCH - 510, MAX_PITCH, usize::MAX] {
            assert!(matches!(LIMITS.pitch(too_wide), Err(ErrorKind::Shape { .. })), "{too_wide}");
        }
    }

    #[test]
    fn meminfo_is_read_in_kib() {
        assert_eq!(total_memory("MemFree: 1 kB\nMemTotal:        2048 kB\n"), Some(2 << 20));
        assert_eq!(total_memory("MemTotal: many kB"), None);
        assert_eq!(total_memory(""), None);
    }
}
