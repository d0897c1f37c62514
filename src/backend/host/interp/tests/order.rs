//! The same result on any number of threads: independent blocks, blocks that build on each other, faults, output.

use super::*;
use crate::fault::FaultKind;

/// Runs on one, two and seven threads, and gives the outcome that all three had.
fn on_any_threads<T: PartialEq + std::fmt::Debug + Send>(run: impl Fn() -> T + Sync) -> T {
    let mut outcomes = [1, 2, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        (threads, pool.install(&run))
    });
    for (threads, outcome) in &outcomes[1..] {
        assert_eq!(outcome, &outcomes[0].1, "{threads} threads");
    }
    std::mem::replace(&mut outcomes[0], (0, run())).1
}

/// One thread in each of `blocks` blocks; `%r0` is the block, `%rd0` the buffer `data` of that many words.
fn blocks(count: u32, data: &[u32], body: &str) -> (Result<(), Fault>, Vec<u32>, String) {
    let text = format!(
        ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
         ld.param.u64 %rd0, [data]; mov.u32 %r0, %ctaid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd1, %rd0;
         mov.u32 %r8, 0;\nwork:\nadd.u32 %r8, %r8, 1; setp.lt.u32 %p0, %r8, 300; @%p0 bra work;
         {body}\nret;"
    );
    let mut rig = Rig::kernel(".param .u64 data", &text);
    rig.max_steps = None;
    let data = rig.upload(data);
    let result = rig.launch("k", count, 1, 0, &[Arg::Out(data)]).map(drop).map_err(|fault| *fault);
    (result, rig.download(data), rig.printed)
}

#[test]
fn independent_blocks() {
    let (result, data, _) = on_any_threads(|| {
        blocks(
            5000,
            &[1; 5000],
            "ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, %r0; st.global.u32 [%rd1], %r1;",
        )
    });
    assert_eq!(result, Ok(()));
    assert!(data.iter().enumerate().all(|(i, &v)| v == i as u32 + 1));
}

#[test]
fn every_block_reads_what_the_one_before_it_wrote() {
    let body = "ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1+4], %r1;";
    let (result, data, _) = on_any_threads(|| blocks(1000, &[0; 1001], body));
    assert_eq!(result, Ok(()));
    assert_eq!(data, (0..=1000).collect::<Vec<u32>>());
}

#[test]
fn tickets_from_one_counter() {
    let body = "atom.global.add.u32 %r1, [%rd0], 1; st.global.u32 [%rd1+4], %r1;";
    let (result, data, _) = on_any_threads(|| blocks(1000, &[0; 1001], body));
    assert_eq!(result, Ok(()));
    assert_eq!(data[0], 1000);
    assert_eq!(data[1..], (0..1000).collect::<Vec<u32>>()[..]);
}

#[test]
fn a_block_that_waits_for_the_one_before_it() {
    let body = "wait: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra wait;
                add.u32 %r1, %r1, 1; st.global.u32 [%rd1+4], %r1;";
    let mut data = vec![0; 401];
    data[0] = 1;
    let (result, data, _) = on_any_threads(|| blocks(400, &data, body));
    assert_eq!(result, Ok(()));
    assert_eq!(data[400], 401);
}

#[test]
fn the_first_fault_is_that_of_the_lowest_block() {
    let body = "st.global.u32 [%rd1], 5; rem.u32 %r1, %r0, 700; setp.eq.u32 %p1, %r1, 650; @%p1 trap;";
    let (result, data, _) = on_any_threads(|| blocks(3000, &[0; 3000], body));
    let fault = result.unwrap_err();
    assert_eq!((fault.kind, fault.site.unwrap().block), (FaultKind::Trap, [650, 0, 0]));
    assert_eq!(data.iter().filter(|&&v| v == 5).count(), 651, "the blocks after it did not run");
}

#[test]
fn neighbours_in_one_page_and_in_one_word() {
    let body =
        "add.u64 %rd2, %rd0, 0; cvt.u64.u32 %rd3, %r0; add.u64 %rd2, %rd2, %rd3; st.global.u8 [%rd2], %r0;";
    let (result, data, _) = on_any_threads(|| blocks(4096, &[0; 1024], body));
    assert_eq!(result, Ok(()));
    let bytes: &[u8] = bytemuck::cast_slice(&data);
    assert!(bytes.iter().enumerate().all(|(i, &v)| v == i as u8));
}
