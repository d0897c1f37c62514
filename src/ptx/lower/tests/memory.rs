//! Memory: spaces, orders, caches, vectors, addresses, atomics, asynchronous copies, matrices.

use super::{becomes, is_unsupported, kernel, last, lines, lowered, module};

#[test]
fn a_load_keeps_its_type_and_the_register_its_own_width() {
    becomes(&[
        ("ld.global.u32 %rd0, [%rd1];", "ld.global.u32 d0, [d1]"),
        ("ld.global.s8 %rs0, [%rd1+-8];", "ld.global.s8 h16, [d1-8]"),
        ("ld.shared.f32 %r0, [%r1+4];", "ld.shared.f32 r0, [r1+4]"),
        ("ld.u64 %rd0, [%rd1];", "ld.u64 d0, [d1]"),
        ("ld.global.b128 %rq0, [%rd1];", "ld.global.b128 q0, [d1]"),
        ("ld.shared.u32 %r0, [16];", "ld.shared.u32 r0, [0x10]"),
        ("st.global.u8 [%rd0], %r1;", "st.global.u8 [d0], r1"),
        ("st.local.f64 [%rd0+8], 0d3FF0000000000000;", "st.local.f64 [d0+8], 0x3ff0000000000000"),
    ]);
}

#[test]
fn a_narrow_register_may_hold_an_address() {
    let expected = ["cvt.u32.u16 r28, h16", "st.shared.u32 [r28+4], r0"];
    assert_eq!(lowered("st.shared.u32 [%rs0+4], %r0;"), expected);
}

#[test]
fn vectors_have_sinks_and_constants() {
    becomes(&[
        ("ld.global.v4.f32 {%r0, _, %r2, %r3}, [%rd0];", "ld.global.v4.f32 {r0, _, r2, r3}, [d0]"),
        ("ld.global.v2.u8 {%rs0, %r1}, [%rd0];", "ld.global.v2.u8 {h16, r1}, [d0]"),
        ("st.shared.v4.b32 [%r0], {%r1, 0, %r2, -1};", "st.shared.v4.b32 [r0], {r1, 0x0, r2, 0xffffffff}"),
        (
            "ld.global.v8.b32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd0];",
            "ld.global.v8.b32 {r0, r1, r2, r3, r4, r5, r6, r7}, [d0]",
        ),
    ]);
}

#[test]
fn vector_registers_are_their_elements() {
    let body = ".reg .v2 .f32 %v; ld.global.v2.f32 %v, [%rd0]; mov.f32 %r0, %v.y;
                st.global.v2.f32 [%rd1], %v; mov.v2.f32 %v, {%r1, %v.x};";
    assert_eq!(
        lowered(body),
        [
            "ld.global.v2.f32 {r28, r29}, [d0]",
            "mov r0, r29",
            "st.global.v2.f32 [d1], {r28, r29}",
            "mov r30, r1",
            "mov r31, r28",
            "mov r28, r30",
            "mov r29, r31",
        ]
    );
}

#[test]
fn order_scope_and_cache_come_in_any_order_and_hints_are_dropped() {
    becomes(&[
        ("ld.volatile.global.u32 %r0, [%rd0];", "ld.volatile.global.u32 r0, [d0]"),
        ("ld.acquire.gpu.global.u32 %r0, [%rd0];", "ld.acquire.gpu.global.u32 r0, [d0]"),
        ("ld.global.relaxed.sys.u32 %r0, [%rd0];", "ld.relaxed.system.global.u32 r0, [d0]"),
        ("ld.mmio.relaxed.sys.global.u32 %r0, [%rd0];", "ld.mmio.system.global.u32 r0, [d0]"),
        ("ld.weak.global.cg.u32 %r0, [%rd0];", "ld.global.cg.u32 r0, [d0]"),
        (
            "ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%r0, %r1}, [%rd0];",
            "ld.global.nc.v2.f32 {r0, r1}, [d0]",
        ),
        ("ld.global.L1::evict_last.L2::cache_hint.b32 %r0, [%rd0], %rd1;", "ld.global.b32 r0, [d0]"),
        ("st.release.cta.shared::cta.u32 [%r0], %r1;", "st.release.cta.shared.u32 [r0], r1"),
        ("st.global.wt.u32 [%rd0], %r1;", "st.global.wt.u32 [d0], r1"),
        ("st.global.L2::cache_hint.b32 [%rd0], %r0, %rd2;", "st.global.b32 [d0], r0"),
        ("ldu.global.u32 %r0, [%rd0];", "ldu.global.u32 r0, [d0]"),
        ("fence.acq_rel.gpu;", "fence.acquirerelease.gpu"),
        ("fence.sc.cluster;", "fence.sequentiallyconsistent.cluster"),
        ("membar.gl;", "fence.sequentiallyconsistent.gpu"),
        ("fence.proxy.async.shared::cta;", "fence.proxy.acquirerelease.system"),
    ]);
}

#[test]
fn atomics_are_relaxed_and_red_has_no_result() {
    becomes(&[
        ("atom.global.add.u32 %r0, [%rd0], 1;", "atom.relaxed.global.add.u32 r0, [d0], 0x1"),
        ("atom.global.cta.add.u32 %r0, [%rd0], %r1;", "atom.relaxed.cta.global.add.u32 r0, [d0], r1"),
        (
            "atom.global.gpu.acq_rel.add.u32 %r0, [%rd0], %r1;",
            "atom.acquirerelease.gpu.global.add.u32 r0, [d0], r1",
        ),
        (
            "atom.acquire.sys.shared.cas.b64 %rd0, [%r0], %rd1, %rd2;",
            "atom.acquire.system.shared.compareandswap.b64 d0, [r0], d1, d2",
        ),
        ("atom.cas.b16 %rs0, [%rd0], %rs1, %rs2;", "atom.relaxed.compareandswap.b16 h16, [d0], h17, h18"),
        ("atom.global.exch.b128 %rq0, [%rd0], %rq1;", "atom.relaxed.global.exchange.b128 q0, [d0], q1"),
        ("atom.global.add.noftz.f16x2 %r0, [%rd0], %r1;", "atom.relaxed.global.add.noftz.f16x2 r0, [d0], r1"),
        (
            "atom.global.v2.f32.add {%r0, %r1}, [%rd0], {%r2, %r3};",
            "atom.relaxed.global.add.v2.f32 {r0, r1}, [d0], {r2, r3}",
        ),
        ("atom.global.inc.u32 _, [%rd0], %r1;", "red.relaxed.global.inc.u32 [d0], r1"),
        ("red.shared.max.s64 [%r0], %rd1;", "red.relaxed.shared.max.s64 [r0], d1"),
        ("red.release.gpu.global.add.f64 [%rd0], %rd1;", "red.release.gpu.global.add.f64 [d0], d1"),
        (
            "atom.global.min.L2::cache_hint.u32 %r0, [%rd0], %r1, %rd2;",
            "atom.relaxed.global.min.u32 r0, [d0], r1",
        ),
    ]);
    is_unsupported(
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r0], %r1, [%r2];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
    );
}

#[test]
fn a_name_in_brackets_gives_its_own_space() {
    let module = module(
        ".global .u32 g; .const .f32 c[4]; .shared .u32 s; .extern .shared .b8 dyn[];
         .visible .entry k(.param .u64 p) {
           .local .align 8 .b8 depot[16]; .reg .b32 %r<4>; .reg .b64 %rd<4>;
           ld.u32 %r0, [g+4]; ld.const.f32 %r1, [c+8]; ld.shared.u32 %r2, [s];
           ld.shared.u32 %r3, [dyn+16]; st.local.u32 [depot+4], %r0; ld.param.u64 %rd0, [p];
           mov.u64 %rd1, depot; mov.u64 %rd2, g+12; cvta.local.u64 %rd3, %rd1;
         }",
    );
    assert_eq!(
        lines(last(&module)),
        [
            "ld.global.u32 r0, [variable0+4]",
            "ld.const.f32 r1, [variable1+8]",
            "ld.shared.u32 r2, [shared2]",
            "ld.shared.u32 r3, [dynamic3+16]",
            "st.local.u32 [local0+4], r0",
            "ld.param.u64 d0, [in0]",
            "address d1, local0",
            "address d2, variable0+12",
            "cvta.local d3, d1",
            "ret",
        ]
    );
}

#[test]
fn generic_addresses_convert_both_ways_and_clusters_have_one_block() {
    becomes(&[
        ("cvta.to.global.u64 %rd0, %rd1;", "cvta.to.global d0, d1"),
        ("cvta.shared.u64 %rd0, %rd1;", "cvta.shared d0, d1"),
        ("cvta.param.u64 %rd0, %rd1;", "cvta.param d0, d1"),
        ("isspacep.local %p0, %rd0;", "isspacep.local p0, d0"),
        ("mapa.shared::cluster.u32 %r0, %r1, 0;", "mov r0, r1"),
        ("getctarank.u64 %r0, %rd1;", "mov r0, 0x0"),
    ]);
}

#[test]
fn instructions_without_an_effect_on_results_are_hints() {
    becomes(&[
        ("prefetch.global.L2::evict_last [%rd0+64];", "prefetch.global [d0+64]"),
        ("prefetchu.L1 [%rd0];", "prefetch [d0]"),
        ("discard.global.L2 [%rd0], 128;", "discard.global [d0]"),
        ("applypriority.global.L2::evict_normal [%rd0], 128;", "applypriority.global [d0]"),
        ("griddepcontrol.wait;", "griddependencycontrol"),
        ("setmaxnreg.inc.sync.aligned.u32 240;", "setmaxregisters"),
        ("createpolicy.fractional.L2::evict_last.b64 %rd0, 1.0;", "mov d0, 0x0"),
    ]);
}

#[test]
fn asynchronous_copies_tell_a_size_from_a_predicate() {
    becomes(&[
        ("cp.async.ca.shared.global [%r0], [%rd0], 4;", "cp.async [r0], [d0], 4"),
        (
            "cp.async.cg.shared::cta.global.L2::128B [%r0+16], [%rd0], 16, %r1;",
            "cp.async [r0+16], [d0], 16, r1",
        ),
        ("cp.async.ca.shared.global [%r0], [%rd0], 8, 0;", "cp.async [r0], [d0], 8, 0x0"),
        ("cp.async.cg.shared.global [%r0], [%rd0], 16, %p1;", "cp.async [r0], [d0], 16, ignore p1"),
        ("cp.async.cg.shared.global.L2::cache_hint [%r0], [%rd0], 16, %rd1;", "cp.async [r0], [d0], 16"),
        ("cp.async.commit_group;", "cp.async.commit"),
        ("cp.async.wait_group 2;", "cp.async.wait_group 2"),
        ("cp.async.wait_all;", "cp.async.wait_all"),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [%r0];", "cp.async.arrive.noinc.shared [r0]"),
    ]);
    let bulk = "cp.async.bulk.commit_group";
    is_unsupported(&format!("{bulk};"), bulk);
}

#[test]
fn mbarrier_operations_keep_token_count_and_parity() {
    becomes(&[
        ("mbarrier.init.shared.b64 [%r0], 32;", "mbarrier.init.shared [r0], 0x20"),
        ("mbarrier.inval.shared.b64 [%r0];", "mbarrier.invalidate.shared [r0]"),
        ("mbarrier.arrive.shared::cta.b64 %rd0, [%r0];", "mbarrier.arrive.shared d0, [r0]"),
        ("mbarrier.arrive.release.cta.shared.b64 _, [%r0], 2;", "mbarrier.arrive.shared [r0], 0x2"),
        ("mbarrier.arrive.noComplete.b64 %rd0, [%rd1], %r1;", "mbarrier.arrive.nocomplete d0, [d1], r1"),
        ("mbarrier.arrive_drop.shared.b64 %rd0, [%r0];", "mbarrier.arrive.drop.shared d0, [r0]"),
        ("mbarrier.arrive.expect_tx.shared.b64 _, [%r0], %r1;", "mbarrier.arrive.expect_tx.shared [r0], r1"),
        ("mbarrier.test_wait.shared.b64 %p0, [%r0], %rd0;", "mbarrier.test_wait.shared p0, [r0], d0"),
        (
            "mbarrier.try_wait.parity.shared.b64 %p0, [%r0], %r1, 1000;",
            "mbarrier.try_wait.parity.shared p0, [r0], r1",
        ),
        ("mbarrier.pending_count.b64 %r0, %rd0;", "mbarrier.pendingcount r0, d0"),
    ]);
}

#[test]
fn matrix_fragments_have_as_many_registers_as_their_shape_says() {
    becomes(&[
        (
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0,%r1,%r2,%r3}, [%r4];",
            "ldmatrix.trans.shared {r0, r1, r2, r3}, [r4]",
        ),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r1};", "stmatrix.shared [r0], r1"),
        ("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", "movmatrix r0, r1"),
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 \
          {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%r0,%r1,%r2,%r3};",
            "mma.m16n8k16.f32.bf16.bf16.f32 {r0, r1, r2, r3}, {r4, r5, r6, r7}, {r8, r9}, {r0, r1, r2, r3}",
        ),
        (
            "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0,%r1}, {%r4,%r5}, {%r8}, {%r0,%r1};",
            "mma.m16n8k8.f16.f16.f16.f16 {r0, r1}, {r4, r5}, r8, {r0, r1}",
        ),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 \
          {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {0f00000000,%r1,%r2,%r3};",
            "mma.m16n8k8.f32.tf32.tf32.f32 {r0, r1, r2, r3}, {r4, r5, r6, r7}, {r8, r9}, {0x0, r1, r2, r3}",
        ),
        (
            "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 \
          {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%r0,%r1,%r2,%r3};",
            "mma.m16n8k32.satfinite.s32.s8.u8.s32 {r0, r1, r2, r3}, {r4, r5, r6, r7}, {r8, r9}, {r0, r1, r2, r3}",
        ),
        (
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd0,%rd1}, {%rd2}, {%rd3}, {%rd0,%rd1};",
            "mma.m8n8k4.f64.f64.f64.f64 {d0, d1}, d2, d3, {d0, d1}",
        ),
    ]);
    is_unsupported(
        "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r0}, {%r1}, {%r2}, {%r3};",
        "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16",
    );
}

#[test]
fn parameters_are_laid_out_at_their_alignment() {
    let module = module(
        ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .u16 c,
                           .param .align 4 .b8 d[6], .param .f32 e) { ret; }",
    );
    let kernel = last(&module);
    let places: Vec<_> = kernel.params.iter().map(|p| (p.offset, p.size, p.align)).collect();
    assert_eq!(places, [(0, 1, 1), (8, 8, 8), (16, 2, 2), (20, 6, 4), (28, 4, 4)]);
    assert_eq!(kernel.param_bytes, 32);
    assert_eq!(kernel.params[1].pointer.map(|p| p.align), Some(16));
    assert_eq!(kernel.params[3].array, Some(6));
}

#[test]
fn a_kernel_parameter_has_an_address_in_parameter_space() {
    let module = kernel("mov.b64 %rd0, ptr; ld.param.u32 %r0, [%rd0+4]; ld.param.u32 %r1, [n];");
    assert_eq!(
        lines(last(&module)),
        ["address d0, in0", "ld.param.u32 r0, [d0+4]", "ld.param.u32 r1, [in1]", "ret"]
    );
}
