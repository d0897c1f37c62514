//! Floating point, comparison and conversion: every modifier arrives in the representation.

use super::{becomes, is_unsupported};

#[test]
fn a_bare_add_may_be_contracted_and_one_with_rounding_may_not() {
    becomes(&[
        ("add.f32 %r0, %r1, %r2;", "add.f32 r0, r1, r2"),
        ("add.rn.f32 %r0, %r1, %r2;", "add.rn.f32 r0, r1, r2"),
        ("mul.rz.ftz.sat.f32 %r0, %r1, %r2;", "mul.rz.ftz.sat.f32 r0, r1, r2"),
        ("sub.rm.f64 %rd0, %rd1, %rd2;", "sub.rm.f64 d0, d1, d2"),
        ("add.rn.f32x2 %rd0, %rd1, %rd2;", "add.rn.f32x2 d0, d1, d2"),
        ("mul.rn.f16x2 %r0, %r1, %r2;", "mul.rn.f16x2 r0, r1, r2"),
        ("add.rn.bf16 %rs0, %rs1, %rs2;", "add.rn.bf16 h16, h17, h18"),
        ("add.rn.f32.f16 %r0, %rs1, %r2;", "add.rn.f32.f16 r0, h17, r2"),
    ]);
}

#[test]
fn modifiers_may_come_in_any_order() {
    becomes(&[
        ("add.ftz.rn.f32 %r0, %r1, %r2;", "add.rn.ftz.f32 r0, r1, r2"),
        ("fma.sat.rn.f32.ftz %r0, %r1, %r2, %r3;", "fma.rn.ftz.sat.f32 r0, r1, r2, r3"),
        ("setp.f32.ltu.ftz %p0, %r1, %r2;", "setp.ltu.ftz.f32 p0, r1, r2"),
    ]);
}

#[test]
fn fused_multiply_add_keeps_rounding_relu_and_narrow_inputs() {
    becomes(&[
        ("fma.rp.f64 %rd0, %rd1, %rd2, %rd3;", "fma.rp.f64 d0, d1, d2, d3"),
        ("fma.rn.relu.f16x2 %r0, %r1, %r2, %r3;", "fma.rn.relu.f16x2 r0, r1, r2, r3"),
        ("fma.rn.f32.bf16 %r0, %rs1, %rs2, %r3;", "fma.rn.f32.bf16 r0, h17, h18, r3"),
        ("mad.rn.f32 %r0, %r1, %r2, 0f3F800000;", "fma.rn.f32 r0, r1, r2, 0x3f800000"),
    ]);
}

#[test]
fn division_and_functions_say_how_exact_they_are() {
    becomes(&[
        ("div.approx.ftz.f32 %r0, %r1, %r2;", "div.approx.ftz.f32 r0, r1, r2"),
        ("div.full.f32 %r0, %r1, %r2;", "div.full.f32 r0, r1, r2"),
        ("div.rn.f64 %rd0, %rd1, %rd2;", "div.rn.f64 d0, d1, d2"),
        ("rcp.rn.f32 %r0, %r1;", "rcp.rn.f32 r0, r1"),
        ("rcp.approx.ftz.f64 %rd0, %rd1;", "rcp.approx.ftz.f64 d0, d1"),
        ("sqrt.approx.f32 %r0, %r1;", "sqrt.approx.f32 r0, r1"),
        ("rsqrt.approx.f64 %rd0, %rd1;", "rsqrt.approx.f64 d0, d1"),
        ("ex2.approx.ftz.bf16x2 %r0, %r1;", "ex2.approx.ftz.bf16x2 r0, r1"),
        ("lg2.approx.f32 %r0, %r1;", "lg2.approx.f32 r0, r1"),
        ("sin.approx.ftz.f32 %r0, %r1;", "sin.approx.ftz.f32 r0, r1"),
        ("tanh.approx.f16 %rs0, %rs1;", "tanh.approx.f16 h16, h17"),
    ]);
}

#[test]
fn min_and_max_keep_nan_and_xorsign_and_take_three() {
    becomes(&[
        ("min.f32 %r0, %r1, %r2;", "min.f32 r0, r1, r2"),
        ("max.NaN.f16x2 %r0, %r1, %r2;", "max.NaN.f16x2 r0, r1, r2"),
        ("min.ftz.NaN.xorsign.abs.f32 %r0, %r1, %r2;", "min.ftz.NaN.xorsign.abs.f32 r0, r1, r2"),
        ("max.NaN.abs.f32 %r0, %r1, %r2, %r3;", "max.NaN.abs.f32 r0, r1, r2, r3"),
        ("copysign.f64 %rd0, %rd1, %rd2;", "copysign.f64 d0, d1, d2"),
        ("neg.ftz.f32 %r0, %r1;", "neg.ftz.f32 r0, r1"),
        ("abs.bf16x2 %r0, %r1;", "abs.bf16x2 r0, r1"),
        ("testp.notanumber.f64 %p0, %rd1;", "testp.notanumber.f64 p0, d1"),
    ]);
}

#[test]
fn comparisons_keep_their_order_combination_and_both_results() {
    becomes(&[
        ("setp.lt.s32 %p0, %r1, %r2;", "setp.lt.s32 p0, r1, r2"),
        ("setp.lo.u64 %p0, %rd1, 5;", "setp.lo.u64 p0, d1, 0x5"),
        ("setp.geu.ftz.f32 %p0, %r1, %r2;", "setp.geu.ftz.f32 p0, r1, r2"),
        ("setp.nan.f64 %p0, %rd1, %rd1;", "setp.nan.f64 p0, d1, d1"),
        ("setp.eq.and.b16 %p0|%p1, %rs0, %rs1, !%p2;", "setp.eq.and.b16 p0|p1, h16, h17, !p2"),
        ("setp.gt.f16x2 %p0|%p1, %r1, %r2;", "setp.gt.f16x2 p0|p1, r1, r2"),
        ("setp.ne.s32 _|%p1, %r1, 0;", "setp.ne.s32 _|p1, r1, 0x0"),
        ("set.gt.u32.f32 %r0, %r1, %r2;", "set.gt.u32.f32 r0, r1, r2"),
        ("set.le.xor.f32.s64 %r0, %rd1, %rd2, %p3;", "set.le.xor.f32.s64 r0, d1, d2, p3"),
        ("set.eq.f16x2.f16x2 %r0, %r1, %r2;", "set.eq.f16x2.f16x2 r0, r1, r2"),
        ("selp.f64 %rd0, %rd1, 0d0000000000000000, %p0;", "selp d0, d1, 0x0, p0"),
        ("slct.ftz.u64.f32 %rd0, %rd1, %rd2, %r3;", "slct.ftz.f32 d0, d1, d2, r3"),
        ("slct.f32.s32 %r0, %r1, %r2, %r3;", "slct.s32 r0, r1, r2, r3"),
    ]);
}

#[test]
fn conversions_keep_both_types_rounding_and_saturation() {
    becomes(&[
        ("cvt.rn.f32.s32 %r0, %r1;", "cvt.rn.f32.s32 r0, r1"),
        ("cvt.rzi.ftz.s32.f32 %r0, %r1;", "cvt.rzi.ftz.s32.f32 r0, r1"),
        ("cvt.rmi.f64.f64 %rd0, %rd1;", "cvt.rmi.f64.f64 d0, d1"),
        ("cvt.sat.f32.f32 %r0, %r1;", "cvt.sat.f32.f32 r0, r1"),
        ("cvt.sat.u8.s32 %r0, %r1;", "cvt.sat.u8.s32 r0, r1"),
        ("cvt.s32.s8 %r0, %r1;", "cvt.s32.s8 r0, r1"),
        ("cvt.u16.u32 %rs0, %r1;", "cvt.u16.u32 h16, r1"),
        ("cvt.rn.relu.f16.f32 %rs0, %r1;", "cvt.rn.relu.f16.f32 h16, r1"),
        ("cvt.rna.tf32.f32 %r0, %r1;", "cvt.rna.tf32.f32 r0, r1"),
        ("cvt.rn.satfinite.e4m3x2.f32 %rs0, %r1, %r2;", "cvt.rn.satfinite.e4m3x2.f32 h16, r1, r2"),
        ("cvt.rn.f16x2.e5m2x2 %r0, %rs1;", "cvt.rn.f16x2.e5m2x2 r0, h17"),
        ("cvt.rz.relu.bf16x2.f32 %r0, %r1, %r2;", "cvt.rz.relu.bf16x2.f32 r0, r1, r2"),
        ("cvt.pack.sat.s8.s32.b32 %r0, %r1, %r2, %r3;", "cvt.pack.sat.s8 r0, r1, r2, r3"),
        ("cvt.pack.sat.u16.s32 %r0, %r1, %r2;", "cvt.pack.sat.u16 r0, r1, r2"),
    ]);
    is_unsupported("cvt.rs.f16x2.f32 %r0, %r1, %r2, %r3;", "cvt.rs.f16x2.f32");
}
