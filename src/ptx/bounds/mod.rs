//! Keeping a kernel's accesses inside the memory it was given, on hardware that does not: what is proved to be in range
//! when a kernel is launched (`proof`), and checks written into the text for what is not (`rewrite`).

pub mod proof;
pub mod rewrite;
