//! Modules and their functions: loading with a log, and what is known of a kernel.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::backend::{AccessRule, Backend, HostPointer, LaunchCall, ModuleId, Place};
use crate::backend_calls;
use crate::codes::{self, Answer, Code};
use crate::context::Context;
use crate::dim::Dim3;
use crate::process::lock;
use crate::ptx::LoadedPtx;
use crate::ptx::ir::Space;
use crate::ptx::source::Source;
use crate::stream::{Operation, flat};

/// The newest PTX that a CUDA 13.0 driver reads.
const NEWEST_PTX: (u32, u32) = (9, 0);
/// A kernel that is added to each module with variables and stores their addresses: the host device does not tell them
/// otherwise.
const ADDRESSES: &str = "__scoped_gpu_shim_addresses";

/// A loaded module.
#[derive(Debug)]
pub struct Module {
    pub id: ModuleId,
    pub ptx: Arc<LoadedPtx>,
    /// Bytes of its code, for which its text stands, and of its variables.
    pub bytes: u64,
    /// Address and length of each variable.
    pub variables: HashMap<String, (u64, u64)>,
}

/// A kernel of a module.
#[derive(Debug)]
pub struct Function {
    pub module: Arc<Module>,
    pub name: Arc<str>,
    /// The most dynamic shared memory of a launch, in bytes, once it was set.
    pub dynamic_limit: OnceLock<AtomicU32>,
}

impl Function {
    pub fn static_shared(&self) -> u32 {
        self.module.ptx.static_shared_bytes(&self.name)
    }

    /// The most dynamic shared memory of a launch, in bytes.
    pub fn most_dynamic(&self, without_opting_in: u32) -> u32 {
        let unset = without_opting_in.saturating_sub(self.static_shared());
        self.dynamic_limit.get().map_or(unset, |limit| limit.load(Ordering::Relaxed))
    }
}

/// Loads a module; what is wrong with its text goes to `log`.
pub fn load(context: &Context, text: &str, log: &mut String) -> Answer<Arc<Module>> {
    if let Some((major, minor)) = version(text).filter(|&version| version > NEWEST_PTX) {
        let (newest, point) = NEWEST_PTX;
        *log = format!("PTX .version {major}.{minor}: this driver reads PTX up to {newest}.{point}");
        return Err(Code::UNSUPPORTED_PTX_VERSION);
    }
    let read = LoadedPtx::read("ptx", text).map_err(|message| {
        *log = message;
        Code::INVALID_PTX
    })?;
    let names = variable_names(&read);
    let mut ptx = read;
    let mut named = Vec::new();
    if !names.is_empty()
        && let Ok(with_addresses) = LoadedPtx::read("ptx", &format!("{text}\n{}", address_kernel(&names)))
    {
        (ptx, named) = (with_addresses, names);
    }
    let variables = ptx.module().variables.iter();
    let in_memory = variables.filter(|variable| matches!(variable.space, Space::Global | Space::Const));
    let bytes = text.len() as u64 + in_memory.map(|variable| variable.size).sum::<u64>();
    lock(&context.memory).take(bytes)?;
    let ptx = Arc::new(ptx);
    let loaded = context.backend.load(&ptx).map_err(|error| codes::of_error(&error));
    let id = loaded.inspect_err(|_| lock(&context.memory).give_back(bytes))?;
    let addresses = addresses(context, id, named.len())?;
    let mut found = HashMap::new();
    for (name, address) in named.into_iter().zip(addresses) {
        let size = ptx.module().variables.iter().find(|variable| variable.name == name).map_or(0, |v| v.size);
        lock(&context.memory).add(address, size);
        found.insert(name, (address, size));
    }
    Ok(Arc::new(Module { id, ptx, bytes, variables: found }))
}

/// What stands behind `.version`, before anything else is asked of the text.
fn version(text: &str) -> Option<(u32, u32)> {
    let at = text.lines().find_map(|line| line.trim_start().strip_prefix(".version"))?;
    let (major, minor) = at.split_whitespace().next()?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The module's own variables in memory; those declared in functions have no name outside.
fn variable_names(read: &LoadedPtx) -> Vec<String> {
    let source: &Source = read.source();
    let Ok(syntax) = crate::ptx::parse(source) else { return Vec::new() };
    let places = &read.module().variables;
    let names = syntax.variables().filter_map(|variable| {
        let name = variable.name.text;
        let here = places.iter().find(|place| place.name == name && place.size > 0)?;
        matches!(here.space, Space::Global | Space::Const).then(|| name.to_owned())
    });
    names.collect()
}

fn address_kernel(names: &[String]) -> String {
    let mut text = format!(
        ".visible .entry {ADDRESSES}(.param .u64 {ADDRESSES}_0)\n{{\n.reg .b64 %shim<2>;\n\
         ld.param.u64 %shim0, [{ADDRESSES}_0];\n"
    );
    for (index, name) in names.iter().enumerate() {
        text.push_str(&format!("mov.u64 %shim1, {name};\nst.global.u64 [%shim0+{}], %shim1;\n", 8 * index));
    }
    text + "ret;\n}\n"
}

/// Runs the kernel that stores the addresses of `count` variables.
fn addresses(context: &Context, id: ModuleId, count: usize) -> Answer<Vec<u64>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let code = |error| codes::of_error(&error);
    let backend = &*context.backend;
    let buffer = backend.allocate(8 * count).map_err(code)?;
    let stream = backend.create_stream().map_err(code)?;
    let one = Dim3::new(1, 1, 1);
    let call = call(id, ADDRESSES.into(), one, one, 0, SmallVec::from_slice(&buffer.to_ne_bytes()));
    let mut bytes = vec![0_u8; 8 * count];
    let host = HostPointer(std::ptr::NonNull::from(bytes.as_mut_slice()).cast());
    let (dst, src) = (flat(Place::Host(host)), flat(Place::Device(buffer)));
    let copy = crate::backend::Copy { dst, src, row_bytes: 8 * count, rows: 1, slices: 1 };
    let done = backend_calls::launch(backend, stream, call)
        .and_then(|()| backend_calls::copy(backend, stream, &copy))
        .and_then(|()| backend.destroy_stream(stream))
        .and_then(|()| backend_calls::free(backend, buffer));
    done.map_err(code)?;
    Ok(bytes.as_chunks().0.iter().map(|&word| u64::from_ne_bytes(word)).collect())
}

fn call(
    module: ModuleId,
    kernel: Arc<str>,
    grid: Dim3,
    block: Dim3,
    dynamic_shared: u32,
    params: SmallVec<[u8; 64]>,
) -> LaunchCall<'static> {
    LaunchCall {
        function: crate::backend::FunctionId(0),
        module,
        kernel: Cow::Owned(kernel),
        grid,
        block,
        dynamic_shared,
        params,
        buffers: SmallVec::new(),
        contents: Vec::new(),
        access: AccessRule::Unchecked,
        strict: false,
        max_steps: None,
        check_all: false,
        diagnose: false,
        counts: None,
        location: std::panic::Location::caller(),
    }
}

/// A launch of `function`, for a stream.
pub fn launch(
    function: &Function,
    grid: Dim3,
    block: Dim3,
    dynamic_shared: u32,
    params: SmallVec<[u8; 64]>,
) -> Operation {
    let name = Arc::clone(&function.name);
    Operation::Launch(Box::new(call(function.module.id, name, grid, block, dynamic_shared, params)))
}
