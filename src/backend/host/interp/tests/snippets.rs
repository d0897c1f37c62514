//! Every instruction that has a fast form, against the complete executor, on values that tend to go wrong; with all
//! lanes, with some, and with the destination among the sources.

use super::*;

/// Values with something special about them in one reading or another.
const SPECIAL: [u64; 20] = [
    0,
    1,
    0x8000_0000,
    0x7fff_ffff,
    0xffff_ffff,
    0x7f80_0000,           // +inf
    0xff80_0000,           // -inf
    0x7fc0_0001,           // NaN with a payload
    0xffc1_2345,           // another
    0x0000_0003,           // subnormal
    0x3f80_0000,           // 1.0
    0xbfc0_0000,           // -1.5
    0x4f00_0000,           // 2^31 as f32
    0x5f80_0000,           // 2^64 as f32
    0x7ff0_0000_0000_0000, // +inf as f64
    0x7ff8_0000_0000_0001, // NaN as f64
    0xbff8_0000_0000_0000, // -1.5 as f64
    0x8000_0000_0000_0000, // -0.0 as f64
    0x41e0_0000_0010_0000, // a little above 2^31 as f64
    0xffff_ffff_ffff_ffff,
];

/// `count` values of 64 bits, among them the special ones.
fn values(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|i| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            match state % 3 {
                0 => SPECIAL[i % SPECIAL.len()],
                1 => state >> 32,
                _ => state,
            }
        })
        .collect()
}

/// Runs `instruction` on `%r1 %r2 %r3`, `%rd1 %rd2 %rd3`, `%p1 %p2`; its results are `%r0`, `%rd0`, `%p0`.
fn agree(instruction: &str) {
    const N: usize = 320;
    let body = format!(
        ".reg .pred %p<8>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .b64 %a<4>; .reg .b32 %t<4>;
         ld.param.u64 %a0, [out]; ld.param.u64 %a1, [in];
         mov.u32 %t0, %tid.x; mov.u32 %t1, %ctaid.x; mad.lo.u32 %t0, %t1, 32, %t0;
         mul.wide.u32 %a2, %t0, 24; add.u64 %a1, %a1, %a2;
         ld.global.u64 %rd1, [%a1]; ld.global.u64 %rd2, [%a1+8]; ld.global.u64 %rd3, [%a1+16];
         cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3;
         mov.u32 %r0, 77; mov.u64 %rd0, 78;
         setp.lt.u32 %p1, %r1, %r2; setp.gt.s32 %p2, %r2, %r3; setp.ne.u32 %p0, %r0, 77;
         and.b32 %t2, %r3, 3; setp.ne.u32 %p3, %t2, 0;
         {instruction}
         selp.u32 %r4, 1, 0, %p0;
         mul.wide.u32 %a2, %t0, 16; add.u64 %a0, %a0, %a2;
         st.global.u64 [%a0], %rd0; st.global.u32 [%a0+8], %r0; st.global.u32 [%a0+12], %r4;
         ret;"
    );
    let input: Vec<u64> = values(3 * N, instruction.len() as u64 + 7);
    let [fast, complete] = [false, true].map(|watched| {
        let mut rig = Rig::kernel(".param .u64 out, .param .u64 in", &body);
        rig.statistics = watched;
        let (input, out) = (rig.upload(&input), rig.upload(&vec![0_u64; 2 * N]));
        rig.launch("k", (N / 32) as u32, 32, 0, &[Arg::Out(out), Arg::In(input)])
            .unwrap_or_else(|fault| panic!("{fault}"));
        rig.download::<[u64; 2]>(out)
    });
    for i in 0..N {
        let from = &input[3 * i..][..3];
        assert_eq!(fast[i], complete[i], "`{instruction}` of {from:x?}: fast and complete differ");
    }
}

/// All three ways to run an instruction that writes `dst` and reads `src`.
fn all_ways(instruction: &str, dst: &str, src: &str) {
    agree(instruction);
    agree(&format!("@%p3 {instruction}"));
    // in place: the destination is also the first source
    let (name, operands) = instruction.split_once(' ').unwrap();
    let in_place = operands.replacen(dst, src, 1);
    let suffix = if dst.starts_with("%rd") { "b64 %rd0, %rd1;" } else { "b32 %r0, %r1;" };
    if src == "%r1" || src == "%rd1" {
        agree(&format!("{name} {in_place} mov.{suffix}"));
    }
}

#[test]
fn instructions_of_two_words() {
    for op in [
        "add.u32",
        "sub.s32",
        "mul.lo.u32",
        "mul.hi.u32",
        "mul.hi.s32",
        "min.u32",
        "max.u32",
        "min.s32",
        "max.s32",
        "and.b32",
        "or.b32",
        "xor.b32",
        "shl.b32",
        "shr.u32",
        "shr.s32",
        "add.f32",
        "sub.f32",
        "mul.f32",
        "div.rn.f32",
        "min.f32",
        "max.f32",
    ] {
        all_ways(&format!("{op} %r0, %r1, %r2;"), "%r0", "%r1");
        let constant = if op.ends_with("f32") { "0f40A00000" } else { "5" };
        agree(&format!("{op} %r0, %r1, {constant};"));
    }
    for op in
        ["add.u64", "sub.u64", "mul.lo.u64", "and.b64", "or.b64", "xor.b64", "add.f64", "sub.f64", "mul.f64"]
    {
        all_ways(&format!("{op} %rd0, %rd1, %rd2;"), "%rd0", "%rd1");
    }
    agree("div.rn.f64 %rd0, %rd1, %rd2;");
    for op in ["shl.b64", "shr.u64", "shr.s64"] {
        all_ways(&format!("{op} %rd0, %rd1, %r2;"), "%rd0", "%rd1");
    }
    for op in ["mul.wide.u32", "mul.wide.s32"] {
        agree(&format!("{op} %rd0, %r1, %r2;"));
        agree(&format!("@%p3 {op} %rd0, %r1, %r2;"));
    }
}

#[test]
fn instructions_of_three_words() {
    for op in ["mad.lo.u32", "fma.rn.f32", "shf.l.wrap.b32"] {
        all_ways(&format!("{op} %r0, %r1, %r2, %r3;"), "%r0", "%r1");
    }
    for lut in [0x00, 0x1b, 0x80, 0x96, 0xca, 0xe8, 0xff] {
        all_ways(&format!("lop3.b32 %r0, %r1, %r2, %r3, {lut};"), "%r0", "%r1");
    }
    all_ways("fma.rn.f64 %rd0, %rd1, %rd2, %rd3;", "%rd0", "%rd1");
    for op in ["mad.wide.u32", "mad.wide.s32"] {
        agree(&format!("{op} %rd0, %r1, %r2, %rd3;"));
        agree(&format!("@!%p3 {op} %rd0, %r1, %r2, %rd3;"));
    }
}

#[test]
fn instructions_of_one_word() {
    for op in [
        "not.b32",
        "neg.s32",
        "neg.f32",
        "abs.f32",
        "sqrt.rn.f32",
        "rsqrt.approx.f32",
        "rcp.rn.f32",
        "rcp.approx.f32",
        "cvt.rn.f32.s32",
        "cvt.rn.f32.u32",
        "cvt.rzi.s32.f32",
        "cvt.rzi.u32.f32",
        "mov.b32",
    ] {
        all_ways(&format!("{op} %r0, %r1;"), "%r0", "%r1");
    }
    for op in ["mov.b64", "neg.f64"] {
        all_ways(&format!("{op} %rd0, %rd1;"), "%rd0", "%rd1");
    }
    for op in ["cvt.u64.u32", "cvt.s64.s32", "cvt.u64.s32", "cvt.f64.f32"] {
        agree(&format!("{op} %rd0, %r1;"));
        agree(&format!("@%p3 {op} %rd0, %r1;"));
    }
    for op in ["cvt.u32.u64", "cvt.s32.s64", "cvt.rn.f32.f64"] {
        agree(&format!("{op} %r0, %rd1;"));
        agree(&format!("@%p3 {op} %r0, %rd1;"));
    }
}

#[test]
fn comparisons_and_selections() {
    for ty in ["u32", "s32"] {
        for op in ["eq", "ne", "lt", "le", "gt", "ge"] {
            agree(&format!("setp.{op}.{ty} %p0, %r1, %r2;"));
            agree(&format!("@%p3 setp.{op}.{ty} %p0, %r1, %r2;"));
        }
    }
    for ty in ["u64", "s64"] {
        for op in ["eq", "ne", "lt", "le", "gt", "ge"] {
            agree(&format!("setp.{op}.{ty} %p0, %rd1, %rd2;"));
        }
    }
    for op in ["lo", "ls", "hi", "hs"] {
        agree(&format!("setp.{op}.u32 %p0, %r1, %r2;"));
    }
    for (ty, r) in [("f32", "%r"), ("f64", "%rd")] {
        for op in ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
        {
            agree(&format!("setp.{op}.{ty} %p0, {r}1, {r}2;"));
        }
    }
    agree("setp.lt.and.s32 %p0, %r1, %r2, !%p2;");
    all_ways("selp.b32 %r0, %r1, %r2, %p1;", "%r0", "%r1");
    all_ways("selp.b64 %rd0, %rd1, %rd2, !%p1;", "%rd0", "%rd1");
    for op in ["and", "or", "xor"] {
        agree(&format!("{op}.pred %p0, %p1, %p2;"));
        agree(&format!("@%p3 {op}.pred %p0, %p1, %p2;"));
    }
}

#[test]
fn memory_in_every_pattern() {
    // neighbours, one place for all, backwards, every other, and the same with some lanes only
    let tables = [
        "mov.u32 %t3, %tid.x;",
        "mov.u32 %t3, 3;",
        "mov.u32 %t3, %tid.x; sub.u32 %t3, 31, %t3;",
        "mov.u32 %t3, %tid.x; and.b32 %t3, %t3, 14;",
    ];
    for index in tables {
        for guard in ["", "@%p3 "] {
            let global = "ld.param.u64 %a3, [in]; mul.wide.u32 %rd3, %t3, 16; add.u64 %a3, %a3, %rd3;";
            agree(&format!("{index} {global} {guard}ld.global.u32 %r0, [%a3+4];"));
            agree(&format!("{index} {global} {guard}ld.global.u64 %rd0, [%a3+8];"));
            agree(&format!(
                "{index} {global} {guard}ld.global.v2.u32 {{%r0, %r1}}, [%a3]; add.u32 %r0, %r0, %r1;"
            ));
            agree(&format!(
                "{index} {global} {guard}ld.global.v4.u32 {{%r0, %r1, %r2, %r3}}, [%a3]; xor.b32 %r0, %r1, %r3;"
            ));
            let packed = "ld.param.u64 %a3, [in]; mul.wide.u32 %rd3, %t3, 4; add.u64 %a3, %a3, %rd3;";
            agree(&format!("{index} {packed} {guard}ld.global.u32 %r0, [%a3];"));
            let shared = ".shared .align 16 .b32 s[128]; mov.u32 %t2, s; mul.lo.u32 %t1, %t3, 16; add.u32 %t2, %t2, %t1;";
            let lanes = ".shared .align 16 .b32 s[128]; mov.u32 %t2, s; mul.lo.u32 %t1, %t3, 4; add.u32 %t2, %t2, %t1;";
            agree(&format!(
                "{index} {lanes} {guard}st.shared.u32 [%t2+4], %r1; bar.sync 0; ld.shared.u32 %r0, [%t2+4];"
            ));
            agree(&format!(
                "{index} {shared} {guard}st.shared.v4.u32 [%t2], {{%r1, %r2, %r3, %r1}}; bar.sync 0; \
                 ld.shared.v4.u32 {{%r0, %r1, %r2, %r3}}, [%t2]; xor.b32 %r0, %r0, %r2; \
                 ld.shared.v2.u32 {{%r1, %r2}}, [%t2+8]; add.u32 %r0, %r0, %r2;"
            ));
        }
    }
}
