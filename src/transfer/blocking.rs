//! Copies and fills that are done when they return (copies) or ordered before everything later (fills).

use crate::context::core::Core;
use crate::element::Element;
use crate::error::Error;
use crate::memory::{
    Buffer, Linear, Pitched, PitchedView, PitchedViewMut, Readable, RectView, RectViewMut, Region, View,
    ViewMut,
};
use crate::transfer::plan::{self, HostSide};
use crate::transfer::{contents, peer, staged};

/// Copies a region to host memory and waits for it.
#[track_caller]
pub(super) fn read<T: Element>(core: &Core, region: &Region<'_>, host: &mut [T]) -> Result<(), Error> {
    let side = HostSide::writing(host);
    let copy = plan::download::<T>(region, &side)?;
    // SAFETY: `host` is borrowed mutably until this function returns, and the copy has stopped by then (C3).
    if unsafe { staged::copy(core, region, &copy, false) }? {
        return Ok(());
    }
    // SAFETY: `host` is borrowed mutably until this function returns, and the wait below has stopped the copy (B3),
    // whatever it returns; so nobody else touches it while the copy may run (C3).
    let queued = unsafe { plan::to_host::<T>(core, core.stream, region, side) };
    settle(core, queued, region.is_empty())
}

/// Copies host memory to a region and waits for it.
#[track_caller]
pub(super) fn write<T: Element>(core: &Core, region: &Region<'_>, host: &[T]) -> Result<(), Error> {
    let side = HostSide::reading(host);
    let copy = plan::upload::<T>(region, &side)?;
    // SAFETY: `host` is borrowed until this function returns, and the copy has stopped by then (C3).
    if unsafe { staged::copy(core, region, &copy, true) }? {
        contents::note(core, region, host);
        return Ok(());
    }
    // SAFETY: `host` is borrowed until this function returns, so nobody writes it, and the wait below has stopped the
    // copy (B3), whatever it returns (C3).
    let queued = unsafe { plan::from_host::<T>(core, core.stream, region, side) };
    settle(core, queued, region.is_empty())?;
    contents::note(core, region, host);
    Ok(())
}

/// Waits for what was queued. A copy that could not be queued is not waited for: its own error is the news.
#[track_caller]
fn settle(core: &Core, queued: Result<(), Error>, empty: bool) -> Result<(), Error> {
    queued?;
    if empty { Ok(()) } else { core.wait(core.stream) }
}

#[track_caller]
fn to_vec<T: Element>(core: &Core, region: &Region<'_>) -> Result<Vec<T>, Error> {
    let len = region.extent(size_of::<T>());
    let mut host = bytemuck::allocation::zeroed_vec(len.width * len.height);
    read(core, region, &mut host)?;
    Ok(host)
}

/// Verbs that read.
macro_rules! reading {
    ($($name:ident $(<$life:lifetime>)?),+) => {$(
        impl<$($life,)? 'ctx, T: Element> $name<$($life,)? 'ctx, T> {
            /// Copies all elements to `host`, row after row, and waits until they are there.
            ///
            /// # Errors
            /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when `host` has another length; the fault of an earlier launch that nobody has
            /// waited for yet.
            #[track_caller]
            #[doc(alias = "cudaMemcpy")]
            pub fn copy_to_host(&self, host: &mut [T]) -> Result<(), Error> {
                let region = self.view().region();
                read(region.block.core, &region, host)
            }

            /// All elements in a new vector, row after row.
            ///
            /// # Errors
            /// The fault of an earlier launch that nobody has waited for yet.
            #[track_caller]
            pub fn to_vec(&self) -> Result<Vec<T>, Error> {
                let region = self.view().region();
                to_vec(region.block.core, &region)
            }
        }
    )+};
}

/// Verbs that write.
macro_rules! writing {
    ($($name:ident $(<$life:lifetime>)?),+) => {$(
        impl<$($life,)? 'ctx, T: Element> $name<$($life,)? 'ctx, T> {
            /// Copies `host` into all elements, row after row, and waits until it is read.
            ///
            /// # Errors
            /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when `host` has another length; the fault of an earlier launch that nobody has
            /// waited for yet.
            #[track_caller]
            #[doc(alias = "cudaMemcpy")]
            pub fn copy_from_host(&mut self, host: &[T]) -> Result<(), Error> {
                let region = self.view_mut().region();
                write(region.block.core, &region, host)
            }

            /// Sets every element to `value`, bit for bit; padding stays as it is. Does not wait: later work of this
            /// context sees the fill.
            ///
            /// # Errors
            /// Those of the driver.
            #[track_caller]
            #[doc(alias = "cudaMemset")]
            pub fn fill(&mut self, value: T) -> Result<(), Error> {
                let region = self.view_mut().region();
                plan::fill(region.block.core, region.block.core.stream, &region, value)
            }

            /// Copies all elements of `source`, which has the same rows and columns, on the device. Does not wait:
            /// later work of this context sees the copy.
            ///
            /// Among the contexts of one [`Device::scope_all`](crate::Device::scope_all), `source` may lie on another
            /// device; such a copy waits until it is done.
            ///
            /// # Errors
            /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when the shapes differ.
            #[track_caller]
            pub fn copy_from(&mut self, source: &impl Readable<'ctx, T>) -> Result<(), Error> {
                let region = self.view_mut().region();
                let (core, source) = (region.block.core, source.region());
                if std::ptr::eq(core, source.block.core) {
                    plan::within::<T>(core, core.stream, &region, &source)
                } else {
                    peer::copy::<T>(&region, &source)
                }
            }
        }
    )+};
}

reading!(Linear<'s>, Buffer, View<'a>, ViewMut<'a>);
reading!(Pitched<'s>, PitchedView<'a>, PitchedViewMut<'a>, RectView<'a>, RectViewMut<'a>);
writing!(Linear<'s>, Buffer, ViewMut<'a>);
writing!(Pitched<'s>, PitchedViewMut<'a>, RectViewMut<'a>);

impl<T: Element> ViewMut<'_, '_, T> {
    /// Sets every byte to zero.
    #[track_caller]
    pub(crate) fn zero(&mut self) -> Result<(), Error> {
        self.fill(T::zeroed())
    }
}

impl<T: Element> PitchedViewMut<'_, '_, T> {
    /// Sets every byte of every element to zero.
    #[track_caller]
    pub(crate) fn zero(&mut self) -> Result<(), Error> {
        self.fill(T::zeroed())
    }
}

impl<T: Element> View<'_, '_, T> {
    /// Copies the elements from `start` on to `host`; where that lies outside the view, `host` gets `outside`.
    ///
    /// `start` may be negative, and `start + host.len()` may lie past the end: a window that sticks out of the array,
    /// as filters with a border need it.
    ///
    /// # Errors
    /// The fault of an earlier launch that nobody has waited for yet.
    #[track_caller]
    pub fn copy_window_to_host(&self, start: isize, host: &mut [T], outside: T) -> Result<(), Error> {
        host.fill(outside);
        let skipped = start.min(0).unsigned_abs().min(host.len());
        let first = usize::try_from(start).unwrap_or(0).min(self.len());
        let inside = (host.len() - skipped).min(self.len() - first);
        self.slice(first..first + inside).copy_to_host(&mut host[skipped..skipped + inside])
    }
}
