//! Every space, way to an address and instruction that the generated kernels leave out, one kernel each.

use super::*;
use crate::ptx::bounds::rewrite::RecordedAddress;
use crate::ptx::ir::Space;

/// What the record of a kernel says: thread, how many threads, text of the line, space, address less the beginning of
/// the first buffer where it is absolute.
#[derive(Debug, PartialEq)]
struct Found {
    thread: u64,
    threads: u64,
    text: String,
    space: Space,
    address: i64,
}

/// Runs `body` in one warp as kernel `k` of `x` (8 words to read) and `y` (32 words to write), with `outside` before
/// it. `%r0` is the thread's number, `%d0` and `%d1` the buffers.
fn run(outside: &str, body: &str) -> (Option<Found>, Vec<u32>) {
    let text = module(&format!(
        "{outside}\n.visible .entry k(.param .u64 x, .param .u64 y)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<20>; .shared .align 16 .b8 s[512]; .local .align 8 .b8 l[64];\n\
         ld.param.u64 %d0, [x];\nld.param.u64 %d1, [y];\nmov.u32 %r0, %tid.x;\n{body}\nret;\n}}"
    ));
    let x: Vec<u32> = (100..108).collect();
    let given = [Buffer::given(&x, false), Buffer::given(&[0_u32; 32], true)];
    let results = [false, true].map(|diagnose| {
        let options = RewriteOptions { diagnose, count_back_edges: false };
        let (outcome, sites) = run_rewritten(&text, "k", options, 0, (1.into(), 32.into(), 0), &given);
        let found = outcome.record.map(|recorded| {
            let site = &sites[usize::from(recorded.site)];
            let base = if site.address == RecordedAddress::Absolute { outcome.addresses[0] } else { 0 };
            Found {
                thread: recorded.thread,
                threads: recorded.threads,
                text: text.lines().nth(site.line as usize - 1).unwrap().to_owned(),
                space: site.space,
                address: recorded.address.wrapping_sub(base) as i64,
            }
        });
        (found, bytemuck::pod_collect_to_vec(&outcome.contents[1]))
    });
    let [at_exit, at_once] = results;
    assert_eq!(at_exit, at_once, "recorded at the exit and at once");
    at_exit
}

fn found(thread: u64, threads: u64, text: &str, space: Space, address: i64) -> Option<Found> {
    Some(Found { thread, threads, text: text.to_owned(), space, address })
}

/// Each thread's word of `y` becomes `%r9`.
const ANSWER: &str = "mul.wide.u32 %d9, %r0, 4;\nadd.s64 %d9, %d1, %d9;\nst.global.u32 [%d9], %r9;";

#[test]
fn a_destination_that_is_the_address() {
    let body =
        "mul.wide.u32 %d2, %r0, 8;\nadd.s64 %d2, %d0, %d2;\nld.global.u64 %d2, [%d2];\ncvt.u32.u64 %r9, %d2;";
    let (record, y) = run("", &format!("{body}\n{ANSWER}"));
    assert_eq!(record, found(4, 28, "ld.global.u64 %d2, [%d2];", Space::Global, 32));
    assert_eq!(y[..5], [100, 102, 104, 106, 0]);
}

#[test]
fn generic_addresses_of_every_space() {
    let global = "mul.wide.u32 %d2, %r0, 4;\nadd.s64 %d2, %d0, %d2;\nld.u32 %r9, [%d2];";
    let (record, y) = run("", &format!("{global}\n{ANSWER}"));
    assert_eq!(record, found(8, 24, "ld.u32 %r9, [%d2];", Space::Generic, 32));
    assert_eq!(y[6..10], [106, 107, 0, 0]);

    let shared = "mov.u64 %d2, s;\ncvta.shared.u64 %d2, %d2;\nmul.wide.u32 %d3, %r0, 32;\nadd.s64 %d2, %d2, %d3;\n\
                  st.u32 [%d2], %r0;\nld.u32 %r9, [%d2];";
    let (record, y) = run("", &format!("{shared}\n{ANSWER}"));
    assert_eq!(record, found(16, 16, "st.u32 [%d2], %r0;", Space::Shared, 512));
    assert_eq!(y[14..18], [14, 15, 0, 0]);

    let local = "mov.u64 %d2, l;\ncvta.local.u64 %d2, %d2;\nmul.wide.u32 %d3, %r0, 8;\nadd.s64 %d2, %d2, %d3;\n\
                 add.u32 %r9, %r0, 1;\nst.u32 [%d2+-8], %r9;\nmov.u32 %r9, 9;\nld.u32 %r9, [%d2+-8];";
    let (record, y) = run("", &format!("{local}\n{ANSWER}"));
    assert_eq!(record, found(0, 24, "st.u32 [%d2+-8], %r9;", Space::Local, -8));
    assert_eq!(y[..10], [0, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
}

#[test]
fn local_memory_by_its_own_addresses() {
    let body = "mov.u64 %d2, l;\nmul.wide.u32 %d3, %r0, 4;\nadd.s64 %d2, %d2, %d3;\nst.local.v2.u32 [%d2], {%r0, %r0};\n\
                ld.local.u32 %r9, [%d2+4];";
    let (record, y) = run("", &format!("{body}\n{ANSWER}"));
    // the odd threads are misaligned, and so are those from 15 on outside
    assert_eq!(record, found(1, 24, "st.local.v2.u32 [%d2], {%r0, %r0};", Space::Local, 4));
    assert_eq!(y[..4], [0, 0, 2, 0]);
    assert_eq!(y[14..18], [14, 0, 0, 0], "the array ends");
}

#[test]
fn pointers_from_memory_may_lead_to_any_buffer_and_nowhere_else() {
    // each thread keeps a pointer in its own place of shared memory, and comes back for it
    let through = |pointer: &str, access: &str| {
        let body = format!(
            "mov.u64 %d2, s;\nmul.wide.u32 %d3, %r0, 8;\nadd.s64 %d2, %d2, %d3;\nst.shared.u64 [%d2], {pointer};\n\
             ld.shared.u64 %d4, [%d2];\nmul.wide.u32 %d5, %r0, 4;\nadd.s64 %d4, %d4, %d5;\nmov.u32 %r9, 7;\n{access}"
        );
        run("", &body)
    };
    let (record, y) = through("%d1", "st.global.u32 [%d4], %r0;");
    assert_eq!((record, y[5], y[31]), (None, 5, 31));
    let (record, _) = through("%d0", "st.global.u32 [%d4], %r0;");
    assert_eq!(record, found(0, 32, "st.global.u32 [%d4], %r0;", Space::Global, 0));
    let (record, _) = through("%d0", "ld.global.u32 %r9, [%d4];");
    assert_eq!(record, found(8, 24, "ld.global.u32 %r9, [%d4];", Space::Global, 32));
    let (record, y) = through("%d1", "atom.add.u32 %r9, [%d4+16], 3;");
    assert_eq!(record.map(|record| (record.thread, record.threads)), Some((28, 4)));
    assert_eq!(y[..6], [0, 0, 0, 0, 3, 3]);
}

#[test]
fn one_of_two_buffers_is_either() {
    let body = "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p0, %r1, 1;\nselp.b64 %d2, %d0, %d1, %p0;\nmul.wide.u32 %d3, %r0, 4;\n\
                add.s64 %d2, %d2, %d3;\nld.global.u32 %r9, [%d2];";
    let (record, y) = run("", &format!("{body}\n{ANSWER}"));
    assert_eq!(record, found(9, 12, "ld.global.u32 %r9, [%d2];", Space::Global, 36));
    assert_eq!(y[..9], [0, 101, 0, 103, 0, 105, 0, 107, 0]);
}

#[test]
fn variables_of_the_module() {
    let outside = ".global .align 4 .u32 g[4];\n.const .align 4 .u32 c[4] = {5, 6, 7, 8};";
    let body = "mul.wide.u32 %d3, %r0, 4;\nmov.u64 %d2, c;\nadd.s64 %d2, %d2, %d3;\nld.const.u32 %r9, [%d2];\n\
                mov.u64 %d2, g;\nadd.s64 %d2, %d2, %d3;\nst.global.u32 [%d2], %r9;\nld.global.u32 %r9, [%d2];";
    let (record, y) = run(outside, &format!("{body}\n{ANSWER}"));
    let record = record.unwrap();
    assert_eq!((record.thread, record.threads, record.space), (4, 28, Space::Const));
    assert_eq!(y[..6], [5, 6, 7, 8, 0, 0]);
}

#[test]
fn functions_are_checked_and_keep_the_first_failure() {
    let outside = ".func (.param .b32 out) f(.param .b64 p, .param .b32 i)\n{\n\
                   .reg .b64 %a<3>; .reg .b32 %b<3>; .reg .pred %q;\nld.param.u64 %a0, [p];\nld.param.u32 %b0, [i];\n\
                   setp.gt.u32 %q, %b0, 25;\n@%q bra late;\nmul.wide.u32 %a1, %b0, 4;\nadd.s64 %a1, %a0, %a1;\n\
                   ld.global.u32 %b1, [%a1];\nst.param.b32 [out], %b1;\nret;\nlate:\ntrap;\n}";
    let call = |first: &str| {
        format!(
            "{first}\n{{\n.param .b64 a;\n.param .b32 b;\n.param .b32 c;\nst.param.b64 [a], %d0;\nst.param.b32 [b], %r0;\n\
             call.uni (c), f, (a, b);\nld.param.b32 %r9, [c];\n}}\n{ANSWER}"
        )
    };
    let (record, y) = run(outside, &call(""));
    assert_eq!(record, found(8, 24, "ld.global.u32 %b1, [%a1];", Space::Global, 32));
    assert_eq!(y[5..10], [105, 106, 107, 0, 0]);
    // a failure of the kernel before the call stays the thread's first
    let before = "mul.wide.u32 %d3, %r0, 4;\nsub.s64 %d3, %d1, %d3;\nst.global.u32 [%d3], %r0;";
    let (record, _) = run(outside, &call(before));
    let record = record.unwrap();
    assert_eq!((record.thread, record.threads), (1, 31));
    assert_eq!(record.text, "st.global.u32 [%d3], %r0;");
}

#[test]
fn asynchronous_copies_check_both_ends() {
    let body = "mul.wide.u32 %d2, %r0, 16;\nadd.s64 %d2, %d0, %d2;\nmov.u32 %r1, s;\nmad.lo.u32 %r1, %r0, 16, %r1;\n\
                cp.async.cg.shared.global [%r1], [%d2], 16;\ncp.async.wait_all;\nld.shared.u32 %r9, [%r1];";
    let (record, y) = run("", &format!("{body}\n{ANSWER}"));
    assert_eq!(record, found(2, 30, "cp.async.cg.shared.global [%r1], [%d2], 16;", Space::Global, 32));
    assert_eq!(y[..4], [100, 104, 0, 0]);
    let body = body.replace("%r0, 16, %r1", "%r0, 512, %r1").replace("%r0, 16;", "%r0, 0;");
    let (record, _) = run("", &body);
    assert_eq!(record, found(1, 31, "cp.async.cg.shared.global [%r1], [%d2], 16;", Space::Shared, 512));
}

#[test]
fn matrix_rows_stop_the_whole_warp() {
    let body = |scale: u32| {
        format!(
            "mov.u32 %r1, s;\nmad.lo.u32 %r1, %r0, {scale}, %r1;\nst.shared.u32 [s+4], 77;\nmov.u32 %r2, 5;\n\
             ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r2}}, [%r1];\nmov.u32 %r9, %r2;\n{ANSWER}"
        )
    };
    // lanes from 8 on give no address, so theirs may lie outside
    let (record, y) = run("", &body(64));
    assert_eq!((record, y[1]), (None, 77));
    let (record, y) = run("", &body(80));
    assert_eq!(record.map(|record| (record.thread, record.threads, record.address)), Some((7, 1, 560)));
    assert_eq!(y, [0; 32]);
}

#[test]
fn the_parameters_themselves() {
    let body = "mov.b64 %d2, x;\nmul.wide.u32 %d3, %r0, 4;\nadd.s64 %d2, %d2, %d3;\nld.param.u32 %r9, [%d2];";
    let (record, _) = run("", &format!("{body}\n{ANSWER}"));
    assert_eq!(record, found(4, 28, "ld.param.u32 %r9, [%d2];", Space::Param, 16));
}

#[test]
fn memory_ends_where_its_last_byte_does() {
    let each = |begin: &str, access: &str| {
        let outside = ".global .align 8 .b8 g[11];\n.const .align 8 .b8 c[11] = {1, 2, 3, 4, 5};";
        let body = format!("{begin}\nmul.wide.u32 %d3, %r0, 4;\nadd.s64 %d2, %d2, %d3;\n{access}");
        let record = run(outside, &body).0.unwrap();
        assert_eq!((record.thread, record.threads), (2, 30), "{access}");
        assert_eq!(record.text, access);
    };
    each("mov.u64 %d2, g;", "st.global.u32 [%d2], %r0;");
    each("mov.u64 %d2, g;\ncvta.global.u64 %d2, %d2;", "st.u32 [%d2], %r0;");
    each("mov.u64 %d2, c;", "ld.const.u32 %r9, [%d2];");
    let (record, _) = run(
        "",
        "mov.u64 %d2, l;\nmul.wide.u32 %d3, %r0, 4;\nadd.s64 %d2, %d2, %d3;\nst.local.v4.u32 [%d2+-4], {%r0, %r0, %r0, %r0};",
    );
    // those at 0, 16, 32 and 48 fit, every other is misaligned or outside
    assert_eq!(record.map(|record| (record.thread, record.threads)), Some((0, 28)));
}

#[test]
fn an_aligned_distance_from_an_odd_place_is_misaligned() {
    let outside = ".global .align 8 .b8 g[256];";
    for (begin, access) in [("g+2", "ld.global.u32 %r9, [%d2];"), ("g", "ld.global.u32 %r9, [%d2+2];")] {
        let body =
            format!("mov.u64 %d2, {begin};\nmul.wide.u32 %d3, %r0, 4;\nadd.s64 %d2, %d2, %d3;\n{access}");
        let record = run(outside, &body).0.unwrap();
        assert_eq!((record.thread, record.threads), (0, 32), "{access}");
    }
}

#[test]
fn an_access_larger_than_all_of_shared_memory() {
    let text = module(
        ".visible .entry k(.param .u64 y)\n{\n.shared .align 16 .b8 s[8];\n.reg .b32 %r<9>; .reg .b64 %d<3>;\n\
         mov.u32 %r1, s;\nld.shared.v2.u32 {%r2, %r3}, [%r1];\nld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];\nret;\n}",
    );
    let given = [Buffer::given(&[0_u32; 4], true)];
    let (outcome, sites) =
        run_rewritten(&text, "k", RewriteOptions::default(), 0, (1.into(), 32.into(), 0), &given);
    let recorded = outcome.record.unwrap();
    assert_eq!((recorded.thread, recorded.threads, recorded.address), (0, 32, 0));
    assert_eq!(sites[usize::from(recorded.site)].bytes, 16);
}
