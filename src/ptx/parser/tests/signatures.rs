//! Parameters of kernels and their places, after the rules of C structures.

use super::{module, parsed, source};
use crate::ptx::ast::{Space, Type};
use crate::ptx::signature::{KernelSignature, MAX_PARAMETER_BYTES, ParameterKind};

fn signature(parameters: &str) -> KernelSignature {
    let source = module(&format!(".visible .entry k({parameters}) {{ ret; }}"));
    KernelSignature::all(&parsed(&source)).unwrap().remove(0)
}

fn refused(parameters: &str) -> String {
    let source = module(&format!(".visible .entry k({parameters}) {{ ret; }}"));
    KernelSignature::all(&parsed(&source)).unwrap_err().message
}

#[test]
fn each_parameter_stands_at_its_own_alignment() {
    let k = signature(
        ".param .u8 a, .param .u32 b, .param .u8 c, .param .f64 d, .param .u16 e, .param .align 16 .b8 f[20], .param .b8 g",
    );
    let places: Vec<_> = k.parameters.iter().map(|p| (p.offset, p.size, p.align)).collect();
    assert_eq!(places, [(0, 1, 1), (4, 4, 4), (8, 1, 1), (16, 8, 8), (24, 2, 2), (32, 20, 16), (52, 1, 1)]);
    assert_eq!(k.bytes, 53);
    assert_eq!(k.to_string(), "k(u8, u32, u8, f64, u16, b8[20], b8)");
}

#[test]
fn integers_as_wide_as_an_address_may_be_pointers() {
    let k = signature(
        ".param .u64 a, .param .b64 b, .param .s64 c, .param .u32 d, .param .b32 e, .param .u64 .ptr .global .align 4 f, .param .u64 .ptr g",
    );
    let kinds: Vec<_> = k.parameters.iter().map(|p| p.kind).collect();
    assert_eq!(
        kinds,
        [
            ParameterKind::IntegerOrPointer(Type::U64),
            ParameterKind::IntegerOrPointer(Type::B64),
            ParameterKind::Integer(Type::S64),
            ParameterKind::Integer(Type::U32),
            ParameterKind::Bits(Type::B32),
            ParameterKind::Pointer { space: Some(Space::Global), align: Some(4) },
            ParameterKind::Pointer { space: None, align: None },
        ]
    );
    let pointers: Vec<_> = kinds.iter().map(|kind| kind.may_be_pointer()).collect();
    assert_eq!(pointers, [true, true, false, false, false, true, true]);
    assert_eq!(k.to_string(), "k(u64, b64, s64, u32, b32, ptr global, ptr)");
    assert!(
        k.parameters
            .iter()
            .all(|p| p.kind != ParameterKind::Pointer { space: None, align: None } || p.size == 8)
    );
}

#[test]
fn a_32_bit_module_has_32_bit_pointers() {
    let source = source(".version 9.0 .target sm_90 .entry k(.param .u32 p, .param .u64 n) { ret; }");
    let k = KernelSignature::all(&parsed(&source)).unwrap().remove(0);
    assert!(k.parameters[0].kind.may_be_pointer() && !k.parameters[1].kind.may_be_pointer());
}

#[test]
fn kernels_without_parameters_and_device_functions() {
    let source = module(".func f(.reg .b32 a) { ret; } .entry k { ret; } .extern .entry l();");
    let all = KernelSignature::all(&parsed(&source)).unwrap();
    assert_eq!(all.iter().map(ToString::to_string).collect::<Vec<_>>(), ["k()", "l()"]);
    assert_eq!(all[0].bytes, 0);
}

#[test]
fn dimensions_and_vectors_multiply() {
    let k = signature(".param .f32 m[3][4], .param .v4 .f32 v, .param .u64 z[0], .param .texref t");
    let sizes: Vec<_> = k.parameters.iter().map(|p| (p.kind, p.size, p.align)).collect();
    assert_eq!(
        sizes,
        [
            (ParameterKind::Array(Type::F32, 12), 48, 4),
            (ParameterKind::Array(Type::F32, 4), 16, 16),
            (ParameterKind::Array(Type::U64, 0), 0, 8),
            (ParameterKind::Handle(Type::TexRef), 8, 8),
        ]
    );
}

#[test]
fn parameters_without_a_place_are_refused_by_name() {
    assert_eq!(refused(".param .b8 x[]"), "kernel `k`: parameter `x` is an array without a size");
    assert_eq!(
        refused(".param .pred x"),
        "kernel `k`: parameter `x` is a predicate, which has no place in memory"
    );
    assert_eq!(
        refused(".reg .b32 x"),
        "kernel `k`: parameter `x` is a register, which only a device function can take"
    );
    assert_eq!(
        refused(".param .b32 a, .param .b8 x[32761]"),
        "kernel `k`: parameter `x` of 32761 bytes at offset 4 ends beyond the 32764 bytes a kernel can take"
    );
    assert!(refused(".param .b64 x[0xFFFFFFFFFFFFFFFF][0xFFFFFFFFFFFFFFFF]").contains("ends beyond"));
    assert_eq!(signature(".param .b32 a, .param .b8 x[32760]").bytes, MAX_PARAMETER_BYTES);
}
