//! A module's PTX after reading: text, signatures and lowered code, shared by everything that was loaded from it.

use std::sync::Arc;

use super::ir;
use super::signature::KernelSignature;
use super::source::{Source, SyntaxError};

/// PTX that was read, lowered and verified.
#[derive(Debug)]
pub struct LoadedPtx {
    source: Arc<Source>,
    kernels: Vec<KernelSignature>,
    module: Arc<ir::Module>,
}

impl LoadedPtx {
    /// Reads `source`.
    ///
    /// # Errors
    /// The first place that is not PTX, or that no assembler would take.
    pub fn read(source: Source) -> Result<Self, SyntaxError> {
        let source = Arc::new(source);
        let tree = super::parse(&source)?;
        let kernels = KernelSignature::all(&tree)?;
        let module = super::lower(&tree, &source)?;
        super::verify(&module)?;
        Ok(Self { source: Arc::clone(&source), kernels, module: Arc::new(module) })
    }

    /// The text and its name.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The lowered code.
    pub fn module(&self) -> &Arc<ir::Module> {
        &self.module
    }

    /// The signatures of the kernels, in the order they stand.
    pub fn kernels(&self) -> &[KernelSignature] {
        &self.kernels
    }

    /// The signature of the kernel `name`.
    pub fn kernel(&self, name: &str) -> Option<&KernelSignature> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}
