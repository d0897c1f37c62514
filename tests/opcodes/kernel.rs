//! The kernel around a case: loads its registers from a buffer, runs its code, stores the results.

use std::fmt::Write as _;

use crate::format::{Case, Register};
use crate::values::Type;

/// Name of the kernel.
pub const NAME: &str = "opcode";

/// PTX of a module whose kernel takes the addresses of inputs, results and memory. Register `r` of thread `t` is the
/// 8 bytes at `(r * threads + t) * 8`.
pub fn text(case: &Case) -> String {
    let mut out = String::new();
    // The oldest versions that have the instructions of each target: a driver takes those up to its own.
    let version = if case.target == "sm_80" { "7.8" } else { "8.2" };
    let _ = writeln!(out, ".version {version}\n.target {}\n.address_size 64", case.target);
    for line in &case.module {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(out, ".visible .entry {NAME}(.param .u64 in, .param .u64 out, .param .u64 memory)\n{{");
    let _ = writeln!(out, "    .reg .b64 %mem, %in, %out;\n    .reg .b32 %index, %flag;");
    let mut declared: Vec<&str> = Vec::new();
    for Register { name, ty } in case.inputs.iter().chain(&case.outputs) {
        if declared.contains(&name.as_str()) {
            continue;
        }
        declared.push(name);
        let class = match ty {
            Type::Pred => ".pred".to_owned(),
            Type::F32 => ".f32".to_owned(),
            Type::F64 => ".f64".to_owned(),
            other => format!(".b{}", other.register()),
        };
        let _ = writeln!(out, "    .reg {class} %{name};");
    }
    out.push_str(
        "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    ld.param.u64 %mem, [memory];\n\
         \x20   cvta.to.global.u64 %in, %in;\n    cvta.to.global.u64 %out, %out;\n    cvta.to.global.u64 %mem, %mem;\n\
         \x20   {\n    .reg .b32 %block, %size, %thread;\n    .reg .b64 %offset;\n\
         \x20   mov.u32 %block, %ctaid.x;\n    mov.u32 %size, %ntid.x;\n    mov.u32 %thread, %tid.x;\n\
         \x20   mad.lo.u32 %index, %block, %size, %thread;\n    mul.wide.u32 %offset, %index, 8;\n\
         \x20   add.u64 %in, %in, %offset;\n    add.u64 %out, %out, %offset;\n    }\n",
    );
    let stride = case.all_threads() * 8;
    for (index, Register { name, ty }) in case.inputs.iter().enumerate() {
        let at = index * stride;
        let _ = match ty {
            Type::Pred => {
                writeln!(out, "    ld.global.b32 %flag, [%in+{at}];\n    setp.ne.u32 %{name}, %flag, 0;")
            }
            _ => writeln!(out, "    ld.global.b{} %{name}, [%in+{at}];", ty.register()),
        };
    }
    for line in &case.body {
        let _ = writeln!(out, "{line}");
    }
    for (index, Register { name, ty }) in case.outputs.iter().enumerate() {
        let at = index * stride;
        let _ = match ty {
            Type::Pred => {
                writeln!(out, "    selp.b32 %flag, 1, 0, %{name};\n    st.global.b32 [%out+{at}], %flag;")
            }
            _ => writeln!(out, "    st.global.b{} [%out+{at}], %{name};", ty.register()),
        };
    }
    out.push_str("    ret;\n}\n");
    out
}
