//! Lanes that go different ways: locks, gathering at `.sync` operations, barriers with exited threads, deadlocks.

use super::*;
use crate::fault::FaultKind;

#[test]
fn a_spin_lock_within_a_warp_makes_progress() {
    let text = module(
        ".global .u32 lock;\n.global .u32 count;\n.visible .entry k()\n{\n.reg .pred %p; .reg .b32 %r<4>;\n\
         again:\natom.global.cas.b32 %r0, [lock], 0, 1;\nsetp.ne.u32 %p, %r0, 0;\n@%p bra again;\n\
         ld.volatile.global.u32 %r1, [count];\nadd.u32 %r1, %r1, 1;\nst.volatile.global.u32 [count], %r1;\n\
         membar.gl;\natom.global.exch.b32 %r2, [lock], 0;\nret;\n}",
    );
    let mut rig = Rig::new("lock.ptx", &text);
    rig.launch("k", 2, 96, 0, &[]).unwrap_or_else(|fault| panic!("{fault}"));
    let count = rig.instance.variable(ptx::ir::VariableId(1)).unwrap().0;
    assert_eq!(rig.download::<u32>(count), [192]);
}

#[test]
fn a_warp_waits_for_what_another_warp_writes() {
    let text = module(
        ".visible .entry k(.param .u64 out)\n{\n.shared .u32 flag;\n.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;\n\
         ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 bra writer;\n\
         wait:\nld.volatile.shared.u32 %r1, [flag];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra wait;\n\
         mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1], %r1;\nret;\n\
         writer:\nmov.u32 %r2, 7;\nst.volatile.shared.u32 [flag], %r2;\nret;\n}",
    );
    let mut rig = Rig::new("flag.ptx", &text);
    let out = rig.upload(&[0_u32; 32]);
    rig.launch("k", 1, 64, 0, &[Arg::Out(out)]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(rig.download::<u32>(out), [7; 32]);
}

#[test]
fn a_shuffle_gathers_lanes_from_two_program_counters() {
    // odd and even lanes execute different instructions with the same mask
    let out = run_body(
        32,
        "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p0, %r1, 0;\nadd.u32 %r3, %r0, 100;\n@%p0 bra even;\n\
         shfl.sync.bfly.b32 %r2, %r3, 1, 31, -1;\nbra join;\n\
         even:\nshfl.sync.bfly.b32 %r2, %r3, 1, 31, -1;\n\
         join:\ncvt.u64.u32 %rd1, %r2;\nst.global.u64 [%rd0], %rd1;",
    );
    assert_eq!(out, (0..32).map(|i| (i ^ 1) + 100).collect::<Vec<u64>>());
}

#[test]
fn the_exit_of_a_lane_completes_what_others_wait_for() {
    let out = run_body(
        32,
        "mov.u64 %rd1, 5;\nsetp.lt.u32 %p0, %r0, 8;\n@%p0 exit;\nbar.warp.sync -1;\n\
         st.global.u64 [%rd0], %rd1;",
    );
    assert!(out.iter().enumerate().all(|(i, &v)| v == if i < 8 { 0 } else { 5 }));
}

#[test]
fn exited_threads_do_not_hold_a_barrier() {
    let out = run_body(
        100,
        "setp.lt.u32 %p0, %r0, 40;\n@%p0 exit;\nbar.sync 0;\nmov.u64 %rd1, 1;\nst.global.u64 [%rd0], %rd1;",
    );
    assert_eq!(out.iter().sum::<u64>(), 60);
}

#[test]
fn named_barriers_join_producers_and_consumers() {
    // warp 1 produces and only arrives, warp 0 waits for it
    let text = module(
        ".visible .entry k(.param .u64 out)\n{\n.shared .u32 data[32];\n.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n\
         ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r5, data;\nand.b32 %r1, %r0, 31;\nshl.b32 %r2, %r1, 2;\n\
         add.u32 %r2, %r2, %r5;\nsetp.ge.u32 %p, %r0, 32;\n@%p bra produce;\n\
         barrier.sync 3, 64;\nld.shared.u32 %r3, [%r2];\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd1, %rd0;\n\
         st.global.u32 [%rd1], %r3;\nret;\nproduce:\nadd.u32 %r3, %r1, 50;\nst.shared.u32 [%r2], %r3;\n\
         barrier.arrive 3, 64;\nret;\n}",
    );
    let mut rig = Rig::new("named.ptx", &text);
    let out = rig.upload(&[0_u32; 32]);
    rig.launch("k", 1, 64, 0, &[Arg::Out(out)]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(rig.download::<u32>(out), (50..82).collect::<Vec<u32>>());
}

#[test]
fn barriers_reduce_over_the_block() {
    let out = run_body(
        70,
        "setp.lt.u32 %p0, %r0, 33;\nbar.red.popc.u32 %r1, 0, %p0;\nbar.red.and.pred %p1, 0, %p0;\n\
         bar.red.or.pred %p2, 0, %p0;\nselp.u32 %r2, 1000, 0, %p1;\nselp.u32 %r3, 100, 0, %p2;\n\
         add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\ncvt.u64.u32 %rd1, %r1;\nst.global.u64 [%rd0], %rd1;",
    );
    assert_eq!(out, vec![133; 70]);
}

#[test]
fn divergent_loops_meet_again() {
    // each lane counts to its own number; afterwards all are together
    let out = run_body(
        32,
        "mov.u32 %r1, 0;\nloop:\nadd.u32 %r1, %r1, 1;\nsetp.le.u32 %p0, %r1, %r0;\n@%p0 bra loop;\n\
         activemask.b32 %r2;\ncvt.u64.u32 %rd1, %r2;\nshl.b64 %rd1, %rd1, 8;\ncvt.u64.u32 %rd2, %r1;\n\
         or.b64 %rd1, %rd1, %rd2;\nst.global.u64 [%rd0], %rd1;",
    );
    for (i, v) in out.into_iter().enumerate() {
        assert_eq!(v & 0xff, i as u64 + 1);
        assert_eq!(v >> 8, 0xffff_ffff, "lane {i} runs alone after the loop");
    }
}

#[test]
fn an_indexed_branch_sends_every_lane_its_own_way() {
    let out = run_body(
        32,
        "and.b32 %r1, %r0, 3;\nts: .branchtargets L0, L1, L2, L3;\nbrx.idx %r1, ts;\n\
         L0: mov.u64 %rd1, 10; bra done;\nL1: mov.u64 %rd1, 11; bra done;\nL2: mov.u64 %rd1, 12; bra done;\n\
         L3: mov.u64 %rd1, 13;\ndone:\nst.global.u64 [%rd0], %rd1;",
    );
    assert_eq!(out, (0..32).map(|i| 10 + i % 4).collect::<Vec<u64>>());
}

#[test]
fn a_barrier_that_nobody_else_reaches_is_a_deadlock() {
    let mut rig =
        body_rig("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra a;\nbar.sync 1;\nbra b;\na:\nbar.sync 2;\nb:");
    let out = rig.upload(&[0_u64; 64]);
    let fault = rig.launch("k", 1, 64, 0, &[Arg::Out(out)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Deadlock);
}

#[test]
fn an_endless_kernel_meets_its_budget() {
    for watched in [false, true] {
        let mut rig = body_rig("loop: bra loop;");
        rig.max_steps = Some(10_000);
        rig.statistics = watched;
        let out = rig.upload(&[0_u64; 32]);
        let fault = rig.launch("k", 1, 32, 0, &[Arg::Out(out)]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::StepLimit { steps: 10_000 });
    }
}
