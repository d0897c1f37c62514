//! Keeping a kernel's accesses inside the memory it was given, on hardware that does not.

pub mod rewrite;
