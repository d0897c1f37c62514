//! What most programs name: `use scoped_gpu::prelude::*;`.

pub use crate::{
    Buffer, Context, Device, Event, Kernel, Launch, Linear, Module, Pinned, Pitched, Read, ReadWrite, Rect,
    Stream, Streams, View, ViewMut, Write, filled, linear, pitched, pitched_3d, uninit, zeros,
};
