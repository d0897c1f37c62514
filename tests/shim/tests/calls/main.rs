//! What a program meets that loads this library as its CUDA driver. With `SCOPED_GPU_SHIM_LIBRARY` the same
//! expectations are held against a GPU's driver.

mod captures;
mod driver;
mod faults;
mod memory;
mod modules;
mod order;

/// Kernels of the tests: saxpy, one that stores to whatever address it is given, and a variable.
const PTX: &str = include_str!("kernels.ptx");
