//! The peers: `cust` for launches, the driver's own functions for copies and memory.
//!
//! They work in the context that is current, which inside of a scope is the scope's: between two contexts the device would
//! switch, which takes longer than a small copy.

use std::ffi::c_void;
use std::ptr;

use anyhow::Result;
use cust::function::Function;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust::{launch, sys};

use crate::checked;

/// A stream, the kernel and what it works on.
pub struct Raw {
    buffers: [DeviceBuffer<f32>; 3],
    stream: Stream,
    module: Module,
}

impl Raw {
    pub fn open() -> Result<Self> {
        let module = Module::from_ptx(scoped_gpu::kernels::ADD, &[])?;
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
        let zeros = || DeviceBuffer::from_slice(&[0.0_f32; 32]);
        let buffers = [zeros()?, zeros()?, zeros()?];
        Ok(Self { buffers, stream, module })
    }

    pub fn synchronize(&self) -> Result<()> {
        Ok(self.stream.synchronize()?)
    }

    /// So many launches through `cust`, the kernel looked up once.
    pub fn launches(&self, count: u32) -> Result<()> {
        let add: Function<'_> = self.module.get_function("add")?;
        let [a, b, c] = &self.buffers;
        let stream = &self.stream;
        for _ in 0..count {
            // SAFETY: the kernel compares its index with the length, which is 32, as long as the buffers are.
            unsafe {
                launch!(add<<<1, 32, 0, stream>>>(
                    a.as_device_ptr(), b.as_device_ptr(), c.as_device_ptr(), 32_u32
                ))
            }?;
        }
        Ok(())
    }

    pub fn pinned(&self, bytes: usize) -> Result<*mut u8> {
        let mut host: *mut c_void = ptr::null_mut();
        // SAFETY: `host` is a place for the answer, the context is current.
        checked("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&mut host, bytes, 0) })?;
        let host = host.cast::<u8>();
        let contents: Vec<u8> = (0..bytes).map(|index| (index * 31 % 251) as u8).collect();
        // SAFETY: the driver gave `bytes` bytes from `host` on, and the vector has as many.
        unsafe { ptr::copy_nonoverlapping(contents.as_ptr(), host, bytes) };
        Ok(host)
    }

    pub fn allocate(&self, bytes: usize) -> Result<u64> {
        let mut address = 0;
        // SAFETY: `address` is a place for the answer, the context is current.
        checked("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&mut address, bytes) })?;
        Ok(address)
    }

    pub fn free(&self, host: *mut u8, device: u64) -> Result<()> {
        // SAFETY: both came from `pinned` and `allocate`, and nothing uses them any more.
        checked("cuMemFreeHost", unsafe { sys::cuMemFreeHost(host.cast()) })?;
        // SAFETY: as above.
        checked("cuMemFree", unsafe { sys::cuMemFree_v2(device) })
    }

    pub fn release(&self, device: u64) -> Result<()> {
        // SAFETY: it came from `allocate`, and nothing uses it any more.
        checked("cuMemFree", unsafe { sys::cuMemFree_v2(device) })
    }

    /// Copies ordinary memory to device memory that has room for it, and waits.
    pub fn copy_to_device(&self, device: u64, host: &[u8]) -> Result<()> {
        // SAFETY: both sides have this many bytes; the call returns when `host` was read.
        checked("copy", unsafe { sys::cuMemcpyHtoD_v2(device, host.as_ptr().cast(), host.len()) })
    }

    /// Waits for everything in this context: `copy_to_device` may return before the device has the bytes.
    pub fn settle(&self) -> Result<()> {
        // SAFETY: nothing is passed.
        checked("wait", unsafe { sys::cuCtxSynchronize() })
    }

    /// Copies device memory of at least as many bytes to ordinary memory, and waits.
    pub fn copy_to_host(&self, host: &mut [u8], device: u64) -> Result<()> {
        // SAFETY: as above.
        checked("copy", unsafe { sys::cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), device, host.len()) })
    }

    pub fn allocate_and_free(&self, bytes: usize) -> Result<()> {
        let mut address = 0;
        // SAFETY: `address` is a place for the answer, the context is current.
        checked("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&mut address, bytes) })?;
        // SAFETY: allocated just now, used by nobody.
        checked("cuMemFree", unsafe { sys::cuMemFree_v2(address) })
    }

    pub fn copies_to_device(&self, device: u64, host: *mut u8, bytes: usize, count: u32) -> Result<()> {
        let stream = self.stream.as_inner();
        for _ in 0..count {
            // SAFETY: both sides have `bytes` bytes and stay until the wait below.
            checked("copy", unsafe { sys::cuMemcpyHtoDAsync_v2(device, host.cast(), bytes, stream) })?;
        }
        self.synchronize()
    }

    /// Copies back, each to a place of its own.
    pub fn copies_to_host(&self, host: *mut u8, device: u64, bytes: usize, count: u32) -> Result<()> {
        let stream = self.stream.as_inner();
        for index in 0..count as usize {
            // SAFETY: `pinned` gave memory for `count` copies.
            let to = unsafe { host.add(index * bytes) };
            // SAFETY: both sides have `bytes` bytes and stay until the wait below.
            checked("copy", unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), device, bytes, stream) })?;
        }
        self.synchronize()
    }
}
