//! Matrix fragments: `ldmatrix` and `mma` together give the plain product, which neither would with a lane or a
//! register out of place.

use super::*;

/// `d = a × b` of a 16×16 and a 16×8 matrix of small integers in f16, accumulated in f32.
#[test]
fn a_product_of_halves_through_ldmatrix() {
    let text = module(
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d)
        {
        .shared .align 16 .b8 sa[512];
        .shared .align 16 .b8 sb[256];
        .reg .b32 %r<16>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .b64 %x<4>;
        ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [d];
        mov.u32 %r0, %tid.x; mov.u32 %r1, sa; mov.u32 %r2, sb;
        // 16 bytes of a and 8 of b from each lane
        mul.wide.u32 %rd3, %r0, 16; add.u64 %rd4, %rd0, %rd3; ld.global.v2.u64 {%x0, %x1}, [%rd4];
        shl.b32 %r3, %r0, 4; add.u32 %r4, %r1, %r3; st.shared.v2.u64 [%r4], {%x0, %x1};
        mul.wide.u32 %rd3, %r0, 8; add.u64 %rd4, %rd1, %rd3; ld.global.u64 %x0, [%rd4];
        shl.b32 %r3, %r0, 3; add.u32 %r4, %r2, %r3; st.shared.u64 [%r4], %x0;
        bar.sync 0;
        // a: lane l gives row l % 16, columns from 8 for the upper half of the lanes
        and.b32 %r5, %r0, 15; shl.b32 %r5, %r5, 5; shr.u32 %r6, %r0, 4; shl.b32 %r6, %r6, 4;
        add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r1;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r5];
        // b, row-major 16×8: rows of 16 bytes, transposed on the way
        and.b32 %r5, %r0, 15; shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r2;
        ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10, %r11}, [%r5];
        mov.f32 %f0, 0f00000000;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r6, %r7, %r8, %r9},
            {%r10, %r11}, {%f0, %f0, %f0, %f0};
        // d: row lane / 4, columns 2 (lane % 4) and the next; the other two registers eight rows below
        shr.u32 %r12, %r0, 2; shl.b32 %r12, %r12, 3; and.b32 %r13, %r0, 3; shl.b32 %r13, %r13, 1;
        add.u32 %r12, %r12, %r13; mul.wide.u32 %rd3, %r12, 4; add.u64 %rd4, %rd2, %rd3;
        st.global.v2.f32 [%rd4], {%f1, %f2};
        st.global.v2.f32 [%rd4+256], {%f3, %f4};
        ret;
        }",
    );
    let half = |v: u32| {
        super::super::convert::narrow(
            u64::from((v as f32).to_bits()),
            super::super::soft::F32,
            super::super::soft::F16,
            ptx::ir::Rounding::NearestEven,
            false,
        ) as u16
    };
    let a: Vec<u32> = (0..256).map(|i| i * 7 % 13).collect();
    let b: Vec<u32> = (0..128).map(|i| i * 5 % 11).collect();
    let mut rig = Rig::new("mma.ptx", &text);
    let [pa, pb] = [&a, &b].map(|m| rig.upload(&m.iter().map(|&v| half(v)).collect::<Vec<u16>>()));
    let d = rig.upload(&[0_f32; 128]);
    rig.launch("k", 1, 32, 0, &[Arg::In(pa), Arg::In(pb), Arg::Out(d)])
        .unwrap_or_else(|fault| panic!("{fault}"));
    let d = rig.download::<f32>(d);
    for row in 0..16 {
        for column in 0..8 {
            let expected: u32 = (0..16).map(|k| a[row * 16 + k] * b[k * 8 + column]).sum();
            assert_eq!(d[row * 8 + column], expected as f32, "({row}, {column})");
        }
    }
}

#[test]
fn movmatrix_transposes() {
    // element (r, c) of the matrix is 8 r + c; lane l holds row l / 4, columns 2 (l % 4) and the next
    let out = run_body(
        32,
        "shl.b32 %r1, %r0, 1; add.u32 %r2, %r1, 1; shl.b32 %r2, %r2, 16; or.b32 %r1, %r1, %r2;
         movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r1;
         cvt.u64.u32 %rd1, %r3; st.global.u64 [%rd0], %rd1;",
    );
    for (lane, word) in out.into_iter().enumerate() {
        let (r, c) = (lane as u64 / 4, lane as u64 % 4 * 2);
        assert_eq!((word & 0xffff, word >> 16), (c * 8 + r, (c + 1) * 8 + r));
    }
}

#[test]
fn copies_in_the_background_arrive() {
    let text = module(
        ".visible .entry k(.param .u64 in, .param .u64 out)
        {
        .shared .align 16 .b8 s[512];
        .reg .b32 %r<8>; .reg .b64 %rd<8>;
        ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, s;
        shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; mul.wide.u32 %rd2, %r0, 16; add.u64 %rd3, %rd0, %rd2;
        mov.u32 %r3, 16; and.b32 %r4, %r0, 1; shl.b32 %r4, %r4, 3; sub.u32 %r3, %r3, %r4;
        cp.async.cg.shared.global [%r1], [%rd3], 16, %r3;
        cp.async.commit_group;
        cp.async.wait_group 0;
        bar.sync 0;
        ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1]; add.u64 %rd4, %rd1, %rd2;
        st.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r7};
        ret;
        }",
    );
    let input: Vec<u32> = (1..=128).collect();
    let mut rig = Rig::new("async.ptx", &text);
    let (a, b) = (rig.upload(&input), rig.upload(&[9_u32; 128]));
    rig.launch("k", 1, 32, 0, &[Arg::In(a), Arg::Out(b)]).unwrap_or_else(|fault| panic!("{fault}"));
    // odd lanes read 8 bytes only, the rest of their 16 is zero
    let expected = input.iter().enumerate().map(|(i, &v)| if i / 4 % 2 == 1 && i % 4 >= 2 { 0 } else { v });
    assert_eq!(rig.download::<u32>(b), expected.collect::<Vec<u32>>());
}

#[test]
fn an_mbarrier_joins_a_block() {
    // every thread arrives and polls the phase; then it reads what its neighbour wrote before
    let text = module(
        ".visible .entry k(.param .u64 out)
        {
        .shared .align 8 .b64 bar;
        .shared .u32 s[64];
        .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
        ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, s; mov.u32 %r7, bar;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 mbarrier.init.shared.b64 [%r7], 64;
        bar.sync 0;
        shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], %r0;
        mbarrier.arrive.shared.b64 %rd1, [%r7];
        wait: mbarrier.test_wait.shared.b64 %p1, [%r7], %rd1;
        @!%p1 bra wait;
        xor.b32 %r3, %r0, 63; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1; ld.shared.u32 %r4, [%r3];
        mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd2, %rd0; st.global.u32 [%rd2], %r4;
        ret;
        }",
    );
    for strict in [false, true] {
        let mut rig = Rig::new("mbarrier.ptx", &text);
        rig.strict = strict;
        let out = rig.upload(&[0_u32; 64]);
        rig.launch("k", 1, 64, 0, &[Arg::Out(out)]).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(rig.download::<u32>(out), (0..64).rev().collect::<Vec<u32>>());
    }
}
