//! Kernels whose parameters are known only at run time: the signature that is compared at each launch, and its
//! arguments.

use std::fmt;

use smallvec::SmallVec;

use crate::context::Brand;
use crate::error::ErrorKind;
use crate::kernel::argument::{Argument, Arguments, BindAll, Binder};
use crate::kernel::signature::{Declaration, Parameter, Signature, compare};

/// The signature of a kernel whose parameters are known only at run time, for tools that take kernels as files.
///
/// `module.kernel::<Dynamic>(name)` takes any kernel; each launch compares its [`DynamicArgument`]s with the PTX.
/// Where the parameters are known when the program is written, a tuple is better: it is compared once, and the
/// compiler sees the arguments.
///
/// ```
/// use scoped_gpu::{Device, Dynamic, DynamicArgument, ErrorKind, Launch, Read, ReadWrite, linear};
/// Device::host().scope(|ctx| {
///     let saxpy = ctx.module(include_str!("../../ptx/saxpy.ptx"))?.kernel::<Dynamic>("saxpy")?;
///     ctx.alloc((linear(&[1.0_f32, 2.0]), linear(&[10.0_f32, 20.0])), |(x, mut y)| {
///         let arguments = vec![
///             DynamicArgument::new::<f32>(2.0),
///             DynamicArgument::new::<Read<f32>>(&x),
///             DynamicArgument::new::<ReadWrite<f32>>(&mut y),
///             DynamicArgument::new::<u32>(2),
///         ];
///         ctx.launch(&saxpy, Launch::cover(2), arguments)?;
///         assert_eq!(y.to_vec()?, [12.0, 24.0]);
///
///         let refused = ctx.launch(&saxpy, Launch::cover(2), vec![DynamicArgument::new::<f64>(2.0)]);
///         assert!(matches!(refused.unwrap_err().kind(), ErrorKind::Signature { .. }));
///         scoped_gpu::ok(())
///     })
/// })?;
/// # scoped_gpu::ok(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Dynamic;

impl Signature for Dynamic {
    fn declarations() -> Option<SmallVec<[Declaration; 8]>> {
        None
    }
}

/// An argument whose type is chosen at run time, in a `Vec` with the others of its launch.
///
/// # Lifetimes
/// It borrows its array for `'a`, mutably where it is for writing, so a list of arguments obeys the same rule as a
/// tuple of them: no array is read and written in one launch.
///
/// ```compile_fail
/// use scoped_gpu::*;
/// fn both<'ctx>(ctx: &Context<'ctx>, kernel: &Kernel<'ctx, Dynamic>, x: &mut Buffer<'ctx, f32>) {
///     let source = DynamicArgument::new::<Read<f32>>(&*x);
///     let target = DynamicArgument::new::<ReadWrite<f32>>(x); // the same array twice
///     ctx.launch(kernel, Launch::cover(8), vec![source, target]).unwrap();
/// }
/// ```
pub struct DynamicArgument<'a, 'ctx> {
    declaration: Declaration,
    bind: Box<dyn FnOnce(&mut Binder<'_>) + 'a>,
    brand: Brand<'ctx>,
}

impl<'a, 'ctx> DynamicArgument<'a, 'ctx> {
    /// `argument` for a parameter `P`: whatever a launch of a typed kernel would take there.
    pub fn new<P: Parameter>(argument: impl Argument<'ctx, P> + 'a) -> Self {
        Self {
            declaration: P::declaration(),
            bind: Box::new(|binder| argument.bind(binder)),
            brand: std::marker::PhantomData,
        }
    }
}

impl fmt::Debug for DynamicArgument<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynamicArgument {{ {} }}", self.declaration)
    }
}

impl<'ctx> BindAll<'ctx, Dynamic> for Vec<DynamicArgument<'_, 'ctx>> {
    fn bind_all(self, binder: &mut Binder<'_>) -> Result<(), ErrorKind> {
        let declared: SmallVec<[Declaration; 8]> = self.iter().map(|argument| argument.declaration).collect();
        let compared = binder.parameters().map_or(Ok(()), |parameters| compare(&declared, parameters));
        compared.map_err(|message| ErrorKind::Signature { message })?;
        for argument in self {
            (argument.bind)(binder);
        }
        Ok(())
    }
}

impl<'ctx> Arguments<'ctx, Dynamic> for Vec<DynamicArgument<'_, 'ctx>> {}
