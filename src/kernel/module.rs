//! Modules and their kernels: PTX in a context, and an entry of it with the signature it was checked against.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::backend::{FunctionId, ModuleId};
use crate::context::core::Core;
use crate::context::{Brand, Context};
use crate::error::{AtCaller, Error, ErrorKind};
use crate::kernel::reads::refuse_writes;
use crate::kernel::signature::{Signature, compare};
use crate::ptx::LoadedPtx;
use crate::ptx::signature::KernelSignature;

/// PTX that is loaded into a context.
///
/// Dropping it does nothing: kernels of it may still be in use. It is unloaded when the context closes.
#[doc(alias = "CUmodule")]
pub struct Module<'ctx> {
    id: ModuleId,
    core: &'ctx Core,
    ptx: Arc<LoadedPtx>,
    brand: Brand<'ctx>,
}

/// A kernel whose parameters are known to be those of `S`.
///
/// It cannot be used after its context:
///
/// ```compile_fail
/// use scoped_gpu::{Device, ReadWrite, kernels};
/// let kernel = Device::host().scope(|ctx| {
///     ctx.module(kernels::SCALE)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale") // it cannot leave
/// }).unwrap();
/// ```
#[doc(alias = "CUfunction")]
pub struct Kernel<'ctx, S> {
    pub(crate) entry: Entry<'ctx>,
    brand: Brand<'ctx>,
    signature: PhantomData<fn(S)>,
}

/// A kernel of a module, whatever it was declared to take.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'ctx> {
    pub(crate) module: ModuleId,
    pub(crate) function: FunctionId,
    pub(crate) core: &'ctx Core,
    pub(crate) ptx: Arc<LoadedPtx>,
    pub(crate) name: Arc<str>,
    index: usize,
    pub(crate) layout: Layout,
    /// Bytes of shared memory that it declares; asked for at each launch.
    pub(crate) static_shared: u32,
}

/// A kernel's parameter block, in bytes: what each launch asks of the signature.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) bytes: usize,
    /// Where each parameter begins.
    pub(crate) offsets: SmallVec<[u32; 8]>,
}

impl<'ctx> Context<'ctx> {
    /// Loads a module from PTX text.
    ///
    /// ```
    /// use scoped_gpu::{Device, kernels};
    /// Device::host().scope(|ctx| {
    ///     let module = ctx.module(kernels::SAXPY)?; // yours: include_str!("my_kernel.ptx")
    ///     assert!(module.kernels().any(|kernel| kernel == "saxpy"));
    ///     scoped_gpu::ok(())
    /// })?;
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Ptx`] with the line, for text that no assembler would take. Instructions that the host device does
    /// not execute are no error here; reaching one is.
    #[track_caller]
    #[doc(alias = "cuModuleLoadData")]
    pub fn module(&self, ptx: &str) -> Result<Module<'ctx>, Error> {
        self.module_named("module", ptx)
    }

    /// Loads a module and gives it a name for messages and fault reports, such as its file's.
    ///
    /// # Errors
    /// As for [`module`](Self::module).
    #[track_caller]
    pub fn module_named(&self, name: &str, ptx: &str) -> Result<Module<'ctx>, Error> {
        let read = LoadedPtx::read(name, ptx).map_err(|message| ErrorKind::Ptx { message });
        let ptx = Arc::new(read.at_caller()?);
        let id = self.core.backend()?.load(&ptx).at_caller()?;
        self.core.ledger().modules.insert(id);
        Ok(Module { id, core: self.core, ptx, brand: PhantomData })
    }
}

impl<'ctx> Module<'ctx> {
    /// The kernel `name`, with the parameters that `S` declares.
    ///
    /// `S` is a tuple such as `(f32, Read<f32>, ReadWrite<f32>, u32)`. Count, size and kind of each parameter are
    /// compared with the PTX, so that a launch cannot pass anything else. So is the code with what is declared for
    /// reading: a kernel with a store, an atomic operation or a call of a function that stores through a
    /// [`Read`](crate::Read) parameter is refused. Where a store's address is not seen to come from that parameter (it
    /// was selected from two, or loaded), the launch checks it.
    ///
    /// ```
    /// use scoped_gpu::{Device, ErrorKind, Read, kernels};
    /// Device::host().scope(|ctx| {
    ///     let module = ctx.module(kernels::SCALE)?; // x[i] *= factor
    ///     let refused = module.kernel::<(Read<f32>, f32, u32)>("scale").unwrap_err();
    ///     assert!(matches!(refused.kind(), ErrorKind::Signature { .. }));
    ///     assert!(refused.to_string().contains("stores through parameter 0"));
    ///     scoped_gpu::ok(())
    /// })?;
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::KernelNotFound`], which lists the kernels there are; [`ErrorKind::Signature`], which shows both
    /// sides.
    #[track_caller]
    #[doc(alias = "cuModuleGetFunction")]
    pub fn kernel<S: Signature>(&self, name: &str) -> Result<Kernel<'ctx, S>, Error> {
        let Some((index, found)) = self.ptx.kernels().iter().enumerate().find(|(_, k)| k.name == name) else {
            return Err(Error::new(ErrorKind::KernelNotFound {
                name: name.to_owned(),
                module: self.ptx.source().name().to_owned(),
                available: self.kernels().map(str::to_owned).collect(),
            }));
        };
        if let Some(declared) = S::declarations() {
            let compared =
                compare(&declared, found).and_then(|()| refuse_writes(&declared, found, &self.ptx));
            compared.map_err(|message| ErrorKind::Signature { message }).at_caller()?;
        }
        let layout = Layout {
            bytes: found.bytes as usize,
            offsets: found.parameters.iter().map(|parameter| parameter.offset).collect(),
        };
        let name: Arc<str> = Arc::from(name);
        let function = self.core.backend()?.function(self.id, &name).at_caller()?;
        let entry = Entry {
            module: self.id,
            function,
            core: self.core,
            ptx: Arc::clone(&self.ptx),
            static_shared: self.ptx.static_shared_bytes(&name),
            name,
            index,
            layout,
        };
        Ok(Kernel { entry, brand: PhantomData, signature: PhantomData })
    }

    /// The names of its kernels, in the order of the PTX.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.ptx.kernels().iter().map(|kernel| kernel.name.as_str())
    }

    /// Each kernel's name and parameters as the PTX declares them.
    pub fn signatures(&self) -> impl Iterator<Item = &KernelSignature> {
        self.ptx.kernels().iter()
    }
}

impl Entry<'_> {
    /// Its parameters as the PTX has them.
    pub(crate) fn parameters(&self) -> Option<&KernelSignature> {
        self.ptx.kernels().get(self.index)
    }
}

impl<S> Kernel<'_, S> {
    /// The kernel's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.entry.name
    }
}

impl<S> Clone for Kernel<'_, S> {
    fn clone(&self) -> Self {
        Self { entry: self.entry.clone(), ..*self }
    }
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module {{ {} kernels }}", self.ptx.kernels().len())
    }
}

impl<S> fmt::Debug for Kernel<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry.parameters() {
            Some(signature) => write!(f, "Kernel {{ {signature} }}"),
            None => write!(f, "Kernel {{ {} }}", self.name()),
        }
    }
}
