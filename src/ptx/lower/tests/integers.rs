//! Integer arithmetic, logic and bit fields: every modifier arrives in the representation.

use super::{becomes, is_unsupported, lowered};

#[test]
fn arithmetic_keeps_type_part_and_saturation() {
    becomes(&[
        ("add.s32 %r0, %r1, %r2;", "add.s32 r0, r1, r2"),
        ("add.sat.s32 %r0, %r1, -1;", "add.sat.s32 r0, r1, 0xffffffff"),
        ("sub.u16 %rs0, %rs1, %rs2;", "sub.u16 h16, h17, h18"),
        ("add.s16x2 %r0, %r1, %r2;", "add.s16x2 r0, r1, r2"),
        ("mul.lo.s64 %rd0, %rd1, %rd2;", "mul.lo.s64 d0, d1, d2"),
        ("mul.hi.u64 %rd0, %rd1, %rd2;", "mul.hi.u64 d0, d1, d2"),
        ("mul.wide.s32 %rd0, %r1, 4;", "mul.wide.s32 d0, r1, 0x4"),
        ("mul.wide.u16 %r0, %rs1, %rs2;", "mul.wide.u16 r0, h17, h18"),
        ("mad.wide.u32 %rd0, %r1, %r2, %rd3;", "mad.wide.u32 d0, r1, r2, d3"),
        ("mad.hi.sat.s32 %r0, %r1, %r2, %r3;", "mad.hi.sat.s32 r0, r1, r2, r3"),
        ("mul24.hi.u32 %r0, %r1, %r2;", "mul24.hi.u32 r0, r1, r2"),
        ("mad24.lo.s32 %r0, %r1, %r2, %r3;", "mad.lo24.s32 r0, r1, r2, r3"),
        ("mad24.hi.sat.s32 %r0, %r1, %r2, %r3;", "mad.hi24.sat.s32 r0, r1, r2, r3"),
        ("div.s32 %r0, %r1, 0;", "div.s32 r0, r1, 0x0"),
        ("rem.u64 %rd0, %rd1, %rd2;", "rem.u64 d0, d1, d2"),
        ("min.s16x2 %r0, %r1, %r2;", "min.s16x2 r0, r1, r2"),
        ("max.relu.s32 %r0, %r1, %r2;", "max.relu.s32 r0, r1, r2"),
        ("neg.s64 %rd0, %rd1;", "neg.s64 d0, d1"),
        ("abs.s16 %rs0, %rs1;", "abs.s16 h16, h17"),
        ("sad.u32 %r0, %r1, %r2, %r3;", "sad.u32 r0, r1, r2, r3"),
        ("dp4a.s32.u32 %r0, %r1, %r2, %r3;", "dp4a.s32.u32 r0, r1, r2, r3"),
        ("dp2a.hi.u32.s32 %r0, %r1, %r2, %r3;", "dp2a.hi.u32.s32 r0, r1, r2, r3"),
    ]);
}

#[test]
fn the_carry_is_a_hidden_register_that_chains_are_made_of() {
    becomes(&[
        ("add.cc.u32 %r0, %r1, %r2;", "add.cc.u32 r0, r1, r2"),
        ("addc.cc.u32 %r0, %r1, %r2;", "addc.cc.u32 r0, r1, r2"),
        ("addc.u64 %rd0, %rd1, 0;", "addc.u64 d0, d1, 0x0"),
        ("sub.cc.s32 %r0, %r1, %r2;", "sub.cc.s32 r0, r1, r2"),
        ("subc.u32 %r0, %r1, %r2;", "subc.u32 r0, r1, r2"),
        ("mad.lo.cc.u32 %r0, %r1, %r2, %r3;", "mad.lo.cc.u32 r0, r1, r2, r3"),
        ("madc.hi.cc.u32 %r0, %r1, %r2, %r3;", "madc.hi.cc.u32 r0, r1, r2, r3"),
        ("madc.hi.u64 %rd0, %rd1, %rd2, %rd3;", "madc.hi.u64 d0, d1, d2, d3"),
    ]);
}

#[test]
fn logic_shifts_and_fields_keep_their_modes() {
    becomes(&[
        ("and.b32 %r0, %r1, 0xff;", "and.b32 r0, r1, 0xff"),
        ("xor.pred %p0, %p1, %p2;", "xor.pred p0, p1, p2"),
        ("not.pred %p0, %p1;", "not.pred p0, p1"),
        ("cnot.b16 %rs0, %rs1;", "cnot.b16 h16, h17"),
        ("shl.b64 %rd0, %rd1, %r2;", "shl.b64 d0, d1, r2"),
        ("shr.s16 %rs0, %rs1, 3;", "shr.s16 h16, h17, 0x3"),
        ("shf.l.wrap.b32 %r0, %r1, %r2, 7;", "shf.l.wrap r0, r1, r2, 0x7"),
        ("shf.r.clamp.b32 %r0, %r1, %r2, %r3;", "shf.r.clamp r0, r1, r2, r3"),
        ("bfe.s64 %rd0, %rd1, %r2, 70;", "bfe.s64 d0, d1, r2, 0x46"),
        ("bfi.b32 %r0, %r1, %r2, 4, 8;", "bfi.b32 r0, r1, r2, 0x4, 0x8"),
        ("bfind.u64 %r0, %rd1;", "bfind.u64 r0, d1"),
        ("bfind.shiftamt.s32 %r0, %r1;", "bfind.shiftamt.s32 r0, r1"),
        ("popc.b64 %r0, %rd1;", "popc.b64 r0, d1"),
        ("clz.b32 %r0, %r1;", "clz.b32 r0, r1"),
        ("brev.b64 %rd0, %rd1;", "brev.b64 d0, d1"),
        ("bmsk.clamp.b32 %r0, %r1, %r2;", "bmsk.clamp r0, r1, r2"),
        ("szext.wrap.s32 %r0, %r1, %r2;", "szext.wrap.s32 r0, r1, r2"),
        ("fns.b32 %r0, %r1, %r2, %r3;", "fns r0, r1, r2, r3"),
        ("prmt.b32 %r0, %r1, %r2, 0x3210;", "prmt r0, r1, r2, 0x3210"),
        ("prmt.b32.f4e %r0, %r1, %r2, %r3;", "prmt.forward4 r0, r1, r2, r3"),
        ("prmt.b32.ecr %r0, %r1, %r2, %r3;", "prmt.edgeclampright r0, r1, r2, r3"),
        ("lop3.b32 %r0, %r1, %r2, %r3, 0x96;", "lop3 r0, r1, r2, r3, 0x96"),
        ("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0xE8, !%p1;", "lop3.or r0|p0, r1, r2, r3, 0xe8, !p1"),
        ("lop3.and.b32 _|%p0, %r1, %r2, %r3, 1, %p1;", "lop3.and _|p0, r1, r2, r3, 0x01, p1"),
    ]);
}

#[test]
fn constants_are_bit_patterns_of_the_operand_type() {
    becomes(&[
        ("add.u16 %rs0, %rs1, -1;", "add.u16 h16, h17, 0xffff"),
        ("add.u64 %rd0, %rd1, -1;", "add.u64 d0, d1, 0xffffffffffffffff"),
        ("mov.b32 %r0, 0f3F000000;", "mov r0, 0x3f000000"),
        ("mov.f32 %r0, 0d3FE0000000000000;", "mov r0, 0x3f000000"),
        ("mov.f64 %rd0, 0f3F000000;", "mov d0, 0x3fe0000000000000"),
        ("mov.b16 %rs0, 0x13C00;", "mov h16, 0x3c00"),
        ("mov.pred %p0, 2;", "mov p0, 0x1"),
    ]);
}

#[test]
fn moves_pack_and_unpack_by_the_width_of_their_type() {
    becomes(&[
        ("mov.b64 %rd0, {%r1, %r2};", "pack d0, {r1, r2}"),
        ("mov.b64 %rd0, {%rs0, %rs1, %rs2, 5};", "pack d0, {h16, h17, h18, 0x5}"),
        ("mov.b64 {%r1, _}, %rd0;", "unpack {r1, _}, d0"),
        ("mov.b32 {%rs0, %rs1}, %r0;", "unpack {h16, h17}, r0"),
        ("mov.b16 {%rb0, %rb1}, %rs0;", "unpack {b24, b25}, h16"),
        ("mov.b128 %rq0, {%rd0, %rd1};", "pack q0, {d0, d1}"),
        ("mov.b128 {%rd0, %rd1}, %rq0;", "unpack {d0, d1}, q0"),
        ("mov.u32 %r0, WARP_SZ;", "mov r0, 0x20"),
    ]);
}

#[test]
fn special_registers_are_read_once_wherever_the_text_uses_them() {
    becomes(&[
        ("mov.u32 %r0, %tid.x;", "mov r0, %tid.x"),
        ("mov.u32 %r0, %nctaid.z;", "mov r0, %nctaid.z"),
        ("mov.u64 %rd0, %globaltimer;", "mov d0, %globaltimer"),
        ("mov.u16 %rs0, %ntid.y;", "mov h16, %ntid.y"),
        ("mov.b32 %r0, %envreg3;", "mov r0, %envreg.3"),
        ("mov.u32 %r0, %lanemask_lt;", "mov r0, %lanemasklt"),
        ("mov.u32 %r0, %cluster_nctaid.x;", "mov r0, %clusternctaid.x"),
        ("mov.u32 %r0, %dynamic_smem_size;", "mov r0, %dynamicsmemsize"),
    ]);
    let expected = ["mov r28, %laneid", "add.u32 r0, r28, 0x1"];
    assert_eq!(lowered("add.u32 %r0, %laneid, 1;"), expected);
    let expected = ["@p1 mov r28, %ctaid.x", "@p1 cvt.u64.u32 d0, r28"];
    assert_eq!(lowered("@%p1 cvt.u64.u32 %rd0, %ctaid.x;"), expected);
}

#[test]
fn a_sign_before_a_register_is_an_instruction_of_its_own() {
    let expected = ["neg.s32 r28, r1", "add.s32 r0, r2, r28"];
    assert_eq!(lowered("add.s32 %r0, %r2, -%r1;"), expected);
    let expected = ["not.pred p8, p1", "and.pred p0, p8, p2"];
    assert_eq!(lowered("and.pred %p0, !%p1, %p2;"), expected);
}

#[test]
fn what_is_not_known_is_kept_by_its_words() {
    is_unsupported("vadd.u32.u32.u32 %r0, %r1, %r2;", "vadd.u32.u32.u32");
    is_unsupported("add.newmode.s32 %r0, %r1, %r2;", "add.newmode.s32");
    is_unsupported("tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%rd0, {%r4, %r5}];", "tex.2d.v4.f32.f32");
    is_unsupported("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned");
    let guarded = lowered("@!%p1 vmin.s32.s32.s32 %r0, %r1, %r2; trap;");
    assert_eq!(guarded, ["@!p1 unsupported `vmin.s32.s32.s32`", "trap"]);
}
