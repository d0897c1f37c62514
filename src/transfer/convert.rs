//! Copies that change the element's type on the way, as Rust's `as` does. The conversion is done on the host.

use num_traits::AsPrimitive;

use crate::element::Element;
use crate::error::{Error, ErrorKind};
use crate::memory::{Buffer, Linear, Pitched, PitchedView, PitchedViewMut, RectView, RectViewMut, View, ViewMut};

macro_rules! converting_reads {
    ($($name:ident $(<$life:lifetime>)?),+) => {$(
        impl<$($life,)? T: Element> $name<$($life,)? '_, T> {
            /// All elements in a new vector, each converted as by `as`: floats to integers saturate, wider integers
            /// are truncated, `f64` to `f32` is rounded.
            ///
            /// # Errors
            /// As for `to_vec`.
            #[track_caller]
            pub fn to_vec_as<U: Copy + 'static>(&self) -> Result<Vec<U>, Error>
            where
                T: AsPrimitive<U>,
            {
                Ok(self.to_vec()?.into_iter().map(AsPrimitive::as_).collect())
            }
        }
    )+};
}

macro_rules! converting_writes {
    ($($name:ident $(<$life:lifetime>)?),+) => {$(
        impl<$($life,)? T: Element> $name<$($life,)? '_, T> {
            /// Copies `host` into all elements, each converted as by `as`, and waits until it is read.
            ///
            /// # Errors
            /// As for `copy_from_host`.
            #[track_caller]
            pub fn copy_from_host_as<U: AsPrimitive<T>>(&mut self, host: &[U]) -> Result<(), Error> {
                // Said before a vector as long as `host` is made.
                if host.len() != self.len() {
                    let message =
                        format!("copy from the host: {} elements on the device, {} on the host", self.len(), host.len());
                    return Err(Error::new(ErrorKind::Shape { message }));
                }
                let converted: Vec<T> = host.iter().map(|value| value.as_()).collect();
                self.copy_from_host(&converted)
            }
        }
    )+};
}

converting_reads!(Linear<'s>, Buffer, View<'a>, ViewMut<'a>);
converting_reads!(Pitched<'s>, PitchedView<'a>, PitchedViewMut<'a>, RectView<'a>, RectViewMut<'a>);
converting_writes!(Linear<'s>, Buffer, ViewMut<'a>);
converting_writes!(Pitched<'s>, PitchedViewMut<'a>, RectViewMut<'a>);
