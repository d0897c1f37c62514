//! Every kernel of the corpus with every access open.

use std::path::{Path, PathBuf};

use scoped_gpu::ptx::LoadedPtx;
use scoped_gpu::ptx::bounds::rewrite::{RewriteOptions, SiteSet, buffers_by_use, rewrite};

use super::assembler;

/// Kernels that are refused, and the word that says why.
const REFUSED: &[(&str, &str)] = &[("recurse", "recursion"), ("indirect", "through a pointer")];

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["ptx", "tests/corpus/nvcc", "tests/corpus/numba", "tests/corpus/triton"];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .collect();
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    files
}

fn ends(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

#[test]
fn every_kernel_is_rewritten_read_back_and_assembled() {
    let ptxas = assembler::find();
    let all = [false, true].map(|on| RewriteOptions { diagnose: on, count_back_edges: on });
    let mut failures = Vec::new();
    let mut count = 0;
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let loaded = LoadedPtx::read(name, &text).unwrap();
        let target = format!("sm_{}", loaded.module().target.sm.max(75));
        for kernel in loaded.kernels() {
            let buffers = buffers_by_use(&loaded, &kernel.name);
            for options in all {
                let rewritten = rewrite(&loaded, &kernel.name, &buffers, &SiteSet::All, options);
                let expected = REFUSED.iter().find(|(refused, _)| *refused == kernel.name);
                let rewritten = match (rewritten, expected) {
                    (Ok(rewritten), None) => rewritten,
                    (Err(refused), Some((_, word))) if refused.what.contains(word) => continue,
                    (Err(refused), _) => {
                        failures.push(format!("{name}: {}: {refused}", kernel.name));
                        continue;
                    }
                    (Ok(_), Some(_)) => {
                        failures.push(format!("{name}: {}: was expected to be refused", kernel.name));
                        continue;
                    }
                };
                count += 1;
                assert_eq!(ends(&rewritten.text), ends(&text), "{name}: lines keep their numbers");
                if let Err(error) = LoadedPtx::read(name, &rewritten.text) {
                    failures.push(format!("{name}: {}: {error}", kernel.name));
                    continue;
                }
                if let Some(ptxas) = &ptxas
                    && let Err(error) = assembler::assemble(ptxas, &rewritten.text, &target)
                {
                    let first: Vec<&str> = error.lines().take(4).collect();
                    failures.push(format!("{name}: {}: ptxas: {}", kernel.name, first.join("\n")));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 100, "only {count} were rewritten");
}
