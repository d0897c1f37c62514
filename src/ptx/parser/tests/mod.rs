//! Tests of the text half: source, lexer, parser, signatures.

mod constants;
mod corpus;
mod errors;
mod random;
mod signatures;
mod spans;
mod traps;

use super::parse;
use crate::ptx::ast::{Block, Function, Instruction, Module, Statement};
use crate::ptx::source::Source;

const HEADER: &str = ".version 9.0\n.target sm_90\n.address_size 64\n";

fn source(text: impl Into<String>) -> Source {
    Source::new("test.ptx", text).unwrap()
}

/// A module with these items.
fn module(items: &str) -> Source {
    source(format!("{HEADER}{items}"))
}

/// A module with one kernel `k` that has this body.
fn kernel(body: &str) -> Source {
    module(&format!(".visible .entry k()\n{{\n{body}\n}}\n"))
}

fn parsed(source: &Source) -> Module<'_> {
    parse(source).unwrap_or_else(|error| panic!("{}", error.render(source)))
}

/// The last function that has a body.
fn function<'a, 'src>(module: &'a Module<'src>) -> &'a Function<'src> {
    module.functions().filter(|function| function.body.is_some()).last().unwrap()
}

fn body<'a, 'src>(module: &'a Module<'src>) -> &'a [Statement<'src>] {
    &function(module).body.as_ref().unwrap().statements
}

/// The instructions of a block and of the blocks in it.
fn instructions<'a, 'src>(block: &'a Block<'src>, into: &mut Vec<&'a Instruction<'src>>) {
    for statement in &block.statements {
        match statement {
            Statement::Instruction(instruction) => into.push(instruction),
            Statement::Block(block) => instructions(block, into),
            _ => {}
        }
    }
}

/// The only instruction of a kernel's body.
fn only<'a, 'src>(module: &'a Module<'src>) -> &'a Instruction<'src> {
    match body(module) {
        [Statement::Instruction(instruction)] => instruction,
        other => panic!("expected one instruction, found {other:?}"),
    }
}

/// The compilers' files under `tests/corpus`: path and text, in the order of their paths.
fn corpus() -> Vec<(String, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    let mut files = Vec::new();
    for folder in ["numba", "nvcc", "triton"] {
        for entry in std::fs::read_dir(format!("{root}/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                let name = format!("{folder}/{}", path.file_name().unwrap().display());
                files.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}
