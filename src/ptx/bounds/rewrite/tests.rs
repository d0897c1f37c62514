//! What is refused, what stands in the text, and what is known of a kernel's parameters.

mod regions;

use super::*;
use crate::ptx::LoadedPtx;

fn load(outside: &str, body: &str) -> LoadedPtx {
    let text = format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n{outside}\n\
         .visible .entry k(.param .u64 x, .param .u64 y, .param .u64 n)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .b32 s;\n{body}\n}}\n"
    );
    LoadedPtx::read("test.ptx", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn rewritten(loaded: &LoadedPtx, open: &SiteSet) -> Result<Rewritten, Refused> {
    rewrite(loaded, "k", &[0, 1], open, RewriteOptions::default())
}

const LOADS: &str = "ld.param.u64 %d0, [x];\nld.param.u64 %d1, [y];\nld.param.u64 %d2, [n];\n";

#[test]
fn what_is_not_understood_is_refused_by_name_and_line() {
    let printf = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);";
    let cases = [
        ("", "tcgen05.fence::before_thread_sync;\nret;", "tcgen05"),
        ("", "bar.sync %r0;\nret;", "barrier"),
        ("", "l: ts: .branchtargets l;\nbrx.idx %r0, ts;", "brx.idx"),
        ("", "mbarrier.init.shared.b64 [%d0], 1;\nret;", "mbarrier"),
        ("", "setmaxnreg.inc.sync.aligned.u32 64;\nret;", "setmaxnreg"),
        (".extern .func f();", "call f, ();\nret;", "not defined"),
        (".func f();\n.func f()\n{\ncall f, ();\nret;\n}", "call f, ();\nret;", "recursion"),
        (".func f()\n{\nret;\n}", "mov.u64 %d0, f;\nret;", "address of a function"),
        (
            ".extern .func (.param .b64 r) malloc(.param .b64 n);",
            "{ .param .b64 a; .param .b64 b;\nst.param.b64 [a], 8; call (b), malloc, (a); }\nret;",
            "malloc",
        ),
        (
            printf,
            "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %d0; st.param.b64 [b], 0;\ncall (c), vprintf, (a, b); }\nret;",
            "vprintf",
        ),
        ("", "ld.global.u32 %r0, [%r1];\nret;", "address"),
    ];
    for (outside, body, word) in cases {
        let loaded = load(outside, body);
        let refused = rewritten(&loaded, &SiteSet::All).unwrap_err();
        assert!(refused.what.contains(word), "{body}: {refused}");
        assert!(refused.line > 3, "{body}: {refused}");
        assert!(!loaded.source().text(refused.span).is_empty(), "{body}: {refused}");
    }
}

#[test]
fn only_open_sites_are_checked_and_other_kernels_are_left_out() {
    let other = ".visible .entry other()\n{\nret;\n}";
    let body = format!("{LOADS}ld.global.u32 %r0, [%d0];\nst.global.u32 [%d1], %r0;\nret;");
    let loaded = load(other, &body);
    let (_, function) = loaded.module().function("k").unwrap();
    let store =
        function.code.iter().position(|inst| !inst.op.memory_accesses().is_empty() && inst.line == 15);
    let open = SiteSet::These([(store.unwrap() as u32, Open::WHOLLY)].into());
    let one = rewritten(&loaded, &open).unwrap();
    let lines: Vec<&str> = one.text.lines().collect();
    assert_eq!(one.sites.len(), 1);
    assert_eq!((one.sites[0].line, one.sites[0].buffer), (15, Some(1)));
    assert_eq!(lines[13], "ld.global.u32 %r0, [%d0];");
    assert!(lines[14].ends_with("st.global.u32 [%d1], %r0;") && lines[14] != "st.global.u32 [%d1], %r0;");
    assert!(!one.text.contains("other"));
    let limit = Limit { parameter: 1, bytes: 4, write: true, align: 4 };
    assert_eq!(one.params.values, [ExtraValue::Record, ExtraValue::Limit(limit)]);
    assert_eq!(one.params.offset, 24);
}

#[test]
fn a_check_at_the_first_instruction_stands_behind_the_entry() {
    let loaded = load("", "ld.shared.u32 %r0, [%r1];\nret;");
    let text = rewritten(&loaded, &SiteSet::All).unwrap().text;
    assert!(text.find(".reg .pred %sg_ok0").unwrap() < text.find("sub.u32 %sg_n").unwrap());
    assert!(LoadedPtx::read("again.ptx", &text).is_ok());
}

#[test]
fn names_of_the_text_are_not_taken() {
    let loaded = load("", ".reg .b32 %sg_f;\nmov.u32 %sg_f, 1;\nld.shared.u32 %r0, [%r1];\nret;");
    let text = rewritten(&loaded, &SiteSet::All).unwrap().text;
    assert!(text.contains("%sg1_f"));
    assert!(LoadedPtx::read("again.ptx", &text).is_ok());
}

/// `Writes` with the text of the instruction.
#[derive(Debug, PartialEq)]
enum Wrote {
    No,
    Unknown,
    Yes(String),
}

fn written(outside: &str, body: &str) -> Vec<Wrote> {
    let loaded = load(outside, &format!("{LOADS}{body}\nret;"));
    let text = |place: Place| {
        let inst = &loaded.module().functions[place.function as usize].code[place.pc as usize];
        loaded.source().text(inst.span).to_owned()
    };
    let writes = stores(&loaded, "k", &[0, 1]).into_iter();
    writes
        .map(|writes| match writes {
            Writes::No => Wrote::No,
            Writes::Unknown => Wrote::Unknown,
            Writes::Yes(place) => Wrote::Yes(text(place)),
        })
        .collect()
}

#[test]
fn stores_through_parameters_are_known_at_load() {
    let stores = |body: &str| written("", body);
    use Wrote::{No, Unknown};
    let yes = |text: &str| Wrote::Yes(text.to_owned());
    assert_eq!(
        stores("ld.global.u32 %r0, [%d0];\nst.global.u32 [%d1+4], %r0;"),
        [No, yes("st.global.u32 [%d1+4], %r0;"), No]
    );
    assert_eq!(
        stores("add.s64 %d3, %d0, %d2;\nred.global.add.u32 [%d3], 1;"),
        [yes("red.global.add.u32 [%d3], 1;"), No, No]
    );
    let either = "selp.b64 %d3, %d0, %d1, %p0;\nst.global.u32 [%d3], %r0;";
    assert_eq!(stores(either), [Unknown, Unknown, No]);
    let loaded = "ld.global.u64 %d3, [%d0];\nst.global.u32 [%d3], %r0;\nst.global.u32 [%d1], %r0;";
    assert_eq!(stores(loaded), [Unknown, yes("st.global.u32 [%d1], %r0;"), No]);
    // a register that holds one address and then another
    let twice = "mov.u64 %d3, %d0;\nld.global.u32 %r0, [%d3];\nmov.u64 %d3, %d1;\nst.global.u32 [%d3], %r0;";
    assert_eq!(stores(twice), [No, yes("st.global.u32 [%d3], %r0;"), No]);
}

#[test]
fn stores_of_called_functions_are_those_of_their_arguments() {
    use Wrote::{No, Unknown};
    let store = "st.global.u32 [%a], %v;";
    let put = format!(
        ".func put(.param .b64 p, .param .b64 at)\n{{\n.reg .b64 %a, %b; .reg .b32 %v;\nld.param.u64 %a, [p];\n\
         ld.param.u64 %b, [at];\nadd.s64 %a, %a, %b;\n{store}\nret;\n}}"
    );
    let call = |first: &str, second: &str| {
        format!(
            "{{ .param .b64 p; .param .b64 at;\nst.param.b64 [p], {first};\nst.param.b64 [at], {second};\n\
             call put, (p, at); }}"
        )
    };
    let yes = || Wrote::Yes(store.to_owned());
    assert_eq!(written(&put, &call("%d1", "%d2")), [No, yes(), No]);
    assert_eq!(written(&put, &call("%d1", "16")), [No, yes(), No]);
    assert_eq!(written(&put, &call("%d2", "%d0")), [yes(), No, No], "the sum of both is an address in x");
    assert_eq!(written(&put, &call("%d0", "%d1")), [Unknown, Unknown, No], "the sum of two addresses");
    let either = format!("selp.b64 %d3, %d0, %d1, %p0;\n{}", call("%d3", "0"));
    assert_eq!(written(&put, &either), [Unknown, Unknown, No]);
    let joined = format!("@%p0 bra l;\nl:\n{}", call("%d0", "0"));
    assert_eq!(written(&put, &joined), [yes(), No, No]);

    // through a second function, whose own parameter it is
    let outer = format!(
        "{put}\n.func outer(.param .b64 q)\n{{\n.reg .b64 %a;\nld.param.u64 %a, [q];\n{}\nret;\n}}",
        call("%a", "0")
    );
    let through = "{ .param .b64 q;\nst.param.b64 [q], %d0;\ncall outer, (q); }";
    assert_eq!(written(&outer, through), [yes(), No, No]);
    // one that only reads
    let get = put.replace(store, "ld.global.u32 %v, [%a];");
    assert_eq!(written(&get, &call("%d0", "0")), [No, No, No]);
}

#[test]
fn alignment_follows_from_the_arithmetic() {
    let aligned = |body: &str| {
        let loaded = load("", &format!("{LOADS}{body}\nld.global.u64 %d4, [%d3+8];\nret;"));
        let rewritten = rewritten(&loaded, &SiteSet::All).unwrap();
        rewritten.params.values.iter().any(|value| match value {
            ExtraValue::Limit(limit) | ExtraValue::Indices(IndexLimit { limit, .. }) => limit.align == 8,
            _ => false,
        })
    };
    assert!(aligned("mul.wide.u32 %d3, %r0, 8;\nadd.s64 %d3, %d0, %d3;"));
    assert!(aligned("cvt.s64.s32 %d3, %r0;\nshl.b64 %d3, %d3, 4;\nadd.s64 %d3, %d3, %d0;"));
    assert!(aligned("mov.u64 %d3, %d0;\nl:\nadd.s64 %d3, %d3, 16;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra l;"));
    assert!(!aligned("mul.wide.u32 %d3, %r0, 4;\nadd.s64 %d3, %d0, %d3;"));
    assert!(!aligned("add.s64 %d3, %d0, %d2;"));
    assert!(!aligned("mov.u64 %d3, %d0;\nl:\nadd.s64 %d3, %d3, 12;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra l;"));
}
