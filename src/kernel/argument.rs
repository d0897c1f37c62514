//! Arguments of a launch: which Rust values fit which parameter, and how they become the parameter block.

use smallvec::SmallVec;

use crate::backend::{LaunchBuffer, LaunchCall};
use crate::context::core::Core;
use crate::context::ledger::{EntryId, Touch};
use crate::element::{Element, Scalar};
use crate::error::ErrorKind;
use crate::kernel::module::Entry;
use crate::kernel::signature::{Parameter, Read, ReadWrite, Write, each_tuple};
use crate::memory::{Block, Buffer, Linear, Pitched, PitchedView, PitchedViewMut, View, ViewMut};
use crate::ptx::signature::KernelSignature;

/// A value that can be passed for parameter `P` of a kernel in context `'ctx`.
///
/// Scalars for themselves; for [`Read<T>`] a `&x` of an array or a view by value; for [`Write<T>`] and
/// [`ReadWrite<T>`] a `&mut x` of an array or a mutable view by value. So the borrow checker sees to it that no array
/// is both read and written in one launch:
///
/// ```compile_fail
/// use scoped_gpu::*;
/// fn both<'ctx>(ctx: &Context<'ctx>, k: &Kernel<'ctx, (Read<f32>, ReadWrite<f32>)>, x: &mut Linear<'_, 'ctx, f32>) {
///     ctx.launch(k, Launch::cover(8), (&*x, &mut *x)).unwrap(); // the same array twice
/// }
/// ```
///
/// Only this crate says what fits: the sealed trait carries context and parameter too, so that nobody can declare, for a
/// parameter type of their own, that another context's array fits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no argument for a kernel's parameter `{P}`",
    label = "the kernel takes `{P}` here",
    note = "`Read<T>` takes `&x`, `Write<T>` and `ReadWrite<T>` take `&mut x`, where `x` is an array of `T` or a view into one",
    note = "a number is passed as the type that the kernel's signature names, such as `n as u32`"
)]
pub trait Argument<'ctx, P>: sealed::Bind<'ctx, P> {}

/// The arguments of a launch: a tuple with one [`Argument`] for each parameter of `S`; for
/// [`Dynamic`](crate::Dynamic), a `Vec` of [`DynamicArgument`](crate::DynamicArgument)s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no arguments for a kernel that takes `{S}`",
    label = "the kernel takes `{S}`",
    note = "arguments are a tuple with one for each parameter, in their order; one alone is `(x,)`"
)]
pub trait Arguments<'ctx, S>: sealed::BindAll<'ctx, S> {}

/// Fills in a launch: its parameter block and buffers, and which allocations those are.
#[doc(hidden)]
#[derive(Debug)]
pub struct Binder<'k> {
    pub(super) kernel: &'k Entry<'k>,
    /// Where each parameter begins in the block.
    pub(super) offsets: &'k [u32],
    /// Position of the next argument.
    pub(super) next: usize,
    /// An array of another context was among the arguments.
    pub(crate) foreign: Option<Box<ErrorKind>>,
    pub(crate) call: LaunchCall<'k>,
    /// What the launch touches, with the argument of each; arrays without elements are not there.
    pub(crate) touches: SmallVec<[(usize, Touch); 4]>,
}

impl<'k> Binder<'k> {
    /// The parameters as the PTX has them.
    pub(crate) fn parameters(&self) -> Option<&'k KernelSignature> {
        self.kernel.parameters()
    }

    /// Writes the next parameter. Count and sizes were compared with the PTX before.
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let start = self.offsets.get(self.next).map_or(usize::MAX, |&offset| offset as usize);
        self.next += 1;
        let rest = self.call.params.get_mut(start..);
        if let Some(slot) = rest.and_then(|rest| rest.get_mut(..bytes.len())) {
            slot.copy_from_slice(bytes);
        }
    }

    /// Writes the next parameter: `bytes` bytes from `block` on.
    #[inline]
    fn pointer(&mut self, block: &Block<'_>, bytes: usize, writable: bool) {
        self.buffer(block.core, block.entry, block.address, bytes, writable);
    }

    /// The parts of a block one by one, which are handed over in registers.
    fn buffer(&mut self, core: &Core, entry: Option<EntryId>, address: u64, bytes: usize, writable: bool) {
        if let Err(foreign) = self.kernel.core.own("an array", core) {
            self.foreign.get_or_insert_with(|| Box::new(foreign));
        }
        let (argument, bytes) = (self.next, bytes as u64);
        self.call.buffers.push(LaunchBuffer { argument, address, bytes, writable });
        if let Some(entry) = entry {
            self.touches.push((argument, Touch { entry, write: writable }));
        }
        self.put(&address.to_le_bytes());
    }
}

mod sealed {
    use super::{Binder, ErrorKind};

    pub trait Bind<'ctx, P> {
        fn bind(self, binder: &mut Binder<'_>);
    }

    pub trait BindAll<'ctx, S> {
        /// Binds every argument; refuses those that do not fit a signature known only now.
        fn bind_all(self, binder: &mut Binder<'_>) -> Result<(), ErrorKind>;
    }
}
pub(crate) use sealed::{Bind, BindAll};

impl<T: Scalar> Bind<'_, T> for T {
    #[inline]
    fn bind(self, binder: &mut Binder<'_>) {
        binder.put(bytemuck::bytes_of(&self));
    }
}

impl<T: Scalar> Argument<'_, T> for T {}

/// Shared borrows and views: for reading.
macro_rules! passed {
    ($($kind:ty, [$($life:lifetime),*];)+) => {$(
        impl<$($life,)* 'ctx, T: Element> Bind<'ctx, Read<T>> for $kind {
            #[inline]
            fn bind(self, binder: &mut Binder<'_>) {
                let region = self.view().region();
                binder.pointer(&region.block, region.span(), false);
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($life,)* 'ctx, T: Element> Argument<'ctx, Read<T>> for $kind {}
    )+};
}

passed! {
    &'a Linear<'s, 'ctx, T>, ['a, 's];
    &'a Buffer<'ctx, T>, ['a];
    &'a Pitched<'s, 'ctx, T>, ['a, 's];
    View<'v, 'ctx, T>, ['v];
    &'a View<'v, 'ctx, T>, ['a, 'v];
    &'a ViewMut<'v, 'ctx, T>, ['a, 'v];
    PitchedView<'v, 'ctx, T>, ['v];
    &'a PitchedView<'v, 'ctx, T>, ['a, 'v];
    &'a PitchedViewMut<'v, 'ctx, T>, ['a, 'v];
}

/// Exclusive borrows: for writing, and for both.
macro_rules! passed_mutably {
    ($($kind:ty, [$($life:lifetime),*];)+) => {$(
        passed_mutably!(Write: $kind, [$($life),*]);
        passed_mutably!(ReadWrite: $kind, [$($life),*]);
    )+};
    ($parameter:ident: $kind:ty, [$($life:lifetime),*]) => {
        impl<$($life,)* 'ctx, T: Element> Bind<'ctx, $parameter<T>> for $kind {
            #[inline]
            fn bind(self, binder: &mut Binder<'_>) {
                let region = self.view().region();
                binder.pointer(&region.block, region.span(), true);
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($life,)* 'ctx, T: Element> Argument<'ctx, $parameter<T>> for $kind {}
    };
}

passed_mutably! {
    &'a mut Linear<'s, 'ctx, T>, ['a, 's];
    &'a mut Buffer<'ctx, T>, ['a];
    &'a mut Pitched<'s, 'ctx, T>, ['a, 's];
    ViewMut<'v, 'ctx, T>, ['v];
    &'a mut ViewMut<'v, 'ctx, T>, ['a, 'v];
    PitchedViewMut<'v, 'ctx, T>, ['v];
    &'a mut PitchedViewMut<'v, 'ctx, T>, ['a, 'v];
}

macro_rules! tuples {
    ($($parameter:ident)*) => {
        paste_free!([$($parameter)*] [ArgA ArgB ArgC ArgD ArgE ArgF ArgG ArgH ArgI ArgJ ArgK ArgL ArgM ArgN ArgO ArgP] []);
    };
}

/// Pairs each parameter's name with an argument's, then writes the impls.
macro_rules! paste_free {
    ([$parameter:ident $($parameters:ident)*] [$argument:ident $($arguments:ident)*] [$($pairs:tt)*]) => {
        paste_free!([$($parameters)*] [$($arguments)*] [$($pairs)* ($parameter $argument)]);
    };
    // No parameters: written out below, since nothing is named there.
    ([] [$($rest:ident)*] []) => {};
    ([] [$($rest:ident)*] [$(($parameter:ident $argument:ident))+]) => {
        impl<'ctx, $($parameter, $argument: Bind<'ctx, $parameter>),*> BindAll<'ctx, ($($parameter,)*)>
            for ($($argument,)*)
        {
            #[expect(non_snake_case, reason = "the tuple's parts are named like their types")]
            fn bind_all(self, binder: &mut Binder<'_>) -> Result<(), ErrorKind> {
                let ($($argument,)*) = self;
                $($argument.bind(binder);)*
                Ok(())
            }
        }

        impl<'ctx, $($parameter: Parameter, $argument: Argument<'ctx, $parameter>),*>
            Arguments<'ctx, ($($parameter,)*)> for ($($argument,)*)
        {
        }
    };
}

impl BindAll<'_, ()> for () {
    fn bind_all(self, _: &mut Binder<'_>) -> Result<(), ErrorKind> {
        Ok(())
    }
}

impl Arguments<'_, ()> for () {}

each_tuple!(tuples);
