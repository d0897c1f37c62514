//! Control flow, barriers and operations between lanes.

use super::{becomes, is_unsupported, lowered};

#[test]
fn branches_go_to_instruction_indices() {
    let body = "bra.uni DONE; LOOP: add.s32 %r0, %r0, 1; @!%p0 bra LOOP; DONE: trap;";
    let expected = ["bra.uni @3", "add.s32 r0, r0, 0x1", "@!p0 bra @1", "trap"];
    assert_eq!(lowered(body), expected);
}

#[test]
fn a_label_at_the_end_of_the_body_stands_before_the_implied_return() {
    let module = super::module(".entry k() { .reg .pred %p; @%p bra END; trap; END: }");
    assert_eq!(super::lines(super::last(&module)), ["@p0 bra @2", "trap", "ret"]);
}

#[test]
fn labels_end_with_their_scope() {
    let body = "{ AGAIN: @%p0 bra AGAIN; } { AGAIN: @%p1 bra AGAIN; }";
    assert_eq!(lowered(body), ["@p0 bra @0", "@p1 bra @1"]);
}

#[test]
fn indexed_branches_have_their_list() {
    let body = "brx.idx %r0, ts; ts: .branchtargets A, B, A; A: exit; B: trap;";
    assert_eq!(lowered(body), ["brx r0, {@1, @2, @1}", "exit", "trap"]);
}

#[test]
fn barriers_keep_number_count_alignment_and_reduction() {
    becomes(&[
        ("bar.sync 0;", "bar.sync 0x0"),
        ("bar.sync %r0, 64;", "bar.sync r0, 0x40"),
        ("bar.cta.sync 1;", "bar.sync 0x1"),
        ("bar.arrive 1, %r1;", "bar.arrive 0x1, r1"),
        ("barrier.sync 2;", "barrier.sync 0x2"),
        ("barrier.cta.sync.aligned 2, 32;", "bar.sync 0x2, 0x20"),
        ("bar.red.popc.u32 %r0, 0, !%p1;", "bar.red.popc r0, 0x0, !p1"),
        ("bar.red.and.pred %p0, 0, 64, %p1;", "bar.red.and p0, 0x0, 0x40, p1"),
        ("barrier.cta.red.or.pred %p0, 3, %p1;", "barrier.red.or p0, 0x3, p1"),
        ("bar.warp.sync 0xffffffff;", "bar.warp.sync 0xffffffff"),
        ("barrier.cluster.arrive.release.aligned;", "bar.clusterarrive 0x0"),
        ("barrier.cluster.wait.acquire;", "barrier.clusterwait 0x0"),
    ]);
}

#[test]
fn lane_operations_keep_mode_mask_and_second_result() {
    becomes(&[
        ("shfl.sync.up.b32 %r0|%p0, %r1, 1, 0, -1;", "shfl.sync.up r0|p0, r1, 0x1, 0x0, 0xffffffff"),
        ("shfl.sync.bfly.b32 %r0, %r1, 16, 31, %r2;", "shfl.sync.bfly r0, r1, 0x10, 0x1f, r2"),
        ("shfl.idx.b32 %r0, %r1, %r2, 31;", "shfl.idx r0, r1, r2, 0x1f"),
        ("vote.sync.ballot.b32 %r0, !%p0, %r1;", "vote.sync.ballot r0, !p0, r1"),
        ("vote.sync.all.pred %p0, %p1, -1;", "vote.sync.all p0, p1, 0xffffffff"),
        ("vote.uni.pred %p0, 1;", "vote.uni p0, 0x1"),
        ("match.any.sync.b64 %r0, %rd0, -1;", "match.any.b64 r0, d0, 0xffffffff"),
        ("match.all.sync.b32 %r0|%p0, %r1, %r2;", "match.all.b32 r0|p0, r1, r2"),
        ("redux.sync.add.s32 %r0, %r1, -1;", "redux.add.s32 r0, r1, 0xffffffff"),
        ("redux.sync.xor.b32 %r0, %r1, %r2;", "redux.xor.b32 r0, r1, r2"),
        ("redux.sync.min.abs.NaN.f32 %r0, %r1, %r2;", "redux.min.abs.NaN.f32 r0, r1, r2"),
        ("activemask.b32 %r0;", "activemask r0"),
        ("elect.sync %r0|%p0, -1;", "elect r0|p0, 0xffffffff"),
        ("elect.sync _|%p0, %r1;", "elect _|p0, r1"),
        ("nanosleep.u32 100;", "nanosleep 0x64"),
        ("brkpt;", "brkpt"),
    ]);
    is_unsupported(
        "pmevent.odd %r0; wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0}, [%rd0];"
            .split_once("; ")
            .unwrap()
            .1,
        "wmma.load.a.sync.aligned.row.m16n16k16.f16",
    );
}
