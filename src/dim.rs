//! Sizes of grids and blocks. What a device allows is checked at launch, not here.

use std::fmt;

/// A grid's size in blocks, or a block's size in threads; CUDA's `dim3`.
///
/// Missing axes are 1, so `Dim3::from(256)`, `Dim3::from((16, 16))` and `Dim3::from((8, 8, 4))` all work.
#[doc(alias = "dim3")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// The fastest axis.
    pub x: u32,
    /// The second axis.
    pub y: u32,
    /// The slowest axis.
    pub z: u32,
}

impl Dim3 {
    /// A size from its three axes.
    #[must_use]
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// The product of the axes. A `u64` cannot hold every product of three `u32`, so this is a `u128`.
    #[must_use]
    pub const fn count(self) -> u128 {
        self.x as u128 * self.y as u128 * self.z as u128
    }

    /// The axes in order.
    #[must_use]
    pub const fn axes(self) -> [(char, u32); 3] {
        [('x', self.x), ('y', self.y), ('z', self.z)]
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self::new(x, y, z)
    }
}

impl fmt::Debug for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}
