//! Shapes of arrays and the checked arithmetic on them. Every product of sizes in the crate is made here.

use crate::error::{Error, ErrorKind};

/// `a * b`, or an error that says what of.
#[track_caller]
pub(crate) fn product(what: &str, a: usize, b: usize) -> Result<usize, Error> {
    match a.checked_mul(b) {
        Some(product) if product <= isize::MAX as usize => Ok(product),
        _ => Err(Error::new(ErrorKind::SizeOverflow { what: format!("{what}: {a} × {b}") })),
    }
}

/// `len` elements of `T` in bytes.
#[track_caller]
pub(crate) fn bytes_of<T>(len: usize) -> Result<usize, Error> {
    product("bytes of an array (elements × size)", len, size_of::<T>())
}

/// The shape of a pitched array, in elements and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Elements in a row.
    pub width: usize,
    /// Rows in a slice.
    pub height: usize,
    /// Slices; 1 for a plain picture.
    pub depth: usize,
}

impl Extent {
    /// A two-dimensional extent.
    #[must_use]
    pub const fn new(width: usize, height: usize) -> Self {
        Self { width, height, depth: 1 }
    }

    /// A three-dimensional extent.
    #[must_use]
    pub const fn new_3d(width: usize, height: usize, depth: usize) -> Self {
        Self { width, height, depth }
    }

    /// Number of elements.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`] when the product leaves `isize`.
    #[track_caller]
    pub(crate) fn count(self) -> Result<usize, Error> {
        product("elements of a pitched array (width × rows)", self.width, self.rows()?)
    }

    /// Number of rows in all slices together.
    #[track_caller]
    pub(crate) fn rows(self) -> Result<usize, Error> {
        product("rows of a pitched array (height × depth)", self.height, self.depth)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.depth == 1 {
            write!(f, "{} × {}", self.width, self.height)
        } else {
            write!(f, "{} × {} × {}", self.width, self.height, self.depth)
        }
    }
}

/// A rectangle of a pitched array: origin and size, in elements and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rect {
    /// First column.
    pub x: usize,
    /// First row.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Rect {
    /// The rectangle with its first element at `(x, y)`.
    #[must_use]
    pub const fn new(x: usize, y: usize, width: usize, height: usize) -> Self {
        Self { x, y, width, height }
    }
}

impl std::fmt::Display for Rect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} × {} at ({}, {})", self.width, self.height, self.x, self.y)
    }
}
