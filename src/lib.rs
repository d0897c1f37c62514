// The README's links name files; here, where the first definition of a link counts, they name pages and items.
//! [getting started]: crate::guide::getting_started
//! [scopes and lifetimes]: crate::guide::scopes
//! [the host device]: crate::guide::host_device
//! [writing and compiling kernels]: crate::guide::kernels
//! [Why it is safe]: crate::guide::safety
//! [`Fault`]: crate::Fault
#![doc = include_str!("../README.md")]

mod backend;
mod context;
mod device;
mod dim;
mod element;
mod error;
mod extent;
mod fault;
#[cfg(any(doc, doctest))]
pub mod guide;
mod kernel;
pub mod kernels;
mod memory;
mod pool;
pub mod prelude;
pub mod ptx;
mod statistics;
mod stream;
mod transfer;
mod verdict;

pub use backend::{DeviceInfo, Limits, MemoryInfo, Reset};
pub use context::Context;
pub use device::{Device, Failure, HostOptions, Leak, LeakKind, LeakReport, MemoryStatistics};
#[doc(hidden)]
pub use device::{Probe, Protection};
pub use dim::Dim3;
pub use element::{Element, Scalar, ScalarKind};
pub use error::{Error, ErrorKind, Result, ok};
pub use extent::{Extent, Rect};
pub use fault::{Access, AccessKind, Blame, Fault, FaultKind, NearBuffer, Site, SourceLine, Space};
pub use kernel::{
    Argument, Arguments, Dynamic, DynamicArgument, Kernel, Launch, Module, Parameter, Read, ReadWrite,
    Signature, Write,
};
pub use memory::{
    Buffer, Filled, FromHost, Linear, Pinned, Pitched, PitchedSpec, PitchedView, PitchedViewMut, Readable,
    RectView, RectViewMut, Spec, Specs, Uninit, View, ViewMut, Writable, Zeros, filled, linear, pitched,
    pitched_3d, uninit, zeros,
};
pub use statistics::LaunchStatistics;
pub use stream::{Event, Pending, Stream, Streams};
pub use verdict::{AccessVerdict, Outcome, Verdict};
