//! PTX as text: reading it, checking it and lowering it to what a device runs.

pub mod ast;
pub mod ir;
mod lexer;
mod parser;
pub mod signature;
pub mod source;

pub use parser::parse;
mod loaded;

pub use loaded::LoadedPtx;
