//! Whole kernels through the interpreter: PTX text in, memory out. What one instruction computes is tested beside
//! its function; here it is about warps, blocks, memory and faults.

mod by_value;
mod common;
mod corpus;
mod divergence;
mod faults;
mod matrices;
mod numba;
mod order;
mod rewritten;
mod snippets;
mod strict;

use std::sync::Arc;

use super::{AccessRule, Instance, LaunchBuffer, LaunchRequest, Program, Statistics, run};
use crate::backend::host::memory::Memory;
use crate::dim::Dim3;
use crate::fault::Fault;
use crate::ptx;
use crate::ptx::source::Source;

/// A device with one module, and what the kernels printed.
struct Rig {
    memory: Memory,
    instance: Arc<Instance>,
    printed: String,
    strict: bool,
    statistics: bool,
    max_steps: Option<u64>,
    access: AccessRule,
}

/// An argument of a launch.
#[derive(Clone, Copy)]
enum Arg {
    U32(u32),
    U64(u64),
    F32(f32),
    /// A buffer to read.
    In(u64),
    /// A buffer to write.
    Out(u64),
}

impl Rig {
    fn new(name: &str, text: &str) -> Self {
        let source = Source::new(name, text).unwrap();
        let ast = ptx::parse(&source).unwrap_or_else(|error| panic!("{}", error.render(&source)));
        let module = ptx::lower(&ast, &source).unwrap_or_else(|error| panic!("{}", error.render(&source)));
        ptx::verify(&module).unwrap();
        let program = Arc::new(Program::new(Arc::new(module), Arc::new(source.clone())));
        let mut memory = Memory::new(1 << 30);
        let instance = Arc::new(program.instantiate(&mut memory).unwrap());
        Self {
            memory,
            instance,
            printed: String::new(),
            strict: false,
            statistics: false,
            max_steps: Some(50_000_000),
            access: AccessRule::Buffers,
        }
    }

    /// A kernel `k` with the parameters `params` and this body.
    fn kernel(params: &str, body: &str) -> Self {
        Self::new("test.ptx", &module(&format!(".visible .entry k({params})\n{{\n{body}\n}}")))
    }

    fn upload<T: bytemuck::Pod>(&mut self, values: &[T]) -> u64 {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let address = self.memory.allocate(bytes.len(), 0).unwrap();
        self.memory.bytes_mut(address, bytes.len()).unwrap().copy_from_slice(bytes);
        address
    }

    fn download<T: bytemuck::Pod>(&self, address: u64) -> Vec<T> {
        let (base, len) = self.memory.allocation_near(address).unwrap();
        bytemuck::pod_collect_to_vec(self.memory.bytes(base, len as usize).unwrap())
    }

    fn launch(
        &mut self,
        kernel: &str,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        shared: u32,
        args: &[Arg],
    ) -> Result<Statistics, Box<Fault>> {
        let module = Arc::clone(&self.instance.program().module);
        let (id, function) = module.function(kernel).unwrap();
        assert_eq!(function.params.len(), args.len(), "{kernel}");
        let mut params = vec![0; function.param_bytes as usize];
        let mut buffers = Vec::new();
        for (index, (param, arg)) in function.params.iter().zip(args).enumerate() {
            let bytes = match *arg {
                Arg::U32(v) => v.to_le_bytes().to_vec(),
                Arg::U64(v) => v.to_le_bytes().to_vec(),
                Arg::F32(v) => v.to_le_bytes().to_vec(),
                Arg::In(address) | Arg::Out(address) => {
                    if let Some((base, bytes)) = self.memory.allocation_near(address) {
                        let writable = matches!(arg, Arg::Out(_));
                        buffers.push(LaunchBuffer { argument: index, address: base, bytes, writable });
                    }
                    address.to_le_bytes().to_vec()
                }
            };
            assert_eq!(bytes.len(), param.size as usize, "argument {index} of {kernel}");
            params[param.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        let request = LaunchRequest {
            instance: Arc::clone(&self.instance),
            kernel: id,
            grid: grid.into(),
            block: block.into(),
            dynamic_shared: shared,
            params,
            buffers,
            access: self.access,
            strict: self.strict,
            statistics: self.statistics,
            max_steps: self.max_steps,
        };
        run(&mut self.memory, &request, &mut |text| self.printed.push_str(text))
    }
}

/// A module for the newest target, with this text.
fn module(text: &str) -> String {
    format!(".version 8.5\n.target sm_90\n.address_size 64\n{text}\n")
}

/// Runs `body` in one block of `threads` threads: `%r0` is the thread's number, `%rd0` an address of 8 bytes of its
/// own that is returned. Registers `%r`, `%rd`, `%f`, `%fd`, `%h`, `%p` are declared.
fn run_body(threads: u32, body: &str) -> Vec<u64> {
    let mut fast = body_rig(body);
    let mut slow = body_rig(body);
    slow.statistics = true;
    let [quick, thorough] = [&mut fast, &mut slow].map(|rig| {
        let out = rig.upload(&vec![0_u64; threads as usize]);
        rig.launch("k", 1, threads, 0, &[Arg::Out(out)]).unwrap_or_else(|fault| panic!("{fault}"));
        rig.download::<u64>(out)
    });
    assert_eq!(quick, thorough, "the fast loop and the complete executor differ on {body}");
    quick
}

fn body_rig(body: &str) -> Rig {
    let prologue = ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<20>; .reg .b64 %rd<20>;\n\
                    .reg .f32 %f<20>; .reg .f64 %fd<20>; .reg .b64 %tmp<3>;\n\
                    ld.param.u64 %tmp0, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %tmp1, %r0, 8;\n\
                    add.u64 %rd0, %tmp0, %tmp1;\n";
    Rig::kernel(".param .u64 out", &format!("{prologue}{body}\nret;"))
}
