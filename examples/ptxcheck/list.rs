//! What is in a PTX file: kernels with their parameters, and what the host device does not execute.

use std::fmt::Write as _;

use scoped_gpu::ptx::LoadedPtx;
use scoped_gpu::ptx::ir::{CallTarget, Function, Op};

/// The listing, whole.
pub fn listing(ptx: &LoadedPtx) -> String {
    let module = ptx.module();
    let (major, minor) = module.version;
    let mut out = format!(
        "{}: PTX {major}.{minor} for {}, {}-bit addresses\n",
        ptx.source().name(),
        module.target.arch,
        module.address_size
    );
    for kernel in ptx.kernels() {
        _ = writeln!(out, "\nkernel {}", kernel.name);
        let width = kernel.parameters.iter().map(|p| p.name.len()).max().unwrap_or_default();
        for (index, parameter) in kernel.parameters.iter().enumerate() {
            let may_be = if parameter.kind.may_be_pointer() { ", an array or a number" } else { "" };
            _ = writeln!(
                out,
                "  {index:>2}  {:width$}  {}, {} bytes{may_be}",
                parameter.name, parameter.kind, parameter.size
            );
        }
        let shared = ptx.static_shared_bytes(&kernel.name);
        if shared > 0 {
            _ = writeln!(out, "  {shared} bytes of shared memory");
        }
    }
    let missing = not_supported(ptx);
    if missing.is_empty() {
        out.push_str("\nthe host device executes all of it\n");
    } else {
        out.push_str("\nnot supported by the host device; reaching one is a fault\n");
        missing.iter().for_each(|line| _ = writeln!(out, "  {line}"));
    }
    out
}

/// One line for each instruction or declaration that the host device does not execute, in the order of the text.
fn not_supported(ptx: &LoadedPtx) -> Vec<String> {
    let module = ptx.module();
    let mut found = Vec::new();
    for function in &module.functions {
        let mut add = |line: u32, what: &str| {
            found.push((line, format!("line {line}: {what} (in `{}`)", function.name)));
        };
        if let Some(declaration) = &function.unsupported {
            add(declaration.line, &declaration.what);
        }
        for inst in &function.code {
            match &inst.op {
                Op::Unsupported(text) => add(inst.line, text),
                Op::Call(call) => {
                    if let CallTarget::Direct(id) = call.target
                        && let Some(Function { defined: false, name, .. }) =
                            module.functions.get(id.0 as usize)
                    {
                        add(inst.line, &format!("call of `{name}`, which the file only declares"));
                    }
                }
                _ => {}
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, text)| text).collect()
}
