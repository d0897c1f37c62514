//! Bugs planted for strict mode, each beside the form that is right.

use super::*;
use crate::fault::FaultKind;

fn strict(threads: u32, body: &str) -> Result<(), FaultKind> {
    let mut rig = body_rig(body);
    rig.strict = true;
    let out = rig.upload(&vec![0_u64; threads as usize]);
    rig.launch("k", 1, threads, 0, &[Arg::Out(out)]).map(drop).map_err(|fault| fault.kind)
}

const SHARED: &str = ".shared .u32 s[64];\nmov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r2, %r2, %r1;\n\
                      xor.b32 %r3, %r0, 1;\nshl.b32 %r3, %r3, 2;\nadd.u32 %r3, %r3, %r1;\n";

#[test]
fn registers_that_nothing_wrote() {
    assert_eq!(strict(32, "add.u32 %r1, %r2, 1;"), Err(FaultKind::Uninitialised));
    assert_eq!(strict(32, "@%p3 mov.u32 %r1, 1;"), Err(FaultKind::Uninitialised));
    let partly = "setp.lt.u32 %p0, %r0, 16;\n@%p0 mov.u32 %r2, 1;\nadd.u32 %r1, %r2, 1;";
    assert_eq!(strict(32, partly), Err(FaultKind::Uninitialised));
    // a copy that nobody uses is nobody's mistake
    assert_eq!(strict(32, "mov.u32 %r1, %r2;"), Ok(()));
    assert_eq!(strict(32, "mov.u32 %r1, %r2;\nadd.u32 %r3, %r1, 1;"), Err(FaultKind::Uninitialised));
    assert_eq!(strict(16, partly), Ok(()));
}

#[test]
fn shared_and_local_memory_that_nothing_wrote() {
    let read = format!("{SHARED}ld.shared.u32 %r4, [%r2];");
    assert_eq!(strict(32, &read), Err(FaultKind::Uninitialised));
    let written = format!("{SHARED}st.shared.u32 [%r2], 1;\nld.shared.u32 %r4, [%r2];");
    assert_eq!(strict(32, &written), Ok(()));
    assert_eq!(strict(32, ".local .u32 l[4];\nld.local.u32 %r1, [l+4];"), Err(FaultKind::Uninitialised));
    assert_eq!(strict(32, ".local .u32 l[4];\nst.local.u32 [l+4], 3;\nld.local.u32 %r1, [l+4];"), Ok(()));
}

#[test]
fn races_in_shared_memory_name_both_sides() {
    let body =
        |between: &str| format!("{SHARED}st.shared.u32 [%r2], %r0;\n{between}\nld.shared.u32 %r4, [%r3];");
    let mut rig = body_rig(&body(""));
    rig.strict = true;
    let out = rig.upload(&[0_u64; 64]);
    let fault = rig.launch("k", 1, 64, 0, &[Arg::Out(out)]).unwrap_err();
    let FaultKind::DataRace { other } = &fault.kind else { panic!("{fault}") };
    assert!(other.text.starts_with("st.shared"), "{}", other.text);
    assert!(fault.site.as_ref().unwrap().text.starts_with("ld.shared"));
    assert_eq!((other.thread[0], fault.site.as_ref().unwrap().thread[0]), (1, 0));
    assert_eq!(strict(64, &body("bar.sync 0;")), Ok(()));
    assert_eq!(strict(64, &body("bar.warp.sync -1;")), Ok(()), "partners are in one warp");
    // all threads to one place: harmless only if they agree
    let same = |value: &str| format!(".shared .u32 s;\nst.shared.u32 [s], {value};");
    assert_eq!(strict(64, &same("5")), Ok(()));
    assert!(matches!(strict(64, &same("%r0")), Err(FaultKind::DataRace { .. })));
}

#[test]
fn races_on_global_memory_across_blocks() {
    let run = |store: &str| {
        let body = format!(
            ".reg .b32 %r<3>; .reg .b64 %rd;\nld.param.u64 %rd, [out];\nmov.u32 %r0, %ctaid.x;\n{store}\nret;"
        );
        let mut rig = Rig::kernel(".param .u64 out", &body);
        rig.strict = true;
        let out = rig.upload(&[0_u32]);
        rig.launch("k", 2, 1, 0, &[Arg::Out(out)]).map(drop).map_err(|fault| fault.kind)
    };
    assert!(matches!(run("st.global.u32 [%rd], %r0;"), Err(FaultKind::DataRace { .. })));
    assert_eq!(run("red.global.add.u32 [%rd], %r0;"), Ok(()));
}

#[test]
fn barriers_and_shuffles_of_a_part_of_a_warp() {
    let divergent = "setp.lt.u32 %p0, %r0, 16;\n@%p0 bra a;\nbar.sync 0;\nbra b;\na:\nbar.sync 0;\nb:";
    assert_eq!(strict(32, divergent), Err(FaultKind::DivergentBarrier));
    assert_eq!(strict(32, "bar.sync 0;"), Ok(()));
    let inactive = "setp.lt.u32 %p0, %r0, 16;\n@%p0 shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff;";
    assert_eq!(strict(32, inactive), Err(FaultKind::InactiveLane));
    let active = "setp.lt.u32 %p0, %r0, 16;\n@%p0 shfl.sync.idx.b32 %r1, %r0, 3, 31, 0xffff;";
    assert_eq!(strict(32, active), Ok(()));
}

#[test]
fn division_by_zero() {
    assert_eq!(strict(32, "div.u32 %r1, 100, %r0;"), Err(FaultKind::DivisionByZero));
    assert_eq!(strict(32, "add.u32 %r2, %r0, 1;\nrem.s32 %r1, 100, %r2;"), Ok(()));
}

#[test]
fn non_coherent_loads_of_written_data() {
    let body = |load: &str| format!("st.global.u32 [%rd0], %r0;\n{load} %r1, [%rd0];");
    assert_eq!(strict(32, &body("ld.global.nc.u32")), Err(FaultKind::NonCoherentLoad));
    assert_eq!(strict(32, &body("ld.global.u32")), Ok(()));
}

#[test]
fn global_memory_counts_as_written_by_the_host_and_by_kernels() {
    let bytes = 32 * 8;
    let mut rig = body_rig("ld.global.u32 %r1, [%rd0+4];\nst.global.u32 [%rd0], %r1;");
    rig.strict = true;
    let out = rig.memory.allocate(bytes, 0).unwrap();
    let args = [Arg::Out(out)];
    let run = |rig: &mut Rig| {
        rig.launch("k", 1, 32, 0, &args)
            .map(drop)
            .map_err(|fault| (fault.kind.clone(), fault.site.clone().unwrap().thread[0]))
    };
    assert_eq!(run(&mut rig), Err((FaultKind::Uninitialised, 0)));
    // the host writes what the first sixteen threads read
    rig.memory.bytes_mut(out, bytes / 2).unwrap().fill(1);
    assert_eq!(run(&mut rig), Err((FaultKind::Uninitialised, 16)));
    // a copy of what nothing wrote is no better
    rig.memory.copy_within(out + 128, out + 64, 128).unwrap();
    assert_eq!(run(&mut rig), Err((FaultKind::Uninitialised, 24)));
    // nobody watches this launch, which may write all of it
    rig.strict = false;
    assert_eq!(run(&mut rig), Ok(()));
    rig.strict = true;
    assert_eq!(run(&mut rig), Ok(()));
    // a watched launch wrote what it wrote: every second word
    let mut rig = body_rig("st.global.u32 [%rd0], %r0;");
    rig.strict = true;
    let out = rig.memory.allocate(bytes, 0).unwrap();
    rig.launch("k", 1, 32, 0, &[Arg::Out(out)]).unwrap();
    let written = rig.memory.written_mut().next().unwrap();
    assert!((0..32).all(|i| written.contains(i * 8..i * 8 + 4) && !written.contains(i * 8 + 4..i * 8 + 5)));
}
