//! Everything that nvcc, numba and Triton wrote is lowered, whole.

use super::load;
use crate::ptx::ir::{Module, Op};

/// The corpus: name and text of each file.
pub(super) fn files() -> Vec<(String, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    let mut files = Vec::new();
    for folder in ["nvcc", "numba", "triton"] {
        for entry in std::fs::read_dir(format!("{root}/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                files.push((name, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn loaded() -> Vec<(String, String, Module)> {
    let load = |(name, text): (String, String)| match load(&text) {
        Ok(module) => (name, text, module),
        Err(error) => panic!("{name}: {error}"),
    };
    files().into_iter().map(load).collect()
}

#[test]
fn every_file_is_lowered_and_verified_without_an_unsupported_instruction() {
    let modules = loaded();
    assert_eq!(modules.len(), 10);
    for (name, _, module) in modules {
        for function in &module.functions {
            assert_eq!(function.unsupported, None, "{name}: {}", function.name);
            for inst in &function.code {
                if let Op::Unsupported(text) = &inst.op {
                    panic!("{name}:{}: {text}", inst.line);
                }
            }
        }
    }
}
