//! PTX as text: reading it, checking it and lowering it to what a device runs.

pub mod ir;

pub mod ast;
pub mod source;
