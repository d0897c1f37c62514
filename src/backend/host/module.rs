//! Loaded modules as streams and launches see them. The interpreter's programs become modules here.

use std::sync::Arc;

use super::memory::Memory;
use crate::backend::{Answer, LaunchCall};
use crate::fault::Fault;
use crate::ptx::LoadedPtx;

/// Kernels, and variables that live in one context's memory.
pub(super) trait Module: Send + Sync {
    /// The module's name, for faults.
    fn name(&self) -> &str;

    /// Runs a kernel from its first block to its last. Returns its fault, if it makes one.
    fn run(self: Arc<Self>, call: &LaunchCall, memory: &mut Memory) -> Result<(), Box<Fault>>;

    /// Frees the variables. No launch of the module is queued any more.
    fn release(self: Arc<Self>, memory: &mut Memory);
}

pub(super) fn load(_ptx: &Arc<LoadedPtx>, _memory: &mut Memory) -> Answer<Arc<dyn Module>> {
    Err(crate::error::ErrorKind::NotSupported { message: "join".to_owned() })
}
