//! What is proved of a launch, asked before or instead of it.

use crate::backend::AccessRule;
use crate::backend::facts::buffer_facts;
use crate::dim::Dim3;
use crate::error::Error;
use crate::kernel::argument::Arguments;
use crate::kernel::launch::{Launch, bind, known_contents};
use crate::kernel::module::Kernel;
use crate::kernel::signature::Signature;
use crate::ptx::bounds::describe;
use crate::ptx::bounds::proof::LaunchFacts;
use crate::verdict::Verdict;

impl<'ctx, S: Signature> Kernel<'ctx, S> {
    /// Which accesses of the kernel are proved to be in range for a launch, and why the others have to be checked.
    ///
    /// Takes what [`Context::launch`](crate::Context::launch) takes, and launches nothing. Line, buffer and numbers of
    /// an access that could not be proved say what to change: a guard, the launch's shape, a longer array. The same on
    /// every device.
    ///
    /// ```
    /// use scoped_gpu::{Device, Launch, Read, ReadWrite, kernels};
    /// Device::host().scope(|ctx| {
    ///     let module = ctx.module(kernels::SAXPY)?;
    ///     let saxpy = module.kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
    ///     let (x, mut y) = (ctx.buffer::<f32>(1000)?, ctx.buffer::<f32>(1000)?);
    ///     let right = saxpy.verdict(Launch::cover(1000), (2.0, &x, &mut y, 1000))?;
    ///     assert!(right.all_proved(), "{right}");
    ///     // one element too many
    ///     let wrong = saxpy.verdict(Launch::cover(1000), (2.0, &x, &mut y, 1001))?;
    ///     assert_eq!((wrong.proved(), wrong.accesses.len()), (0, 3));
    ///     println!("{wrong}");
    ///     scoped_gpu::ok(())
    /// })?;
    /// # scoped_gpu::ok(())
    /// ```
    ///
    /// # Errors
    /// As for [`Context::launch`](crate::Context::launch), but for what only the driver refuses.
    #[track_caller]
    pub fn verdict<A: Arguments<'ctx, S>>(&self, launch: Launch, arguments: A) -> Result<Verdict, Error> {
        let nothing = || Verdict {
            kernel: self.entry.name.to_string(),
            module: self.entry.ptx.source().name().to_owned(),
            grid: Dim3::new(0, 0, 0),
            block: Dim3::new(0, 0, 0),
            accesses: Vec::new(),
            stops: false,
            refused: None,
        };
        let described =
            bind(self.entry.core, &self.entry, &launch, arguments, AccessRule::Checked, |binder| {
                let call = &binder.call;
                let buffers = buffer_facts(&call.buffers, &known_contents(binder));
                let facts = LaunchFacts {
                    grid: call.grid,
                    block: call.block,
                    dynamic_shared: call.dynamic_shared,
                    params: &call.params,
                    buffers: &buffers,
                };
                Ok(describe(&self.entry.ptx, &self.entry.name, &facts))
            })?;
        Ok(described.flatten().unwrap_or_else(nothing))
    }
}
