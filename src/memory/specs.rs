//! Specs: what `alloc` is asked for. Each says how many elements and what is in them at first.

use std::fmt;
use std::marker::PhantomData;

use crate::context::core::Core;
use crate::context::scope::Frame;
use crate::element::Element;
use crate::error::Error;
use crate::extent::{Extent, bytes_of};
use crate::memory::{Block, Linear, Pitched};

/// Allocates what specs ask for, into the frame of one `alloc`.
#[derive(Debug)]
pub struct Allocator<'f, 'ctx> {
    pub(crate) frame: &'f mut Frame<'ctx>,
    pub(crate) core: &'ctx Core,
}

impl<'ctx> Allocator<'_, 'ctx> {
    /// `bytes` of memory that belongs to the frame; no allocation for none.
    #[track_caller]
    pub(crate) fn block(&mut self, bytes: usize) -> Result<Block<'ctx>, Error> {
        if bytes == 0 {
            return Ok(Block { core: self.core, entry: None, address: 0 });
        }
        let (entry, address) = self.core.allocate(bytes)?;
        self.frame.keep(entry);
        Ok(Block { core: self.core, entry: Some(entry), address })
    }

    #[track_caller]
    fn linear<'s, T: Element>(&mut self, len: usize) -> Result<Linear<'s, 'ctx, T>, Error> {
        Ok(Linear::new(self.block(bytes_of::<T>(len)?)?, len))
    }

    #[track_caller]
    fn pitched<'s, T: Element>(&mut self, extent: Extent) -> Result<Pitched<'s, 'ctx, T>, Error> {
        Pitched::allocate(self, extent)
    }
}

/// One array to allocate. The crate's own specs implement it; see [`linear`], [`zeros`], [`uninit`], [`filled`],
/// [`pitched`], [`pitched_3d`].
pub trait Spec: private::Sealed {
    /// The array that it becomes, in scope `'s` of context `'ctx`.
    type Array<'s, 'ctx>;

    #[doc(hidden)]
    #[track_caller]
    fn allocate<'s, 'ctx>(self, allocator: &mut Allocator<'_, 'ctx>) -> Result<Self::Array<'s, 'ctx>, Error>;
}

/// Several arrays to allocate together: a tuple of up to eight [`Spec`]s.
pub trait Specs: private::Sealed {
    /// The tuple of arrays.
    type Out<'s, 'ctx>;

    #[doc(hidden)]
    #[track_caller]
    fn allocate<'s, 'ctx>(self, allocator: &mut Allocator<'_, 'ctx>) -> Result<Self::Out<'s, 'ctx>, Error>;
}

mod private {
    pub trait Sealed {}
}

/// A linear array with the elements of a host slice; see [`linear`].
pub struct FromHost<'h, T>(&'h [T]);
/// A linear array of zeros; see [`zeros`].
pub struct Zeros<T>(usize, PhantomData<T>);
/// A linear array with unspecified contents; see [`uninit`].
pub struct Uninit<T>(usize, PhantomData<T>);
/// A linear array of one value; see [`filled`].
pub struct Filled<T>(usize, T);
/// A pitched array of zeros; see [`pitched`] and [`pitched_3d`].
pub struct PitchedSpec<T>(Extent, PhantomData<T>);

/// A linear array with the elements of `host`, which are copied before `alloc` calls its closure.
#[must_use]
pub fn linear<T: Element>(host: &[T]) -> FromHost<'_, T> {
    FromHost(host)
}

/// A linear array of `len` zeros.
#[must_use]
pub fn zeros<T: Element>(len: usize) -> Zeros<T> {
    Zeros(len, PhantomData)
}

/// A linear array of `len` elements whose contents are unspecified: every bit pattern is a value of `T`, so reading
/// them is safe, and useless.
#[must_use]
pub fn uninit<T: Element>(len: usize) -> Uninit<T> {
    Uninit(len, PhantomData)
}

/// A linear array of `len` times `value`.
#[must_use]
pub fn filled<T: Element>(len: usize, value: T) -> Filled<T> {
    Filled(len, value)
}

/// A pitched array of `width` elements by `height` rows, all zero.
#[must_use]
pub fn pitched<T: Element>(width: usize, height: usize) -> PitchedSpec<T> {
    PitchedSpec(Extent::new(width, height), PhantomData)
}

/// A pitched array of `width` elements by `height` rows by `depth` slices, all zero.
#[must_use]
pub fn pitched_3d<T: Element>(width: usize, height: usize, depth: usize) -> PitchedSpec<T> {
    PitchedSpec(Extent::new_3d(width, height, depth), PhantomData)
}

/// A spec: its array, how it is made, how it is shown.
macro_rules! spec {
    ($(<$h:lifetime>)? $name:ident => $array:ident, |$spec:ident, $allocator:ident| $make:expr, $shown:expr) => {
        impl<$($h,)? T: Element> private::Sealed for $name<$($h,)? T> {}

        impl<$($h,)? T: Element> Spec for $name<$($h,)? T> {
            type Array<'s, 'ctx> = $array<'s, 'ctx, T>;

            fn allocate<'s, 'ctx>(
                self,
                $allocator: &mut Allocator<'_, 'ctx>,
            ) -> Result<$array<'s, 'ctx, T>, Error> {
                let $spec = self;
                $make
            }
        }

        impl<$($h,)? T> fmt::Debug for $name<$($h,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $spec = self;
                write!(f, "{}<{}>({})", stringify!($name), std::any::type_name::<T>(), $shown)
            }
        }
    };
}

spec!(<'h> FromHost => Linear, |spec, allocator| {
    let mut array = allocator.linear(spec.0.len())?;
    array.copy_from_host(spec.0)?;
    Ok(array)
}, spec.0.len());
spec!(Zeros => Linear, |spec, allocator| {
    let mut array = allocator.linear(spec.0)?;
    array.view_mut().zero()?;
    Ok(array)
}, spec.0);
spec!(Uninit => Linear, |spec, allocator| allocator.linear(spec.0), spec.0);
spec!(Filled => Linear, |spec, allocator| {
    let mut array = allocator.linear(spec.0)?;
    array.fill(spec.1)?;
    Ok(array)
}, spec.0);
spec!(PitchedSpec => Pitched, |spec, allocator| {
    let mut array = allocator.pitched(spec.0)?;
    array.view_mut().zero()?;
    Ok(array)
}, spec.0);

macro_rules! tuples {
    ($($spec:ident)+) => {
        impl<$($spec: Spec),+> private::Sealed for ($($spec,)+) {}

        impl<$($spec: Spec),+> Specs for ($($spec,)+) {
            type Out<'s, 'ctx> = ($($spec::Array<'s, 'ctx>,)+);

            #[expect(non_snake_case, reason = "the tuple's parts are named like their types")]
            fn allocate<'s, 'ctx>(
                self,
                allocator: &mut Allocator<'_, 'ctx>,
            ) -> Result<Self::Out<'s, 'ctx>, Error> {
                let ($($spec,)+) = self;
                Ok(($($spec.allocate(allocator)?,)+))
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
