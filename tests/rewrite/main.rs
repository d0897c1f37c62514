//! Rewritten kernels: every kernel of the corpus is rewritten, read back, and assembled where an assembler is there.

mod assembler;
mod corpus;
