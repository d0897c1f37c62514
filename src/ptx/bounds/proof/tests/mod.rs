//! The proof against its references: a table of verdicts, and runs in which whatever was proved must not fault.

mod cache;
mod generated;
#[path = "../../../../../tests/bounds/launches.rs"]
mod launches;
mod soundness;
mod table;
mod timing;

use std::sync::Arc;

use launches::{Shape, Value};

use super::{Analysis, BufferFacts, Contents, LaunchFacts};
use crate::dim::Dim3;
use crate::ptx::LoadedPtx;
use crate::ptx::ir::{FunctionId, Module, Type};

fn corpus(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(file);
    std::fs::read_to_string(path).unwrap()
}

/// The launches of `tests/bounds/expected.txt`.
fn shapes() -> Vec<Shape> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bounds/expected.txt");
    launches::read(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A kernel that was read, and its analysis.
struct Kernel {
    module: Arc<Module>,
    id: FunctionId,
    analysis: Analysis,
}

impl Kernel {
    fn new(text: &str, name: &str) -> Self {
        let loaded = LoadedPtx::read("test.ptx", text).unwrap_or_else(|error| panic!("{error}"));
        let module = Arc::clone(loaded.module());
        let (id, _) = module.function(name).unwrap();
        Self { analysis: Analysis::new(&module, id), module, id }
    }

    /// The parameters and buffers of a launch with these arguments. Addresses are made up.
    fn arguments(&self, args: &[(usize, u32, Value)]) -> (Vec<u8>, Vec<BufferFacts>) {
        let function = &self.module.functions[self.id.0 as usize];
        let mut params = vec![0_u8; function.param_bytes as usize];
        let mut buffers = Vec::new();
        for &(index, offset, value) in args {
            let param = &function.params[index];
            let (at, size) = ((param.offset + offset) as usize, param.size.min(8) as usize);
            let bytes = match value {
                Value::Number(number) => (number as u64).to_le_bytes(),
                Value::Buffer { bytes, align } => {
                    let param = index;
                    buffers.push(BufferFacts { param, offset, bytes, align, writable: true, contents: None });
                    0x7f00_0000_0000_u64.to_le_bytes()
                }
            };
            params[at..at + size].copy_from_slice(&bytes[..size]);
        }
        (params, buffers)
    }
}

impl Shape {
    fn load(&self) -> Kernel {
        Kernel::new(&corpus(&self.file), &self.kernel)
    }

    fn facts<'a>(&self, params: &'a [u8], buffers: &'a [BufferFacts]) -> LaunchFacts<'a> {
        let (grid, block, dynamic_shared) = (self.grid, self.block, self.dynamic_shared);
        LaunchFacts { grid, block, dynamic_shared, params, buffers }
    }
}

/// Row ends and columns of the sparse matrix of the table, as they would be scanned.
fn sparse_contents(buffers: &mut [BufferFacts]) {
    let rows = i128::from(buffers[3].bytes / 4);
    buffers[0].contents = Some(Contents { ty: Type::S32, min: 0, max: 16 * rows });
    buffers[1].contents = Some(Contents { ty: Type::S32, min: 0, max: rows - 1 });
}
