//! What most programs name: `use scoped_gpu::prelude::*;`.

pub use crate::{
    Buffer, Context, Device, Kernel, Launch, Linear, Module, Pinned, Pitched, Read, ReadWrite, Rect, View,
    ViewMut, Write, filled, linear, pitched, pitched_3d, uninit, zeros,
};
