//! The kernel around a random body. Also a part of `tests/fuzz`.

/// What a module begins with.
pub const HEADER: &str = ".version 8.7\n.target sm_90\n.address_size 64\n";

/// Registers that compilers' instructions name.
const REGISTERS: &str = ".reg .pred %p<200>; .reg .b16 %rs<200>; .reg .b32 %r<900>; .reg .b64 %rd<500>;\n\
                         .reg .f32 %f<900>; .reg .f64 %fd<200>;\n";

/// A kernel `k` of two buffers and a number whose body is `body`. Its first registers are set.
pub fn kernel(body: &str) -> String {
    format!(
        "{HEADER}.extern .shared .align 16 .b8 dynamic[];\n\
         .visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 k_param_2)\n{{\n{REGISTERS}\
         ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\n\
         mov.u32 %r1, %tid.x;\nmov.b32 %r2, dynamic;\nsetp.lt.u32 %p1, %r1, 7;\n$L0:\n{body}$L1:\nret;\n}}\n"
    )
}
