//! Device memory as nouns: views, arrays of a scope, owned buffers, page-locked host memory. Copies are in `transfer`.

mod access;
mod buffer;
mod linear;
mod pinned;
mod pitched;
mod region;
mod specs;
mod view;

pub use access::{Readable, Writable};
pub use buffer::Buffer;
pub use linear::Linear;
pub use pinned::Pinned;
pub use pitched::{Pitched, PitchedView, PitchedViewMut, RectView, RectViewMut};
pub(crate) use region::{Block, Region};
pub use specs::{
    Filled, FromHost, PitchedSpec, Spec, Specs, Uninit, Zeros, filled, linear, pitched, pitched_3d, uninit,
    zeros,
};
pub use view::{View, ViewMut};
