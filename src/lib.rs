//! GPU memory, streams and launches that live in scopes.

mod backend;
mod dim;
mod element;
mod error;
mod extent;
mod fault;
pub mod ptx;

pub use dim::Dim3;
pub use element::{Element, Scalar, ScalarKind};
pub use error::{Error, ErrorKind, Result, ok};
pub use extent::{Extent, Rect};
pub use fault::{Access, AccessKind, Blame, Fault, FaultKind, NearBuffer, Site, SourceLine, Space};
