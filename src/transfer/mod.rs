//! Moving data: what a copy is (`plan`), and the blocking verbs of arrays and views. Queued ones are in `stream`.

mod blocking;
pub(crate) mod contents;
mod convert;
mod peer;
pub(crate) mod plan;
mod staged;
