//! Rewriting PTX so that a kernel cannot harm memory: each access is compared with the memory that the launch gave,
//! and what does not fit is not done but recorded.
//!
//! # What becomes of a kernel
//! * Behind its own parameters stand [`ExtraParams`]: the address of a [`record`], and for each buffer and size of
//!   access how far from the buffer's beginning an access may begin.
//! * A load, store, atomic or copy is predicated by a comparison in front of it. One that fails is skipped; what it
//!   would have loaded is 0 (but a register keeps its value where the instruction's own guard did not hold). The
//!   thread goes on, so that barriers are reached by all.
//! * Several accesses that follow each other are compared together where they begin (`regions`), and run as they are
//!   if all fit; else a copy of them runs in which each has its comparison, so that nothing else changes.
//! * A thread notes the first access that failed, and writes it to the record on its way out. The record names the
//!   lowest thread of the lowest block that failed, and that thread's first failure, whatever ran first.
//! * `trap` and failed assertions are noted likewise, and end their thread.
//! * Functions that the kernel calls are rewritten with it; other kernels are taken out of the text. What is not
//!   understood is refused by name.
//!
//! Lines keep their numbers: a message of an assembler about the new text fits the old one.

mod check;
mod compare;
mod edits;
mod families;
mod functions;
mod groups;
mod heads;
mod items;
mod params;
mod pointers;
mod provenance;
pub mod record;
mod refuse;
mod regions;
mod sites;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod traces;
mod values;
mod writer;

pub use params::{ExtraParams, ExtraValue, IndexLimit, Limit};
pub use refuse::Refused;
pub use sites::{CheckedSite, Open, RecordedAddress, SiteKind, SiteSet};
pub use summary::{Place, Writes, stops_by_itself, stores};
pub use text::{buffers_by_use, rewrite};

/// How a kernel is rewritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteOptions {
    /// Write the record at once where an access fails, not on the way out: for kernels that do not end after it.
    pub diagnose: bool,
    /// Count jumps back, and end a thread that spent its steps.
    pub count_back_edges: bool,
}

/// A kernel that cannot harm memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The PTX of the whole module.
    pub text: String,
    /// The kernel's name in it.
    pub kernel: String,
    /// The parameters behind the kernel's own.
    pub params: ExtraParams,
    /// Everything that a record can name, by its number.
    pub sites: Vec<CheckedSite>,
}
