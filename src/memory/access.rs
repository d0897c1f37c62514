//! What can be copied from and to, whatever its shape: arrays, buffers, views, rectangles.

use crate::element::Element;
use crate::memory::{
    Buffer, Linear, Pitched, PitchedView, PitchedViewMut, RectView, RectViewMut, Region, View, ViewMut,
};

/// Elements on the device that can be read: any array, buffer, view or rectangle of context `'ctx`.
///
/// Only this crate says what can be read as what: the sealed trait carries the element too, so that nobody can declare,
/// for an element type of their own, that other elements' rows are made of it.
pub trait Readable<'ctx, T>: sealed::Rows<'ctx, T> {}

/// Elements on the device that can be written: any array, buffer, mutable view or mutable rectangle.
pub trait Writable<'ctx, T>: Readable<'ctx, T> + sealed::Exclusive<'ctx, T> {}

mod sealed {
    use super::Region;

    pub trait Rows<'ctx, T> {
        #[doc(hidden)]
        fn region(&self) -> Region<'ctx>;
    }

    /// Rows that nobody else uses while they are borrowed mutably.
    pub trait Exclusive<'ctx, T> {}
}
pub(crate) use sealed::Rows;

macro_rules! readable {
    ($($name:ident $(<$life:lifetime>)?),+) => {$(
        impl<$($life,)? 'ctx, T: Element> Rows<'ctx, T> for $name<$($life,)? 'ctx, T> {
            fn region(&self) -> Region<'ctx> {
                self.view().region()
            }
        }

        impl<$($life,)? 'ctx, T: Element> Readable<'ctx, T> for $name<$($life,)? 'ctx, T> {}
    )+};
}

macro_rules! writable {
    ($($name:ident $(<$life:lifetime>)?),+) => {$(
        impl<$($life,)? 'ctx, T: Element> sealed::Exclusive<'ctx, T> for $name<$($life,)? 'ctx, T> {}
        impl<$($life,)? 'ctx, T: Element> Writable<'ctx, T> for $name<$($life,)? 'ctx, T> {}
    )+};
}

readable!(Linear<'s>, Buffer, View<'a>, ViewMut<'a>);
readable!(Pitched<'s>, PitchedView<'a>, PitchedViewMut<'a>, RectView<'a>, RectViewMut<'a>);
writable!(Linear<'s>, Buffer, ViewMut<'a>);
writable!(Pitched<'s>, PitchedViewMut<'a>, RectViewMut<'a>);
