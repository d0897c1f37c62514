//! Page-locked host memory: what queued copies move at the link's full speed.

// What runs when something is closed does not panic: `tests/structure/closing.rs`.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable
    )
)]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr::NonNull;
use std::slice;

use crate::backend::HostPointer;
use crate::context::Context;
use crate::context::core::Core;
use crate::context::ledger::{EntryId, PinnedBlock};
use crate::context::scope;
use crate::element::Element;
use crate::error::{AtCaller, Error};
use crate::extent::bytes_of;

/// What `Backend::allocate_pinned` aligns to at least, in bytes.
const PINNED_ALIGNMENT: usize = 64;

/// A slice of page-locked host memory, for the time of a [`Context::pinned`] closure.
///
/// It dereferences to `[T]`. Elements that want more than 64 bytes of alignment do not compile:
///
/// ```compile_fail
/// use bytemuck::{Pod, Zeroable};
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[repr(C, align(128))]
/// struct Line([u8; 128]);
/// impl scoped_gpu::Element for Line {}
/// scoped_gpu::Device::host()
///     .scope(|ctx| ctx.pinned::<Line, _, _>(2, |lines| scoped_gpu::ok(lines.len())))
///     .unwrap();
/// ```
#[doc(alias = "cudaMallocHost")]
pub struct Pinned<'p, T> {
    slice: &'p mut [T],
}

impl<T> Deref for Pinned<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.slice
    }
}

impl<T> DerefMut for Pinned<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.slice
    }
}

impl<T> fmt::Debug for Pinned<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned<{}> {{ {} elements }}", std::any::type_name::<T>(), self.len())
    }
}

/// A block of the ledger, given back when the closure ends.
struct Lent<'c> {
    core: &'c Core,
    entry: EntryId,
    block: PinnedBlock,
}

impl Lent<'_> {
    fn close(self, here: &'static Location<'static>) -> Result<(), Error> {
        // A stream scope inside the closure has joined; what is left are copies queued on the context's own stream,
        // and those wait before they return. So nothing uses the block.
        if self.core.ledger().pinned.remove(self.entry).is_none() {
            return Ok(());
        }
        // Given back also where the context cannot be made current: cleanup tries every step.
        let backend = &*self.core.shared.backend;
        let current = backend.make_current();
        // SAFETY: the block came from `allocate_pinned` with this size and left the ledger just now, so it is freed
        // once; the borrow of it ended with the closure, and with it every copy that used it (C3).
        let freed = unsafe { backend.free_pinned(self.block.pointer.0, self.block.bytes) };
        freed.and(current).map_err(|kind| Error::at(kind, here))
    }
}

impl<'ctx> Context<'ctx> {
    /// Allocates `len` elements of page-locked host memory, all zero, for the time of `f`.
    ///
    /// Queued copies from and to it run at the link's full speed; on the host device it is ordinary memory.
    ///
    /// ```
    /// use scoped_gpu::{Device, zeros};
    /// Device::host().scope(|ctx| {
    ///     ctx.pinned::<f32, _, _>(4, |mut host| {
    ///         host.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
    ///         ctx.alloc((zeros::<f32>(4),), |(mut x,)| x.copy_from_host(&host))
    ///     })
    /// })?;
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutOfPinnedMemory`](crate::ErrorKind::OutOfPinnedMemory), and what `f` returns.
    #[track_caller]
    #[doc(alias = "cudaMallocHost")]
    pub fn pinned<T: Element, R, E: From<Error>>(
        &self,
        len: usize,
        f: impl for<'p> FnOnce(Pinned<'p, T>) -> Result<R, E>,
    ) -> Result<R, E> {
        const { assert!(align_of::<T>() <= PINNED_ALIGNMENT) };
        let bytes = bytes_of::<T>(len)?;
        if bytes == 0 {
            let mut none: Vec<T> = bytemuck::allocation::zeroed_vec(len);
            return f(Pinned { slice: &mut none });
        }
        let pointer: NonNull<u8> = self.core.backend()?.allocate_pinned(bytes).at_caller()?;
        let block = PinnedBlock { pointer: HostPointer(pointer), bytes };
        let entry = self.core.ledger().pinned.insert(block);
        scope::run(
            &self.core.shared,
            Lent { core: self.core, entry, block },
            |lent| {
                // SAFETY: the block holds `len` elements, zeroed, aligned to 64 bytes, which is asserted above to
                // suffice; `T` is plain data, so zeros are values. It lives until `close`, and this is the only
                // reference to it.
                let slice =
                    unsafe { slice::from_raw_parts_mut(lent.block.pointer.0.as_ptr().cast::<T>(), len) };
                f(Pinned { slice })
            },
            Lent::close,
        )
    }
}
