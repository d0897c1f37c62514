//! Pitched arrays: rows of elements whose starts are aligned as the device wants them, in two or three dimensions.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use crate::context::{Brand, Context};
use crate::element::Element;
use crate::error::{AtCaller, Error};
use crate::extent::{Extent, Rect, product};
use crate::memory::linear::allocate;
use crate::memory::specs::{Allocator, Spec, pitched, pitched_3d};
use crate::memory::view::{resolve, resolved};
use crate::memory::{Block, Region};

/// Rows of elements in device memory, owned by an allocation scope.
///
/// Rows begin [`pitch`](Self::pitch) **bytes** apart, which the device chooses; the pitch need not be a multiple of the
/// element's size. The bytes between a row's end and the next row are padding: copies do not read them as data, fills
/// do not write them. A three-dimensional array is `depth` slices of `height` rows, one behind the other.
///
/// The two lifetimes are those of [`Linear`](crate::Linear): an inner array cannot take an outer one's place, where it
/// would be used after its memory was freed.
///
/// ```compile_fail
/// use scoped_gpu::{Device, Pitched};
/// Device::host().scope(|ctx| {
///     ctx.alloc_pitched(4, 4, |mut outer: Pitched<f32>| {
///         ctx.alloc_pitched(4, 4, |inner: Pitched<f32>| {
///             outer = inner; // error[E0521]: borrowed data escapes outside of closure
///             scoped_gpu::ok(())
///         })?;
///         outer.to_vec()
///     })
/// }).unwrap();
/// ```
#[doc(alias = "cudaMallocPitch")]
pub struct Pitched<'s, 'ctx, T> {
    block: Block<'ctx>,
    extent: Extent,
    pitch: usize,
    scope: Brand<'s>,
    brand: Brand<'ctx>,
    element: PhantomData<T>,
}

/// Rows of a pitched array, borrowed for reading.
#[derive(Clone, Copy)]
pub struct PitchedView<'a, 'ctx, T> {
    pub(crate) block: Block<'ctx>,
    extent: Extent,
    pitch: usize,
    borrow: PhantomData<&'a T>,
    brand: Brand<'ctx>,
}

/// Rows of a pitched array, borrowed for reading and writing.
pub struct PitchedViewMut<'a, 'ctx, T> {
    pub(crate) block: Block<'ctx>,
    extent: Extent,
    pitch: usize,
    borrow: PhantomData<&'a mut T>,
    brand: Brand<'ctx>,
}

/// A rectangle of a pitched array, to copy from.
#[derive(Clone, Copy)]
pub struct RectView<'a, 'ctx, T> {
    pub(crate) region: Region<'ctx>,
    borrow: PhantomData<&'a T>,
    brand: Brand<'ctx>,
}

/// A rectangle of a pitched array, to copy to or fill.
pub struct RectViewMut<'a, 'ctx, T> {
    pub(crate) region: Region<'ctx>,
    borrow: PhantomData<&'a mut T>,
    brand: Brand<'ctx>,
}

impl<'s, 'ctx, T: Element> Pitched<'s, 'ctx, T> {
    #[track_caller]
    pub(crate) fn allocate(allocator: &mut Allocator<'_, 'ctx>, extent: Extent) -> Result<Self, Error> {
        let row_bytes = product("bytes of a row (width × size of an element)", extent.width, size_of::<T>())?;
        let rows = extent.rows()?;
        // Elements without a size take no bytes, however many; their number must fit as well.
        extent.count()?;
        let pitch =
            if row_bytes == 0 { 0 } else { allocator.core.backend()?.pitch(row_bytes).at_caller()? };
        let block = allocator.block(product("bytes of a pitched array (pitch × rows)", pitch, rows)?)?;
        Ok(Self { block, extent, pitch, scope: PhantomData, brand: PhantomData, element: PhantomData })
    }

    /// All rows, for reading.
    #[must_use]
    pub fn view(&self) -> PitchedView<'_, 'ctx, T> {
        PitchedView::new(self.block, self.extent, self.pitch)
    }

    /// All rows, for reading and writing.
    #[must_use]
    pub fn view_mut(&mut self) -> PitchedViewMut<'_, 'ctx, T> {
        PitchedViewMut::new(self.block, self.extent, self.pitch)
    }
}

/// Shape of anything pitched.
macro_rules! pitched_shape {
    (<$life:lifetime> $name:ident) => {
        impl<'ctx, T: Element> $name<'_, 'ctx, T> {
            /// Elements in a row.
            #[must_use]
            pub fn width(&self) -> usize {
                self.extent.width
            }

            /// Rows (of a slice, in three dimensions).
            #[must_use]
            pub fn height(&self) -> usize {
                self.extent.height
            }

            /// Slices; 1 in two dimensions.
            #[must_use]
            pub fn depth(&self) -> usize {
                self.extent.depth
            }

            /// Width, height and depth in elements, rows and slices.
            #[must_use]
            pub fn extent(&self) -> Extent {
                self.extent
            }

            /// **Bytes** from a row's start to the next row's start.
            #[must_use]
            pub fn pitch(&self) -> usize {
                self.pitch
            }

            /// Number of elements, padding not counted.
            #[must_use]
            pub fn len(&self) -> usize {
                // The rows first: their number was checked when the array was made, also where it is 0.
                self.extent.width * (self.extent.height * self.extent.depth)
            }

            /// Whether there are no elements.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.extent.is_empty()
            }

            /// The part of it that `rect` names.
            #[track_caller]
            fn rect_region(&self, rect: Rect) -> Region<'ctx> {
                let rows = self.extent.height * self.extent.depth;
                let fits = |start: usize, len: usize, end: usize| {
                    start.checked_add(len).is_some_and(|sum| sum <= end)
                };
                assert!(
                    fits(rect.x, rect.width, self.extent.width) && fits(rect.y, rect.height, rows),
                    "rectangle {rect} does not fit {} elements × {rows} rows",
                    self.extent.width
                );
                let offset = rect.y * self.pitch + rect.x * size_of::<T>();
                Region {
                    block: self.block.advance(offset),
                    row_bytes: rect.width * size_of::<T>(),
                    rows: rect.height,
                    pitch: self.pitch,
                }
            }
        }

        impl<T: Element> fmt::Debug for $name<'_, '_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "{}<{}> {{ {} elements, pitch {} bytes, at {:#x} }}",
                    stringify!($name),
                    std::any::type_name::<T>(),
                    self.extent,
                    self.pitch,
                    self.block.address
                )
            }
        }
    };
}

pitched_shape!(<'s> Pitched);
pitched_shape!(<'a> PitchedView);
pitched_shape!(<'a> PitchedViewMut);

/// The extent of `rows` of all rows of an array: slices are dissolved.
fn rows_extent(extent: Extent, rows: usize) -> Extent {
    Extent::new(extent.width, rows)
}

impl<'a, 'ctx, T: Element> PitchedView<'a, 'ctx, T> {
    /// The caller keeps the rows alive and unwritten for `'a`.
    pub(crate) fn new(block: Block<'ctx>, extent: Extent, pitch: usize) -> Self {
        Self { block, extent, pitch, borrow: PhantomData, brand: PhantomData }
    }

    /// The same view; lets functions take arrays and views alike.
    #[must_use]
    pub fn view(&self) -> PitchedView<'a, 'ctx, T> {
        *self
    }

    pub(crate) fn region(&self) -> Region<'ctx> {
        Region {
            block: self.block,
            row_bytes: self.extent.width * size_of::<T>(),
            rows: self.extent.height * self.extent.depth,
            pitch: self.pitch,
        }
    }

    /// The rows `range`, counted through all slices.
    ///
    /// # Panics
    /// Where the range sticks out, as slices do; [`get_rows`](Self::get_rows) does not.
    #[track_caller]
    #[must_use]
    pub fn rows(&self, range: impl RangeBounds<usize>) -> PitchedView<'a, 'ctx, T> {
        let (start, end) = resolved(range, self.extent.height * self.extent.depth, "rows");
        let block = self.block.advance(start * self.pitch);
        PitchedView::new(block, rows_extent(self.extent, end - start), self.pitch)
    }

    /// The rows `range`, or `None` where the range sticks out.
    #[must_use]
    pub fn get_rows(&self, range: impl RangeBounds<usize>) -> Option<PitchedView<'a, 'ctx, T>> {
        let (start, end) = resolve(&range, self.extent.height * self.extent.depth)?;
        Some(self.rows(start..end))
    }

    /// A rectangle of it, for copies. In three dimensions `y` counts rows through all slices.
    ///
    /// # Panics
    /// Where the rectangle sticks out.
    #[track_caller]
    #[must_use]
    pub fn rect(&self, rect: Rect) -> RectView<'a, 'ctx, T> {
        RectView { region: self.rect_region(rect), borrow: PhantomData, brand: PhantomData }
    }
}

impl<'a, 'ctx, T: Element> PitchedViewMut<'a, 'ctx, T> {
    /// The caller keeps the rows alive and borrowed by nobody else for `'a`.
    pub(crate) fn new(block: Block<'ctx>, extent: Extent, pitch: usize) -> Self {
        Self { block, extent, pitch, borrow: PhantomData, brand: PhantomData }
    }

    /// A view for reading, for as long as this one is borrowed.
    #[must_use]
    pub fn view(&self) -> PitchedView<'_, 'ctx, T> {
        PitchedView::new(self.block, self.extent, self.pitch)
    }

    /// The same rows for a shorter time.
    #[must_use]
    pub fn view_mut(&mut self) -> PitchedViewMut<'_, 'ctx, T> {
        PitchedViewMut::new(self.block, self.extent, self.pitch)
    }

    pub(crate) fn region(&self) -> Region<'ctx> {
        self.view().region()
    }
}

/// Pieces of a pitched array or view that may be written.
macro_rules! pitched_pieces {
    ($name:ident) => {
        impl<'ctx, T: Element> $name<'_, 'ctx, T> {
            /// The rows `range`, counted through all slices, for reading and writing.
            ///
            /// # Panics
            /// Where the range sticks out.
            #[track_caller]
            #[must_use]
            pub fn rows_mut(&mut self, range: impl RangeBounds<usize>) -> PitchedViewMut<'_, 'ctx, T> {
                let (start, end) = resolved(range, self.extent.height * self.extent.depth, "rows");
                let block = self.block.advance(start * self.pitch);
                PitchedViewMut::new(block, rows_extent(self.extent, end - start), self.pitch)
            }

            /// The first `row` rows and the others, to be used at the same time.
            ///
            /// # Panics
            /// Where there are fewer than `row` rows.
            #[track_caller]
            #[must_use]
            pub fn split_at_row_mut(
                &mut self,
                row: usize,
            ) -> (PitchedViewMut<'_, 'ctx, T>, PitchedViewMut<'_, 'ctx, T>) {
                let rows = self.extent.height * self.extent.depth;
                let (_, row) = resolved(..row, rows, "rows");
                let rest = self.block.advance(row * self.pitch);
                (
                    PitchedViewMut::new(self.block, rows_extent(self.extent, row), self.pitch),
                    PitchedViewMut::new(rest, rows_extent(self.extent, rows - row), self.pitch),
                )
            }

            /// A rectangle of it, to copy to or fill.
            ///
            /// # Panics
            /// Where the rectangle sticks out.
            #[track_caller]
            #[must_use]
            pub fn rect_mut(&mut self, rect: Rect) -> RectViewMut<'_, 'ctx, T> {
                RectViewMut { region: self.rect_region(rect), borrow: PhantomData, brand: PhantomData }
            }
        }
    };
}

pitched_pieces!(Pitched);
pitched_pieces!(PitchedViewMut);

/// Pieces for reading, through a view that lasts as long as the borrow.
macro_rules! pitched_reads {
    ($name:ident) => {
        impl<'ctx, T: Element> $name<'_, 'ctx, T> {
            /// The rows `range`, counted through all slices, for reading.
            ///
            /// # Panics
            /// Where the range sticks out.
            #[track_caller]
            #[must_use]
            pub fn rows(&self, range: impl RangeBounds<usize>) -> PitchedView<'_, 'ctx, T> {
                self.view().rows(range)
            }

            /// A rectangle of it, for copies.
            ///
            /// # Panics
            /// Where the rectangle sticks out.
            #[track_caller]
            #[must_use]
            pub fn rect(&self, rect: Rect) -> RectView<'_, 'ctx, T> {
                self.view().rect(rect)
            }
        }
    };
}

pitched_reads!(Pitched);
pitched_reads!(PitchedViewMut);

impl<'a, 'ctx, T: Element> RectView<'a, 'ctx, T> {
    /// The same view; lets functions take rectangles and arrays alike.
    #[must_use]
    pub fn view(&self) -> RectView<'a, 'ctx, T> {
        *self
    }

    pub(crate) fn region(&self) -> Region<'ctx> {
        self.region
    }
}

impl<'ctx, T: Element> RectViewMut<'_, 'ctx, T> {
    /// A view for reading, for as long as this one is borrowed.
    #[must_use]
    pub fn view(&self) -> RectView<'_, 'ctx, T> {
        RectView { region: self.region, borrow: PhantomData, brand: PhantomData }
    }

    /// The same rectangle for a shorter time.
    #[must_use]
    pub fn view_mut(&mut self) -> RectViewMut<'_, 'ctx, T> {
        RectViewMut { region: self.region, borrow: PhantomData, brand: PhantomData }
    }

    pub(crate) fn region(&self) -> Region<'ctx> {
        self.region
    }
}

macro_rules! rect_shape {
    ($name:ident) => {
        impl<T: Element> $name<'_, '_, T> {
            /// Elements in a row.
            #[must_use]
            pub fn width(&self) -> usize {
                self.region.extent(size_of::<T>()).width
            }

            /// Rows.
            #[must_use]
            pub fn height(&self) -> usize {
                self.region.rows
            }

            /// Number of elements.
            #[must_use]
            pub fn len(&self) -> usize {
                self.width() * self.height()
            }

            /// Whether there are no elements.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.region.is_empty()
            }
        }

        impl<T: Element> fmt::Debug for $name<'_, '_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let extent = self.region.extent(size_of::<T>());
                write!(f, "{}<{}> {{ {extent} elements }}", stringify!($name), std::any::type_name::<T>())
            }
        }
    };
}

rect_shape!(RectView);
rect_shape!(RectViewMut);

impl<'ctx> Context<'ctx> {
    /// Allocates `height` rows of `width` elements, all zero, for the time of `f`.
    ///
    /// The element type comes from the closure's parameter: `|mut img: Pitched<f32>| …`. When `f` returns, work of this
    /// context that uses the array is waited for, then the array is freed. It cannot leave the closure:
    ///
    /// ```compile_fail
    /// use scoped_gpu::{Device, Pitched};
    /// Device::host().scope(|ctx| {
    ///     let kept = ctx.alloc_pitched(100, 100, |img: Pitched<f32>| scoped_gpu::ok(img))?;
    ///     kept.to_vec()
    /// }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow),
    /// what `f` returns, the fault of a launch that `f` did not wait for.
    #[track_caller]
    #[doc(alias = "cudaMallocPitch")]
    pub fn alloc_pitched<T: Element, R, E: From<Error>>(
        &self,
        width: usize,
        height: usize,
        f: impl for<'s> FnOnce(Pitched<'s, 'ctx, T>) -> Result<R, E>,
    ) -> Result<R, E> {
        let spec = pitched::<T>(width, height);
        allocate(self.core, |frame| spec.allocate(&mut Allocator { frame, core: self.core }), f)
    }

    /// Allocates `depth` slices of `height` rows of `width` elements, all zero, for the time of `f`.
    ///
    /// # Errors
    /// As for [`alloc_pitched`](Self::alloc_pitched).
    #[track_caller]
    #[doc(alias = "cudaMalloc3D")]
    pub fn alloc_pitched_3d<T: Element, R, E: From<Error>>(
        &self,
        width: usize,
        height: usize,
        depth: usize,
        f: impl for<'s> FnOnce(Pitched<'s, 'ctx, T>) -> Result<R, E>,
    ) -> Result<R, E> {
        let spec = pitched_3d::<T>(width, height, depth);
        allocate(self.core, |frame| spec.allocate(&mut Allocator { frame, core: self.core }), f)
    }
}
