//! Free memory of a GPU before and after each case, as its driver counts it. `SCOPED_GPU_MEMORY=1` asks for it.
//!
//! Cases then run in the device's primary context, which stays open from the first to the last: what one does not give
//! back stays taken there, where a context of its own would hide it by going. Only cases that reset have their own.
//!
//! A driver takes memory for itself when something is used for the first time (code, local memory, `printf`), and keeps
//! it. So a case is run until a run leaves as much memory free as it found. One that leaks never does.

use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail, ensure};
use scoped_gpu::{Device, Linear};

use crate::harness::Case;

/// Asks for free memory to be watched.
const MEMORY: &str = "SCOPED_GPU_MEMORY";

/// Runs of a case within which the driver's own memory must have stopped growing. The second is enough on an idle GPU.
const RUNS: usize = 6;

/// Whether cases are to be watched.
pub fn is_watched() -> bool {
    std::env::var_os(MEMORY).is_some_and(|value| value != "0")
}

/// Keeps the primary context open, and asks it; held while a case runs, since another's memory would be taken for its.
static WATCH: Mutex<Option<Device>> = Mutex::new(None);

/// Runs a case until a run leaves as much memory free as it found.
pub fn settles(mut run: impl FnMut() -> Result<()>) -> Result<()> {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    let watch = match &mut *watch {
        Some(device) => device,
        none => none.insert(Device::cuda_primary(0).context("the device that watches free memory")?),
    };
    let mut free = vec![free_bytes(watch)?];
    while free.len() <= RUNS {
        run()?;
        free.push(free_bytes(watch)?);
        if let [.., before, after] = free[..]
            && before == after
        {
            return Ok(());
        }
    }
    bail!("less memory is free after each run: {free:?} bytes")
}

fn free_bytes(device: &Device) -> Result<u64> {
    Ok(device.scope(|ctx| ctx.memory_info())?.free)
}

/// A leak that only the driver's count can show: a device that is never closed keeps what its pool holds. The negative
/// control of this file, beside the cases themselves.
pub fn a_leak_is_noticed() -> Result<()> {
    let leaks = || {
        let device = Case::shared_context()?;
        device.scope(|ctx| ctx.alloc_linear(1 << 20, |mut x: Linear<u8>| x.fill(1)))?;
        let memory = device.memory();
        ensure!(memory.live == 0 && memory.cached > 0, "what is leaked is a cached block: {memory:?}");
        std::mem::forget(device);
        Ok(())
    };
    let Err(error) = settles(leaks) else { bail!("nobody noticed") };
    ensure!(error.to_string().starts_with("less memory is free after each run"), "{error:#}");
    Ok(())
}
