//! Lowering and verification, rule by rule. Results are compared in the readable form of the
//! representation.

mod corpus;

use crate::ptx::ir::Module;
use crate::ptx::source::Source;
use crate::ptx::{lower, parse, verify};

const HEADER: &str = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// Parses, lowers and verifies; the rendered message where one of them refuses.
fn load(text: &str) -> Result<Module, String> {
    let source = Source::new("test.ptx", text).map_err(|error| error.to_string())?;
    let lowered = parse(&source).and_then(|syntax| lower(&syntax, &source));
    lowered
        .and_then(|module| verify(&module).map(|()| module))
        .map_err(|error| error.render(&source))
}
