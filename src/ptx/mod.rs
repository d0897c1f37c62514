//! PTX as text: reading it, checking it and lowering it to what a device runs.

pub mod ast;
pub mod bounds;
pub mod ir;
mod lexer;
mod loaded;
mod lower;
mod parser;
pub mod signature;
pub(crate) mod site;
pub mod source;
mod verify;

pub use loaded::LoadedPtx;
pub use lower::lower;
pub use parser::parse;
pub use verify::verify;
