//! A module's PTX after reading: text, signatures and lowered code, shared by everything that was loaded from it.

use std::sync::Arc;

use super::ir;
use super::signature::KernelSignature;
use super::source::Source;

/// PTX that was read, lowered and verified.
#[derive(Debug)]
pub struct LoadedPtx {
    source: Arc<Source>,
    kernels: Vec<KernelSignature>,
    module: Arc<ir::Module>,
}
