//! What is a region and what ends one, seen in the text.

use super::*;

/// How many regions the body has, where the accesses `open` (all if none is named, by the text of their lines) are
/// checked; and the new text.
fn regions(body: &str, open: &[&str]) -> (usize, String) {
    let loaded = load("", &format!("{LOADS}mov.u32 %r1, s;\n{body}\nret;"));
    let (_, function) = loaded.module().function("k").unwrap();
    let named = |text: &str| open.iter().any(|line| text.starts_with(line));
    let sites = function.code.iter().enumerate().filter(|(_, inst)| named(loaded.source().text(inst.span)));
    let set = match open {
        [] => SiteSet::All,
        _ => SiteSet::These(sites.map(|(pc, _)| (pc as u32, Open::WHOLLY)).collect()),
    };
    let text = rewritten(&loaded, &set).unwrap().text;
    assert!(LoadedPtx::read("again.ptx", &text).is_ok(), "{text}");
    (text.matches("@!%sg_h bra").count(), text)
}

const TWO: &str = "ld.global.u32 %r2, [%d0];\nld.global.u32 %r3, [%d0+4];\n";

#[test]
fn straight_line_code_is_one_region() {
    let body =
        format!("{TWO}add.u32 %r2, %r2, %r3;\nst.global.u32 [%d1], %r2;\nred.global.add.u32 [%d1+4], 1;");
    let (count, text) = regions(&body, &[]);
    assert_eq!(count, 1);
    // two buffers, each compared once at the head; the copy compares each access
    let head = text.lines().find(|line| line.contains("@!%sg_h bra")).unwrap();
    assert_eq!(head.split("@!%sg_h").next().unwrap().matches("setp").count(), 2);
    assert!(head.ends_with("ld.global.u32 %r2, [%d0];"), "the original is as it was: {head}");
}

#[test]
fn what_other_threads_take_part_in_ends_a_region() {
    for between in [
        "bar.sync 0;",
        "barrier.sync 0;",
        "bar.warp.sync -1;",
        "shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;",
        "vote.sync.any.pred %p0, %p0, -1;",
        "match.any.sync.b32 %r4, %r0, -1;",
        "redux.sync.add.u32 %r4, %r0, -1;",
        "activemask.b32 %r4;",
        "elect.sync %r4|%p0, -1;",
        "membar.gl;",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, %d5}, {%d6}, {%d6}, {%d4, %d5};",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r1];",
        "{\n.reg .b32 %q;\nmov.u32 %q, 0;\n}",
        "@%p0 exit;",
    ] {
        assert_eq!(regions(&format!("{TWO}{between}\n{TWO}"), &[]).0, 2, "{between}");
        let lone = format!("ld.global.u32 %r2, [%d0];\n{between}\nld.global.u32 %r3, [%d0+4];");
        assert_eq!(regions(&lone, &[]).0, 0, "an access on either side of {between}");
    }
}

#[test]
fn loops_end_a_region_and_jumps_over_a_part_do_not() {
    let again = format!("{TWO}again:\n{TWO}setp.lt.u32 %p0, %r2, %r3;\n@%p0 bra again;\n{TWO}");
    assert_eq!(regions(&again, &[]).0, 3, "before, in, and behind the loop");
    let over =
        format!("{TWO}setp.lt.u32 %p0, %r2, %r3;\n@%p0 bra over;\nst.global.u32 [%d1], %r2;\nover:\n{TWO}");
    let (count, text) = regions(&over, &[]);
    assert_eq!(count, 1);
    assert_eq!(text.matches("over:").count(), 1, "the copy has labels of its own");
    // a jump from before the region to its middle
    let into = format!("@%p0 bra into;\nbar.sync 0;\n{TWO}into:\n{TWO}");
    assert_eq!(regions(&into, &[]).0, 2);
}

#[test]
fn an_address_that_is_loaded_on_the_way_keeps_its_own_check() {
    let body = format!(
        "{TWO}mul.wide.s32 %d4, %r2, 4;\nadd.s64 %d4, %d1, %d4;\nst.global.u32 [%d4], %r3;\nld.global.u32 %r4, [%d0+8];"
    );
    let (count, text) = regions(&body, &[]);
    assert_eq!(count, 1);
    let store = text.lines().find(|line| line.ends_with("st.global.u32 [%d4], %r3;")).unwrap();
    assert!(store.contains("setp.lt"), "{store}");
    let last = text.lines().find(|line| line.starts_with("ld.global.u32 %r4, [%d0+8];"));
    assert!(last.is_some(), "the load behind it is in the region");
    // arithmetic on the way is repeated at the head
    let body = "ld.global.u32 %r2, [%d0];\nadd.s64 %d4, %d0, %d2;\nld.global.u32 %r3, [%d4];\n\
                add.s64 %d4, %d4, %d2;\nld.global.u32 %r4, [%d4];";
    let (count, text) = regions(body, &[]);
    assert_eq!(count, 1);
    assert!(text.contains("add.s64 %sg_hd0, %d0, %d2; ") && text.contains("add.s64 %sg_hd1, %sg_hd0, %d2; "));
}

#[test]
fn only_open_accesses_make_a_region() {
    let body = format!("{TWO}st.global.u32 [%d1], %r2;\nst.global.u32 [%d1+4], %r3;");
    let (count, text) = regions(&body, &["st"]);
    assert_eq!(count, 1);
    assert!(text.contains("\nld.global.u32 %r2, [%d0];\nld.global.u32 %r3, [%d0+4];\n"), "{text}");
    assert_eq!(regions(&body, &["ld.global.u32 %r2"]).0, 0);
}
