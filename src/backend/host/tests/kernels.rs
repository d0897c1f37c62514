//! Launches of real kernels through the contract: queue, interpreter, fault, and what a module holds.

use super::*;
use crate::backend::LaunchBuffer;
use crate::fault::Fault;
use crate::ptx::LoadedPtx;

const SAXPY: &str = include_str!("../../../../ptx/saxpy.ptx");
const SHIFT: &str = include_str!("../../../../ptx/shift_off_by_one.ptx");

fn load(device: &HostBackend, name: &str, text: &str) -> ModuleId {
    let ptx = LoadedPtx::read(name, text).expect("PTX");
    device.load(&Arc::new(ptx)).expect("loaded")
}

/// A parameter block: each value at the next multiple of its size.
#[derive(Default)]
struct Params(SmallVec<[u8; 64]>);

impl Params {
    fn with<const N: usize>(mut self, value: [u8; N]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(N), 0);
        self.0.extend_from_slice(&value);
        self
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

fn buffer(argument: usize, address: u64, bytes: u64, writable: bool) -> LaunchBuffer {
    LaunchBuffer { argument, address, bytes, writable }
}

/// A launch of 2 blocks of 64 threads.
#[track_caller]
fn call(
    module: ModuleId,
    kernel: &str,
    params: Params,
    buffers: &[LaunchBuffer],
    access: AccessRule,
) -> LaunchCall<'static> {
    LaunchCall {
        function: crate::backend::FunctionId(0),
        module,
        kernel: Cow::Owned(Arc::from(kernel)),
        grid: Dim3::from(2),
        block: Dim3::from(64),
        dynamic_shared: 0,
        params: params.0,
        buffers: SmallVec::from_slice(buffers),
        contents: Vec::new(),
        access,
        strict: false,
        max_steps: None,
        check_all: false,
        diagnose: false,
        counts: None,
        location: Location::caller(),
    }
}

fn queue_launch(device: &HostBackend, stream: StreamId, call: LaunchCall<'static>) {
    // SAFETY: each test gives buffers that are live, and on this device a kernel reaches device memory alone.
    unsafe { device.launch(stream, &call) }.expect("queued");
}

#[test]
fn a_kernel_runs_between_the_operations_around_it() {
    let device = device();
    let module = load(&device, "saxpy.ptx", SAXPY);
    let stream = device.create_stream().unwrap();
    let (x, y) = (device.allocate(400).unwrap(), device.allocate(400).unwrap());
    let input: Vec<u8> = (0..100).flat_map(|n| (n as f32).to_le_bytes()).collect();
    let mut output = [0_u8; 400];
    queue(&device, stream, &row_copy(Place::Device(x), host_place(input.as_ptr().cast_mut()), 400));
    queue_move(&device, stream, y, x, 400);
    let params = Params::default().with(2_f32.to_le_bytes()).with(x.to_le_bytes()).with(y.to_le_bytes());
    let params = params.with(90_u32.to_le_bytes());
    let buffers = [buffer(1, x, 400, false), buffer(2, y, 400, true)];
    queue_launch(&device, stream, call(module, "saxpy", params, &buffers, AccessRule::Checked));
    queue(&device, stream, &row_copy(host_place(output.as_mut_ptr()), Place::Device(y), 400));
    assert_eq!(output, [0; 400]);
    device.wait_stream(stream).unwrap();
    let expected: Vec<f32> = (0..100).map(|n| n as f32 * if n < 90 { 3.0 } else { 1.0 }).collect();
    assert_eq!(floats(&output), expected);
}

/// Launches the kernel that stores one element past its output, on 128 elements; returns the fault.
fn off_by_one(device: &HostBackend, access: AccessRule) -> (Box<Fault>, u32) {
    let module = load(device, "shift_off_by_one.ptx", SHIFT);
    let stream = device.create_stream().unwrap();
    let (x, y) = (device.allocate(512).unwrap(), device.allocate(512).unwrap());
    let params = Params::default().with(x.to_le_bytes()).with(y.to_le_bytes()).with(128_u32.to_le_bytes());
    let buffers = [buffer(0, x, 512, false), buffer(1, y, 512, true)];
    let line = line!() + 1;
    queue_launch(device, stream, call(module, "shift_off_by_one", params, &buffers, access));
    match device.wait_stream(stream) {
        Err(ErrorKind::Fault(fault)) => (fault, line),
        other => panic!("expected a fault, got {other:?}"),
    }
}

#[test]
fn a_checked_store_outside_is_a_contained_fault_with_the_launchs_line() {
    let device = device();
    let (fault, line) = off_by_one(&device, AccessRule::Checked);
    assert!(fault.contained);
    assert_eq!(fault.kind, FaultKind::OutOfRange);
    assert_eq!(fault.module, "shift_off_by_one.ptx");
    assert_eq!(fault.launched_at.map(|at| (at.file(), at.line())), Some((file!(), line)));
    let site = fault.site.expect("a site");
    assert_eq!((site.block, site.thread), ([1, 0, 0], [63, 0, 0]));
    let meant = fault.buffer.expect("a buffer");
    assert_eq!((meant.argument, meant.bytes, meant.offset), (Some(1), 512, 512));
    // the device goes on
    device.allocate(1).unwrap();
}

#[test]
fn an_unchecked_store_outside_ends_the_context_and_a_reset_begins_another() {
    let device = device();
    let (fault, _) = off_by_one(&device, AccessRule::Unchecked);
    assert!(!fault.contained);
    assert!(matches!(device.allocate(1), Err(ErrorKind::Poisoned { .. })));
    device.reset();
    let (fault, _) = off_by_one(&device, AccessRule::Checked);
    assert!(fault.contained);
}

#[test]
fn a_modules_variables_live_as_long_as_it_is_loaded() {
    let text = "\
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .b8 table[8] = {1, 2, 3, 4};
.visible .entry take(.param .u64 to) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.global.u32 %r1, [table];
    st.global.u32 [%rd1], %r1;
    ret;
}
";
    let device = device();
    let module = load(&device, "table.ptx", text);
    assert_eq!(device.statistics().allocations, 1);
    let stream = device.create_stream().unwrap();
    let a = device.allocate(4).unwrap();
    let params = Params::default().with(a.to_le_bytes());
    let launch = call(module, "take", params, &[buffer(0, a, 4, true)], AccessRule::Checked);
    queue_launch(&device, stream, launch);
    device.wait_stream(stream).unwrap();
    assert_eq!(read(&device, a, 4), [1, 2, 3, 4]);
    device.unload(module).unwrap();
    assert_eq!(device.statistics().allocations, 1, "the variable is gone, the buffer is not");
    free(&device, a).unwrap();
    assert!(matches!(device.unload(module), Err(ErrorKind::Foreign { .. })));
}

#[test]
fn a_module_whose_variables_do_not_fit_leaves_nothing_behind() {
    let text = "\
.version 8.0
.target sm_80
.address_size 64
.global .b8 small[100];
.global .b8 large[1000];
";
    let device = HostBackend::new(HostOptions::new().memory_limit(1000));
    let ptx = LoadedPtx::read("large.ptx", text).expect("PTX");
    let refused = device.load(&Arc::new(ptx));
    assert!(matches!(refused, Err(ErrorKind::OutOfMemory { asked: 1000, .. })), "{refused:?}");
    assert_eq!(device.statistics().allocations, 0);
}
