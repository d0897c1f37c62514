//! Linear arrays: contiguous elements that live as long as the closure of their allocation.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use crate::context::core::Core;
use crate::context::{Brand, Context, scope};
use crate::element::Element;
use crate::error::Error;
use crate::memory::specs::{Allocator, Spec, Specs, zeros};
use crate::memory::view::describe;
use crate::memory::{Block, View, ViewMut};

/// A contiguous array of elements in device memory, owned by an allocation scope.
///
/// # Lifetimes
/// `'s` is the allocation: it begins when the closure of `alloc_linear` or `alloc` is called and ends when it returns.
/// `'ctx` is the context. Both are needed: with one, `mem::swap` of an outer and an inner array would compile, and the
/// outer handle would dangle when the inner scope closes:
///
/// ```compile_fail
/// use scoped_gpu::{Device, Linear};
/// Device::host().scope(|ctx| {
///     ctx.alloc_linear(4, |mut outer: Linear<f32>| {
///         ctx.alloc_linear(4, |mut inner: Linear<f32>| {
///             std::mem::swap(&mut outer, &mut inner); // the inner memory ends here
///             scoped_gpu::ok(())
///         })?;
///         outer.to_vec()
///     })
/// }).unwrap();
/// ```
///
/// Two arrays of one allocation may be swapped, which is how ping-pong buffers are written:
///
/// ```
/// use scoped_gpu::{Device, zeros};
/// Device::host().scope(|ctx| {
///     ctx.alloc((zeros::<f32>(4), zeros::<f32>(4)), |(mut now, mut next)| {
///         next.fill(1.0)?;
///         std::mem::swap(&mut now, &mut next);
///         assert_eq!(now.to_vec()?, [1.0; 4]);
///         scoped_gpu::ok(())
///     })
/// })?;
/// # scoped_gpu::ok(())
/// ```
///
/// The array is handed over by value, has no `Drop` and cannot leave the closure; the scope frees it.
pub struct Linear<'s, 'ctx, T> {
    block: Block<'ctx>,
    len: usize,
    scope: Brand<'s>,
    brand: Brand<'ctx>,
    element: PhantomData<T>,
}

impl<'s, 'ctx, T: Element> Linear<'s, 'ctx, T> {
    pub(crate) fn new(block: Block<'ctx>, len: usize) -> Self {
        Self { block, len, scope: PhantomData, brand: PhantomData, element: PhantomData }
    }
}

/// What arrays that own their elements share: length, views, pieces.
macro_rules! linear_views {
    ($(<$life:lifetime>)? $name:ident) => {
        impl<$($life,)? 'ctx, T: Element> $name<$($life,)? 'ctx, T> {
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

            /// All elements, for reading.
            #[must_use]
            pub fn view(&self) -> View<'_, 'ctx, T> {
                View::new(self.block, self.len)
            }

            /// All elements, for reading and writing.
            #[must_use]
            pub fn view_mut(&mut self) -> ViewMut<'_, 'ctx, T> {
                ViewMut::new(self.block, self.len)
            }

            /// The elements `range`, for reading.
            ///
            /// # Panics
            /// Where the range sticks out, as slices do; `view().get(..)` does not.
            #[track_caller]
            #[must_use]
            pub fn slice(&self, range: impl RangeBounds<usize>) -> View<'_, 'ctx, T> {
                self.view().slice(range)
            }

            /// The elements `range`, for reading and writing.
            ///
            /// # Panics
            /// Where the range sticks out.
            #[track_caller]
            #[must_use]
            pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> ViewMut<'_, 'ctx, T> {
                self.view_mut().into_slice(range)
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
        }

        impl<$($life,)? T: Element> fmt::Debug for $name<$($life,)? '_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                describe(f, stringify!($name), std::any::type_name::<T>(), self.len, self.block.address)
            }
        }
    };
}
pub(crate) use linear_views;

linear_views!(<'s> Linear);

impl<'ctx> Context<'ctx> {
    /// Allocates `len` elements, all zero, for the time of `f`.
    ///
    /// The element type comes from the closure's parameter: `|mut x: Linear<f32>| …`. When `f` returns, work of this
    /// context that uses the array is waited for, then the array is freed.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow),
    /// what `f` returns, the fault of a launch that `f` did not wait for.
    #[track_caller]
    #[doc(alias = "cudaMalloc")]
    pub fn alloc_linear<T: Element, R, E: From<Error>>(
        &self,
        len: usize,
        f: impl for<'s> FnOnce(Linear<'s, 'ctx, T>) -> Result<R, E>,
    ) -> Result<R, E> {
        allocate(self.core, |frame| zeros::<T>(len).allocate(&mut Allocator { frame, core: self.core }), f)
    }

    /// Allocates several arrays at once for the time of `f`.
    ///
    /// ```
    /// use scoped_gpu::{Device, linear, pitched, zeros};
    /// let host = [1.0f32, 2.0, 3.0];
    /// Device::host().scope(|ctx| {
    ///     ctx.alloc((linear(&host), zeros::<f64>(10), pitched::<u8>(640, 480)), |(x, mut y, img)| {
    ///         y.fill(0.5)?;
    ///         assert_eq!((x.len(), y.len(), img.height()), (3, 10, 480));
    ///         scoped_gpu::ok(())
    ///     })
    /// })?;
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// As for [`alloc_linear`](Self::alloc_linear); where one of them does not fit, those before it are freed.
    #[track_caller]
    pub fn alloc<S: Specs, R, E: From<Error>>(
        &self,
        specs: S,
        f: impl for<'s> FnOnce(S::Out<'s, 'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        allocate(self.core, |frame| specs.allocate(&mut Allocator { frame, core: self.core }), f)
    }

    /// Allocates as many arrays as `specs` yields, for the time of `f`.
    ///
    /// # Errors
    /// As for [`alloc`](Self::alloc).
    #[track_caller]
    pub fn alloc_each<S: Spec, R, E: From<Error>>(
        &self,
        specs: impl IntoIterator<Item = S>,
        f: impl for<'s> FnOnce(smallvec::SmallVec<[S::Array<'s, 'ctx>; 8]>) -> Result<R, E>,
    ) -> Result<R, E> {
        allocate(
            self.core,
            |frame| {
                let mut allocator = Allocator { frame, core: self.core };
                specs.into_iter().map(|spec| spec.allocate(&mut allocator)).collect()
            },
            f,
        )
    }
}

#[track_caller]
pub(crate) fn allocate<'ctx, O, R, E: From<Error>>(
    core: &'ctx Core,
    make: impl FnOnce(&mut scope::Frame<'ctx>) -> Result<O, Error>,
    f: impl FnOnce(O) -> Result<R, E>,
) -> Result<R, E> {
    let here = std::panic::Location::caller();
    scope::run(
        &core.shared,
        scope::Frame::new(core),
        |frame| f(make(frame).map_err(|error| E::from(error.moved_to(here)))?),
        scope::Frame::close,
    )
}
