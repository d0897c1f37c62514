//! Modules and kernels: loading PTX, declaring what a kernel takes, launching it.

mod argument;
mod dynamic;
mod launch;
mod module;
mod reads;
mod signature;
mod verdict;

pub use argument::{Argument, Arguments};
pub use dynamic::{Dynamic, DynamicArgument};
pub use launch::Launch;
pub(crate) use launch::queue;
pub use module::{Kernel, Module};
pub use signature::{Parameter, Read, ReadWrite, Signature, Write};
