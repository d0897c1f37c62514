//! Accesses to memory, kept in range: which are proved to be when a kernel is launched.

pub mod proof;
