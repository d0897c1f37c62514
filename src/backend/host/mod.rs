//! The host device: device memory and the execution of PTX on the CPU.

pub(crate) mod interp;
pub(crate) mod memory;
