//! GPU memory, streams and launches that live in scopes.

pub mod ptx;
