//! Buffers: owned handles to device memory, for programs whose arrays do not nest.

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
use std::marker::PhantomData;
use std::ops::RangeBounds;

use crate::context::ledger::EntryId;
use crate::context::{Brand, Context};
use crate::element::Element;
use crate::error::Error;
use crate::extent::bytes_of;
use crate::memory::linear::linear_views;
use crate::memory::view::describe;
use crate::memory::{Block, View, ViewMut};

/// A contiguous array of elements in device memory that is freed when it is dropped.
///
/// It can be stored in structures and returned from functions, but not leave its context. A buffer that is forgotten
/// ([`std::mem::forget`]) is freed when the context closes. Dropping one waits for the work that uses it; what that
/// meets is reported when the context closes.
///
/// The compiler refuses a buffer that is used after its context:
///
/// ```compile_fail
/// use scoped_gpu::{Buffer, Device};
/// let mut kept: Vec<Buffer<f32>> = Vec::new();
/// Device::with(|ctx| {
///     kept.push(ctx.buffer(100)?); // error[E0521]: borrowed data escapes outside of closure
///     scoped_gpu::ok(())
/// }).unwrap();
/// kept[0].to_vec().unwrap();
/// ```
pub struct Buffer<'ctx, T> {
    block: Block<'ctx>,
    len: usize,
    brand: Brand<'ctx>,
    element: PhantomData<T>,
}

linear_views!(Buffer);

impl<'ctx> Context<'ctx> {
    /// Allocates a buffer of `len` elements, all zero.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow).
    #[track_caller]
    #[doc(alias = "cudaMalloc")]
    pub fn buffer<T: Element>(&self, len: usize) -> Result<Buffer<'ctx, T>, Error> {
        let bytes = bytes_of::<T>(len)?;
        let mut block = Block { core: self.core, entry: None, address: 0 };
        if bytes > 0 {
            let (entry, address) = self.core.allocate(bytes)?;
            block = Block { core: self.core, entry: Some(entry), address };
        }
        let mut buffer = Buffer { block, len, brand: PhantomData, element: PhantomData };
        buffer.view_mut().zero()?;
        Ok(buffer)
    }
}

impl<T> Buffer<'_, T> {
    fn entry(&self) -> Option<EntryId> {
        self.block.entry
    }
}

impl<T> Drop for Buffer<'_, T> {
    fn drop(&mut self) {
        if let Some(entry) = self.entry()
            && let Err(error) = self.block.core.release(entry)
        {
            self.block.core.record(error);
        }
    }
}
