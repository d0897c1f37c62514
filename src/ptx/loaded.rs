//! A module's PTX after reading: text, signatures and lowered code, shared by everything that was loaded from it.

use std::sync::Arc;

use super::signature::KernelSignature;
use super::source::Source;
use super::{ir, lower, parse, verify};

/// PTX that was read, lowered and verified.
#[derive(Debug)]
pub struct LoadedPtx {
    source: Arc<Source>,
    kernels: Vec<KernelSignature>,
    module: Arc<ir::Module>,
}

impl LoadedPtx {
    /// Reads `text`; `name` stands for its file in messages.
    ///
    /// # Errors
    /// The rendered diagnostic, with the line, of text that no assembler would take.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let source = Source::new(name, text).map_err(|error| error.to_string())?;
        let read = || {
            let syntax = parse(&source)?;
            let kernels = KernelSignature::all(&syntax)?;
            let module = lower(&syntax, &source)?;
            verify(&module)?;
            Ok((kernels, module))
        };
        let (kernels, module) = read().map_err(|error: super::source::SyntaxError| error.render(&source))?;
        Ok(Self { source: Arc::new(source), kernels, module: Arc::new(module) })
    }

    /// The text, with its name and lines.
    #[must_use]
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The kernels' signatures, in the order in which they stand.
    #[must_use]
    pub fn kernels(&self) -> &[KernelSignature] {
        &self.kernels
    }

    /// The signature of the kernel `name`.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&KernelSignature> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The lowered module.
    #[must_use]
    pub fn module(&self) -> &Arc<ir::Module> {
        &self.module
    }

    /// Bytes of shared memory that the kernel `name` declares, dynamic memory not counted.
    #[must_use]
    pub fn static_shared_bytes(&self, name: &str) -> u32 {
        self.module
            .function(name)
            .map_or(0, |(_, kernel)| kernel.shared.dynamic_offset.max(kernel.shared.static_bytes))
    }
}
