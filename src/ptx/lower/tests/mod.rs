//! Lowering and verification, rule by rule. Results are compared in the readable form of the
//! representation.

mod calls;
mod corpus;
mod declarations;
mod floats;
mod integers;
mod memory;
mod names;
mod queries;
mod random;
mod refused;
mod warps;

use crate::ptx::ir::{Function, Module};
use crate::ptx::source::Source;
use crate::ptx::{lower, parse, verify};

/// Registers that the snippets use: every class, with names of their own.
const REGISTERS: &str = ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b16 %rs<8>; .reg .b8 %rb<4>;
.reg .b64 %rd<16>; .reg .b128 %rq<2>;";

/// Parses, lowers and verifies; the rendered message where one of them refuses.
fn load(text: &str) -> Result<Module, String> {
    let source = Source::new("test.ptx", text).map_err(|error| error.to_string())?;
    let lowered = parse(&source).and_then(|syntax| lower(&syntax, &source));
    lowered.and_then(|module| verify(&module).map(|()| module)).map_err(|error| error.render(&source))
}

/// A module of these items.
fn module(items: &str) -> Module {
    let text = format!(".version 9.0\n.target sm_90\n.address_size 64\n{items}");
    load(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// A kernel `k(.u64 ptr, .u32 n)` with this body and the registers above.
fn kernel(body: &str) -> Module {
    module(&format!(".visible .entry k(.param .u64 ptr, .param .u32 n) {{ {REGISTERS}\n{body}\nret;\n}}"))
}

/// The last function that has code.
fn last(module: &Module) -> &Function {
    module.functions.iter().rfind(|function| function.defined).unwrap()
}

/// The instructions of a function, one a line.
fn lines(function: &Function) -> Vec<String> {
    function.code.iter().map(ToString::to_string).collect()
}

/// What the statements become, without the `ret` at the end.
fn lowered(body: &str) -> Vec<String> {
    let mut lines = lines(last(&kernel(body)));
    assert_eq!(lines.pop().as_deref(), Some("ret"));
    lines
}

/// Each pair is one statement and the one line it becomes.
fn becomes(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(lowered(text), [*expected], "{text}");
    }
}

/// The statement is kept as not supported, under these words.
fn is_unsupported(text: &str, words: &str) {
    assert_eq!(lowered(text), [format!("unsupported `{words}`")], "{text}");
}
