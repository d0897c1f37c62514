//! Views: elements of an array in device memory, borrowed. A view is a value; splitting one gives two.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use crate::context::Brand;
use crate::element::Element;
use crate::memory::{Block, Region};

/// Elements in device memory, borrowed for reading, like `&[T]`.
///
/// `'a` is the borrow of the array, `'ctx` its context. A view is `Copy` and can be given to a launch as
/// [`Read<T>`](crate::Read).
#[derive(Clone, Copy)]
pub struct View<'a, 'ctx, T> {
    pub(crate) block: Block<'ctx>,
    len: usize,
    borrow: PhantomData<&'a T>,
    brand: Brand<'ctx>,
}

/// Elements in device memory, borrowed for reading and writing, like `&mut [T]`.
///
/// It is a value of its own and not reached through a `DerefMut` of an array: behind one, `mem::swap` could exchange
/// the inside of two arrays and leave two owners of the same bytes.
///
/// Two overlapping ones cannot exist; [`split_at_mut`](Self::split_at_mut) gives two disjoint ones for one launch:
///
/// ```
/// use scoped_gpu::{Device, Linear};
/// Device::host().scope(|ctx| {
///     ctx.alloc_linear(8, |mut x: Linear<i32>| {
///         let (mut left, mut right) = x.split_at_mut(3);
///         left.fill(1)?;
///         right.fill(2)?;
///         assert_eq!(x.to_vec()?, [1, 1, 1, 2, 2, 2, 2, 2]);
///         scoped_gpu::ok(())
///     })
/// })?;
/// # scoped_gpu::ok(())
/// ```
pub struct ViewMut<'a, 'ctx, T> {
    pub(crate) block: Block<'ctx>,
    len: usize,
    borrow: PhantomData<&'a mut T>,
    brand: Brand<'ctx>,
}

/// Start and end of `range` in an array of `len` things, if it lies in it.
pub(crate) fn resolve(range: &impl RangeBounds<usize>, len: usize) -> Option<(usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1)?,
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    (start <= end && end <= len).then_some((start, end))
}

/// The range, or the panic that slices of the standard library give, with all numbers.
#[track_caller]
pub(crate) fn resolved(range: impl RangeBounds<usize>, len: usize, what: &str) -> (usize, usize) {
    match resolve(&range, len) {
        Some(range) => range,
        None => {
            let (start, end) = (range.start_bound(), range.end_bound());
            let from = match start {
                Bound::Included(start) => start.to_string(),
                Bound::Excluded(start) => format!("after {start}"),
                Bound::Unbounded => String::new(),
            };
            let to = match end {
                Bound::Included(end) => format!("={end}"),
                Bound::Excluded(end) => end.to_string(),
                Bound::Unbounded => String::new(),
            };
            panic!("range {from}..{to} does not fit {len} {what}")
        }
    }
}

impl<'a, 'ctx, T: Element> View<'a, 'ctx, T> {
    /// The caller keeps `len` elements from `block` on alive and unwritten for `'a`.
    pub(crate) fn new(block: Block<'ctx>, len: usize) -> Self {
        Self { block, len, borrow: PhantomData, brand: PhantomData }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The same view; lets functions take arrays and views alike.
    #[must_use]
    pub fn view(&self) -> View<'a, 'ctx, T> {
        *self
    }

    /// The elements `range` of it, counted from this view's start.
    ///
    /// # Panics
    /// Where the range sticks out, as slices do; [`get`](Self::get) does not.
    #[track_caller]
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> View<'a, 'ctx, T> {
        let (start, end) = resolved(range, self.len, "elements");
        View::new(self.block.advance(start * size_of::<T>()), end - start)
    }

    /// The elements `range` of it, or `None` where the range sticks out.
    #[must_use]
    pub fn get(&self, range: impl RangeBounds<usize>) -> Option<View<'a, 'ctx, T>> {
        let (start, end) = resolve(&range, self.len)?;
        Some(self.slice(start..end))
    }

    /// The first `middle` elements, and the others.
    ///
    /// # Panics
    /// Where there are fewer than `middle`.
    #[track_caller]
    #[must_use]
    pub fn split_at(&self, middle: usize) -> (View<'a, 'ctx, T>, View<'a, 'ctx, T>) {
        (self.slice(..middle), self.slice(middle..))
    }

    pub(crate) fn region(&self) -> Region<'ctx> {
        Region::contiguous(self.block, self.len * size_of::<T>())
    }
}

impl<'a, 'ctx, T: Element> ViewMut<'a, 'ctx, T> {
    /// The caller keeps `len` elements from `block` on alive and borrowed by nobody else for `'a`.
    pub(crate) fn new(block: Block<'ctx>, len: usize) -> Self {
        Self { block, len, borrow: PhantomData, brand: PhantomData }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A view for reading, for as long as this one is borrowed.
    #[must_use]
    pub fn view(&self) -> View<'_, 'ctx, T> {
        View::new(self.block, self.len)
    }

    /// The same elements for a shorter time, so that this view can be used again afterwards.
    #[must_use]
    pub fn view_mut(&mut self) -> ViewMut<'_, 'ctx, T> {
        ViewMut::new(self.block, self.len)
    }

    /// The elements `range` of it for reading.
    ///
    /// # Panics
    /// Where the range sticks out.
    #[track_caller]
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> View<'_, 'ctx, T> {
        self.view().slice(range)
    }

    /// The elements `range` of it.
    ///
    /// # Panics
    /// Where the range sticks out, as slices do; [`get_mut`](Self::get_mut) does not.
    #[track_caller]
    #[must_use]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> ViewMut<'_, 'ctx, T> {
        self.view_mut().into_slice(range)
    }

    /// The elements `range` of it, or `None` where the range sticks out.
    #[must_use]
    pub fn get_mut(&mut self, range: impl RangeBounds<usize>) -> Option<ViewMut<'_, 'ctx, T>> {
        let (start, end) = resolve(&range, self.len)?;
        Some(self.slice_mut(start..end))
    }

    /// The first `middle` elements and the others, to be used at the same time.
    ///
    /// # Panics
    /// Where there are fewer than `middle`.
    #[track_caller]
    #[must_use]
    pub fn split_at_mut(&mut self, middle: usize) -> (ViewMut<'_, 'ctx, T>, ViewMut<'_, 'ctx, T>) {
        self.view_mut().into_split(middle)
    }

    /// The elements `range` for as long as this view lasts; what owners of elements slice with, too.
    #[track_caller]
    pub(crate) fn into_slice(self, range: impl RangeBounds<usize>) -> Self {
        let (start, end) = resolved(range, self.len, "elements");
        Self::new(self.block.advance(start * size_of::<T>()), end - start)
    }

    /// The first `middle` elements and the others, for as long as this view lasts.
    #[track_caller]
    pub(crate) fn into_split(self, middle: usize) -> (Self, Self) {
        let (_, middle) = resolved(..middle, self.len, "elements");
        let rest = self.block.advance(middle * size_of::<T>());
        (Self::new(self.block, middle), Self::new(rest, self.len - middle))
    }

    pub(crate) fn region(&self) -> Region<'ctx> {
        Region::contiguous(self.block, self.len * size_of::<T>())
    }
}

impl<T: Element> fmt::Debug for View<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "View", std::any::type_name::<T>(), self.len, self.block.address)
    }
}

impl<T: Element> fmt::Debug for ViewMut<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "ViewMut", std::any::type_name::<T>(), self.len, self.block.address)
    }
}

pub(crate) fn describe(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    element: &str,
    len: usize,
    address: u64,
) -> fmt::Result {
    write!(f, "{name}<{element}> {{ {len} elements at {address:#x} }}")
}

#[cfg(test)]
mod tests {
    use super::resolved;

    fn message(resolve: impl FnOnce() -> (usize, usize) + std::panic::UnwindSafe) -> String {
        let payload = std::panic::catch_unwind(resolve).expect_err("the range does not fit");
        *payload.downcast::<String>().expect("a formatted message")
    }

    #[test]
    fn a_range_that_sticks_out_is_shown_as_it_was_written() {
        assert_eq!(message(|| resolved(2..9, 4, "rows")), "range 2..9 does not fit 4 rows");
        assert_eq!(message(|| resolved(..9, 4, "rows")), "range ..9 does not fit 4 rows");
        assert_eq!(message(|| resolved(5.., 4, "elements")), "range 5.. does not fit 4 elements");
        assert_eq!(message(|| resolved(1..=4, 4, "elements")), "range 1..=4 does not fit 4 elements");
        let (high, low) = (3, 2);
        assert_eq!(message(|| resolved(high..low, 4, "elements")), "range 3..2 does not fit 4 elements");
        assert_eq!(resolved(1..=3, 4, "elements"), (1, 4));
    }
}
