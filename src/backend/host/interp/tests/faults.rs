//! What a kernel may not do, and what is said about it. Memory outside stays as it was.

use super::*;
use crate::fault::{AccessKind, FaultKind, Space};

const SCATTER: &str = ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [out];
ld.param.u32 %r1, [scale];
mov.u32 %r0, %tid.x;
mul.lo.u32 %r2, %r0, %r1;
cvt.s64.s32 %rd1, %r2;
add.u64 %rd2, %rd0, %rd1;
st.global.u32 [%rd2], %r0;
ret;";

fn scatter() -> Rig {
    Rig::kernel(".param .u64 out, .param .u32 scale", SCATTER)
}

#[test]
fn a_store_past_the_end_names_line_thread_and_distance() {
    for watched in [false, true] {
        let mut rig = scatter();
        rig.statistics = watched;
        let guard = rig.upload(&[7_u32; 4]);
        let out = rig.upload(&[0_u32; 40]);
        let fault = rig.launch("k", 1, 64, 0, &[Arg::Out(out), Arg::U32(4)]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::OutOfRange);
        let site = fault.site.as_ref().unwrap();
        assert_eq!(site.text, "st.global.u32 [%rd2], %r0;");
        assert_eq!((site.column, site.length), (1, 26));
        assert_eq!(site.thread, [40, 0, 0], "the lowest thread that is out of range");
        let access = fault.access.unwrap();
        assert_eq!((access.kind, access.space, access.bytes), (AccessKind::Store, Space::Global, 4));
        let near = fault.buffer.as_ref().unwrap();
        assert_eq!((near.name.as_str(), near.argument, near.bytes, near.offset), ("out", Some(0), 160, 160));
        // the first warp had run, of the second nobody wrote
        let written = rig.download::<u32>(out);
        assert_eq!(written[..32], (0..32).collect::<Vec<u32>>()[..]);
        assert_eq!(written[32..], [0; 8]);
        assert_eq!(rig.download::<u32>(guard), [7; 4]);
        assert!(fault.contained);
    }
}

#[test]
fn a_store_before_the_beginning() {
    let mut rig = scatter();
    let out = rig.upload(&[0_u32; 40]);
    let fault = rig.launch("k", 1, 32, 0, &[Arg::Out(out), Arg::U32(-8_i32 as u32)]).unwrap_err();
    assert_eq!(fault.buffer.as_ref().unwrap().offset, -8);
    assert_eq!(fault.site.as_ref().unwrap().thread, [1, 0, 0]);
}

#[test]
fn misaligned_null_read_only_freed_and_stray() {
    let run = |prepare: &dyn Fn(&mut Rig) -> Arg, scale: u32| {
        let mut rig = scatter();
        let arg = prepare(&mut rig);
        rig.launch("k", 1, 32, 0, &[arg, Arg::U32(scale)]).unwrap_err()
    };
    let fault = run(&|rig| Arg::Out(rig.upload(&[0_u32; 40])), 2);
    assert_eq!((fault.kind, fault.site.unwrap().thread[0]), (FaultKind::Misaligned, 1));
    assert_eq!(run(&|_| Arg::U64(0), 4).kind, FaultKind::Null);
    assert_eq!(run(&|rig| Arg::In(rig.upload(&[0_u32; 40])), 4).kind, FaultKind::ReadOnly);
    assert_eq!(run(&|_| Arg::U64(0x1234_5678_9abc_def0), 4).kind, FaultKind::Stray);
    let fault = run(
        &|rig| {
            let gone = rig.upload(&[0_u32; 8]);
            rig.memory.free(gone).unwrap();
            Arg::U64(gone)
        },
        4,
    );
    assert_eq!(fault.kind, FaultKind::Freed);
    assert_eq!(fault.buffer.unwrap().bytes, 32);
    // memory that is alive but was not given to the launch
    let fault = run(&|rig| Arg::U64(rig.upload(&[0_u32; 40])), 4);
    assert_eq!(fault.kind, FaultKind::OutOfRange);
    assert_eq!(fault.buffer.unwrap().offset, 0);
}

#[test]
fn an_unchecked_launch_may_touch_every_live_allocation() {
    let mut rig = scatter();
    rig.access = AccessRule::AnyLive;
    let out = rig.upload(&[9_u32; 32]);
    rig.launch("k", 1, 32, 0, &[Arg::U64(out), Arg::U32(4)]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(rig.download::<u32>(out), (0..32).collect::<Vec<u32>>());
}

#[test]
fn shared_and_local_memory_end() {
    let shared = ".shared .u32 s[8];\nmov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r1, %r1, %r2;\n\
                  st.shared.u32 [%r1], %r0;";
    let mut rig = body_rig(shared);
    let out = rig.upload(&[0_u64; 32]);
    let fault = rig.launch("k", 1, 32, 0, &[Arg::Out(out)]).unwrap_err();
    assert_eq!((fault.kind, fault.access.unwrap().space), (FaultKind::OutOfRange, Space::Shared));
    assert_eq!(fault.site.unwrap().thread, [8, 0, 0]);

    let local = ".local .b8 l[64];\nmov.u64 %rd1, l;\nmul.wide.u32 %rd2, %r0, 1048576;\nadd.u64 %rd1, %rd1, %rd2;\n\
                 st.local.u32 [%rd1], %r0;";
    let mut rig = body_rig(local);
    let out = rig.upload(&[0_u64; 32]);
    let fault = rig.launch("k", 1, 32, 0, &[Arg::Out(out)]).unwrap_err();
    assert_eq!((fault.kind, fault.access.unwrap().space), (FaultKind::OutOfRange, Space::Local));
}

#[test]
fn endless_recursion_is_a_limit_of_the_device() {
    let text = module(
        ".func f()\n{\n.local .b8 big[1024];\ncall f, ();\nret;\n}\n.visible .entry k()\n{\ncall f, ();\nret;\n}",
    );
    let mut rig = Rig::new("deep.ptx", &text);
    let fault = rig.launch("k", 1, 32, 0, &[]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::StackOverflow);
}

#[test]
fn a_pointer_to_no_function() {
    let body = "proto: .callprototype ()_ ();\nmov.u64 %rd1, 1234;\ncall %rd1, (), proto;";
    let mut rig = body_rig(body);
    let out = rig.upload(&[0_u64; 32]);
    let fault = rig.launch("k", 1, 32, 0, &[Arg::Out(out)]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadCall);
}

#[test]
fn an_instruction_nobody_knows_faults_only_where_it_is_reached() {
    let body = "setp.lt.u32 %p0, %r0, 64;\n@%p0 bra over;\ntcgen05.fence::before_thread_sync;\nover:";
    assert_eq!(run_body(32, body).len(), 32);
    let mut rig = body_rig("tcgen05.fence::before_thread_sync;");
    let out = rig.upload(&[0_u64; 32]);
    let fault = rig.launch("k", 1, 32, 0, &[Arg::Out(out)]).unwrap_err();
    let FaultKind::Unsupported { opcode } = &fault.kind else { panic!("{fault}") };
    assert!(opcode.contains("tcgen05"), "{opcode}");
}
