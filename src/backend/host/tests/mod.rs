//! The host device against the contract: order and marks, faults and poison, hostile mode. Transfers are in
//! `transfers`. Modules here are stand-ins that do what a test wants; kernels have tests of their own.

mod faults;
mod hostile;
mod kernels;
mod order;
mod random;
mod transfers;

use std::borrow::Cow;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::memory::Memory;
use super::module::Module;
use super::*;
use crate::backend::{AccessRule, HostPointer, Place, Side};
use crate::dim::Dim3;
use crate::fault::{Fault, FaultKind};

fn device() -> HostBackend {
    HostBackend::new(HostOptions::new().memory_limit(1 << 24))
}

fn hostile(seed: u64) -> HostBackend {
    HostBackend::new(HostOptions::new().memory_limit(1 << 24).hostile(seed))
}

/// A side of one row.
fn flat(place: Place) -> Side {
    Side { place, pitch: 0, slice_pitch: 0 }
}

fn host_place(bytes: *mut u8) -> Place {
    Place::Host(HostPointer(NonNull::new(bytes).expect("an address in host memory")))
}

fn row_copy(dst: Place, src: Place, row_bytes: usize) -> Copy {
    Copy { dst: flat(dst), src: flat(src), row_bytes, rows: 1, slices: 1 }
}

fn queue(device: &HostBackend, stream: StreamId, copy: &Copy) {
    // SAFETY: each test names live memory and waits before it lets go of it.
    unsafe { device.copy(stream, copy) }.expect("queued");
}

/// Queues a fill of `len` bytes with one byte.
fn queue_fill(device: &HostBackend, stream: StreamId, address: u64, len: usize, byte: u8) -> Answer<()> {
    let fill = Fill {
        address,
        pitch: 0,
        slice_pitch: 0,
        row_bytes: len,
        rows: 1,
        slices: 1,
        element: smallvec![byte],
    };
    // SAFETY: each test names live memory.
    unsafe { device.fill(stream, &fill) }
}

/// Queues a copy between two device addresses.
fn queue_move(device: &HostBackend, stream: StreamId, to: u64, from: u64, len: usize) {
    queue(device, stream, &row_copy(Place::Device(to), Place::Device(from), len));
}

fn write(device: &HostBackend, address: u64, bytes: &[u8]) {
    let stream = device.create_stream().expect("a stream");
    let from = host_place(bytes.as_ptr().cast_mut());
    queue(device, stream, &row_copy(Place::Device(address), from, bytes.len()));
    device.wait_stream(stream).expect("written");
    device.destroy_stream(stream).expect("destroyed");
}

/// What is in device memory now, whatever is still queued.
fn read(device: &HostBackend, address: u64, len: usize) -> Vec<u8> {
    device.context().memory().bytes(address, len).expect("a live allocation").to_vec()
}

fn free(device: &HostBackend, address: u64) -> Answer<()> {
    // SAFETY: whatever the test frees here, this device recognises a wrong address.
    unsafe { device.free(address) }
}

/// A module whose kernels are made up: `fault` faults, `panic` panics, `bump` adds 1 to its first buffer's bytes.
struct StandIn;

impl Module for StandIn {
    fn name(&self) -> &str {
        "stand-in.ptx"
    }

    fn run(self: Arc<Self>, call: &LaunchCall<'_>, memory: &mut Memory) -> Result<(), Box<Fault>> {
        match &**call.kernel {
            "bump" => {
                let buffer = call.buffers.first().expect("a buffer");
                let bytes = memory.bytes_mut(buffer.address, buffer.bytes as usize).expect("live");
                bytes.iter_mut().for_each(|byte| *byte += 1);
                Ok(())
            }
            "panic" => panic!("kernel {} of {}", call.kernel, self.name()),
            kernel => {
                let message = format!("{kernel} fails");
                Err(Box::new(Fault::new(FaultKind::Assert { message }, self.name(), kernel)))
            }
        }
    }

    fn release(self: Arc<Self>, _memory: &mut Memory) {}
}

fn stand_in(device: &HostBackend) -> ModuleId {
    device.load_module(|_| Ok(Arc::new(StandIn))).expect("loaded")
}

#[track_caller]
fn launch(device: &HostBackend, stream: StreamId, module: ModuleId, kernel: &str, access: AccessRule) {
    try_launch(device, stream, module, kernel, access, SmallVec::new()).expect("queued");
}

#[track_caller]
fn try_launch(
    device: &HostBackend,
    stream: StreamId,
    module: ModuleId,
    kernel: &str,
    access: AccessRule,
    buffers: SmallVec<[crate::backend::LaunchBuffer; 4]>,
) -> Answer<()> {
    let call = LaunchCall {
        function: crate::backend::FunctionId(0),
        module,
        kernel: Cow::Owned(Arc::from(kernel)),
        grid: Dim3::from(1),
        block: Dim3::from(1),
        dynamic_shared: 0,
        params: SmallVec::new(),
        buffers,
        contents: Vec::new(),
        access,
        strict: false,
        max_steps: None,
        check_all: false,
        diagnose: false,
        counts: None,
        location: Location::caller(),
    };
    // SAFETY: the stand-in's kernels touch their buffers only.
    unsafe { device.launch(stream, &call) }
}
