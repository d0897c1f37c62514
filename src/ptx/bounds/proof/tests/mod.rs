//! The proof against its references: a table of verdicts, and runs in which whatever was proved must not fault.

mod generated;
mod soundness;
mod table;
mod timing;

use std::sync::Arc;

use super::{Analysis, BufferFacts, Contents, LaunchFacts};
use crate::dim::Dim3;
use crate::ptx::LoadedPtx;
use crate::ptx::ir::{FunctionId, Module, Type};

/// An argument of a launch by its parameter and offset there.
#[derive(Clone, Copy, Debug)]
enum Value {
    Number(i128),
    Buffer { bytes: u64, align: u64 },
}

/// A launch of a kernel of the corpus, and what the reference says of its accesses.
struct Shape {
    suite: String,
    file: String,
    kernel: String,
    grid: Dim3,
    block: Dim3,
    dynamic_shared: u32,
    args: Vec<(usize, u32, Value)>,
    expected: Vec<(u32, String)>,
}

fn dim(text: &str) -> Dim3 {
    let axes: Vec<u32> = text.split(',').map(|axis| axis.parse().unwrap()).collect();
    Dim3::new(axes[0], axes[1], axes[2])
}

fn corpus(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(file);
    std::fs::read_to_string(path).unwrap()
}

/// The launches of `tests/bounds/expected.txt`.
fn shapes() -> Vec<Shape> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bounds/expected.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut shapes: Vec<Shape> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] != "kernel" {
            let site = (words[0].parse().unwrap(), words[1].to_owned());
            shapes.last_mut().unwrap().expected.push(site);
            continue;
        }
        let args = words[7..].iter().filter(|arg| !arg.is_empty()).map(|arg| {
            let (place, value) = arg.split_once('=').unwrap();
            let (param, offset) = place.split_once('+').unwrap_or((place, "0"));
            let value = match value.strip_prefix("buffer:") {
                None => Value::Number(value.parse().unwrap()),
                Some(buffer) => {
                    let (bytes, align) = buffer.split_once(':').unwrap();
                    Value::Buffer { bytes: bytes.parse().unwrap(), align: align.parse().unwrap() }
                }
            };
            (param.parse().unwrap(), offset.parse().unwrap(), value)
        });
        shapes.push(Shape {
            suite: words[1].to_owned(),
            file: words[2].to_owned(),
            kernel: words[3].to_owned(),
            grid: dim(words[4]),
            block: dim(words[5]),
            dynamic_shared: words[6].parse().unwrap(),
            args: args.collect(),
            expected: Vec::new(),
        });
    }
    shapes
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
