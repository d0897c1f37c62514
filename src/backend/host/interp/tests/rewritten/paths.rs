//! Regions that jump over parts of themselves, registers that hold one thing or another, steps that wrap around: where
//! the head of a region must not believe what it sees.

use super::*;

/// One block of 32 threads runs `body`, in which `@@` stands before each access. `%d0` is a buffer of 64 words to read,
/// `%d1` one of 64 to write, `%r0` the thread's number, `%p0` says that it is odd, `%d10` is its own word of the first
/// buffer, `%d11` of the second. Gives the lines of `body` (from 1) that threads failed on first: the first thread's,
/// and how many threads failed.
fn run(body: &str) -> Option<(u64, u32, u64)> {
    let kernel = |apart: &str| {
        module(&format!(
            ".visible .entry k(.param .u64 x, .param .u64 y)\n{{\n\
             .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<20>;\n\
             mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 1; mov.u32 %r2, 3; mov.u32 %r3, 4;\n\
             ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; mul.wide.u32 %d2, %r0, 4; add.s64 %d10, %d0, %d2; \
             add.s64 %d11, %d1, %d2; membar.cta;\n{}\nmembar.cta; add.u32 %r2, %r2, %r3; st.global.u32 [%d11+128], %r2;\n\
             ret;\n}}",
            body.replace("@@", apart)
        ))
    };
    let given = [Buffer::given(&[9_u32; 64], false), Buffer::given(&[0_u32; 64], true)];
    let [found, expected] = ["", "membar.cta; "].map(|apart| {
        let text = kernel(apart);
        let shape = (1.into(), 32.into(), 0);
        let (outcome, sites) = run_rewritten(&text, "k", RewriteOptions::default(), 0, shape, &given);
        let before = text[..text.find("membar.cta;\n").unwrap()].matches('\n').count() as u32 + 1;
        let record = outcome.record.map(|recorded| {
            (recorded.thread, sites[usize::from(recorded.site)].line - before, recorded.threads)
        });
        (record, outcome.contents)
    });
    assert!(found == expected, "{body}: {:?}, without regions {:?}", found.0, expected.0);
    let loaded = LoadedPtx::read("k.ptx", &kernel("")).unwrap();
    let rewritten = rewrite(&loaded, "k", &[0, 1], &SiteSet::All, RewriteOptions::default()).unwrap();
    assert!(rewritten.text.contains("@!%sg_h bra"), "no region in {body}");
    found.0
}

/// Two accesses that make a region worth while.
const TWO: &str =
    "@@ld.global.u32 %r2, [%d10];\n@@ld.global.u32 %r3, [%d10+4];\n@@st.global.u32 [%d11], %r2;";

#[test]
fn what_a_skipped_part_writes_is_not_known_before() {
    let moved = format!(
        "{TWO}\n@%p0 bra over;\nadd.s64 %d10, %d10, 1048576;\nover:\n@@ld.global.u32 %r2, [%d10];\n@@ld.global.u32 %r3, [%d10+4];"
    );
    assert_eq!(run(&moved), Some((0, 7, 16)));
    let other = moved.replace("@%p0", "@!%p0");
    assert_eq!(run(&other), Some((1, 7, 16)));
    // both ways write
    let both = format!(
        "{TWO}\n@%p0 bra odd;\nadd.s64 %d12, %d10, 4;\nbra join;\nodd:\nadd.s64 %d12, %d10, 1048576;\njoin:\n\
         @@ld.global.u32 %r2, [%d12];"
    );
    assert_eq!(run(&both), Some((1, 10, 16)));
    let both = format!(
        "{TWO}\n@%p0 bra odd;\nadd.s64 %d12, %d10, 1048576;\nbra join;\nodd:\nadd.s64 %d12, %d10, 4;\njoin:\n\
         @@ld.global.u32 %r2, [%d12];"
    );
    assert_eq!(run(&both), Some((0, 10, 16)));
    // only what is skipped is right
    let mended = format!(
        "add.s64 %d12, %d10, 1048576;\n{TWO}\n@%p0 bra over;\nadd.s64 %d12, %d10, 4;\nover:\n@@ld.global.u32 %r2, [%d12];"
    );
    assert_eq!(run(&mended), Some((1, 8, 16)));
    // an index that one way changes
    let index = format!(
        "mov.u32 %r5, %r0;\n{TWO}\n@%p0 bra over;\nadd.s32 %r5, %r5, 100000;\nover:\nmul.wide.s32 %d12, %r5, 4;\n\
         add.s64 %d12, %d0, %d12;\n@@ld.global.u32 %r2, [%d12];"
    );
    assert_eq!(run(&index), Some((0, 10, 16)));
}

#[test]
fn a_jump_pardons_only_what_it_jumps_over() {
    let wild = "@@ld.global.u32 %r2, [%d10+1048576];";
    let over = format!("{TWO}\n@%p0 bra over;\n{wild}\nover:\n@@st.global.u32 [%d11+4], %r2;");
    assert_eq!(run(&over), Some((0, 5, 16)));
    // the predicate has changed since the jump was decided
    let changed = format!(
        "{TWO}\n@%p0 bra over;\nsetp.ne.u32 %p0, %r0, 77;\n{wild}\nover:\n@@st.global.u32 [%d11+4], %r2;"
    );
    assert_eq!(run(&changed), Some((0, 6, 16)));
    let again = format!(
        "{TWO}\nsetp.gt.u32 %p1, %r0, 5;\n@%p1 bra one;\nsetp.gt.u32 %p1, %r0, 3;\none:\n@%p1 bra two;\n{wild}\ntwo:\n@@st.global.u32 [%d11+4], %r2;"
    );
    assert_eq!(run(&again), Some((0, 9, 4)));
    // behind a jump over it, but reached by another jump
    let reached = format!(
        "setp.lt.u32 %p1, %r0, 8;\nsetp.lt.u32 %p2, %r0, 16;\n{TWO}\n@%p1 bra middle;\n@%p2 bra end;\nmiddle:\n{wild}\nend:\n\
         @@st.global.u32 [%d11+4], %r2;"
    );
    assert_eq!(run(&reached), Some((0, 9, 24)));
    // nothing is wrong with what nobody does
    let nobody = format!(
        "setp.lt.u32 %p1, %r0, 99;\n{TWO}\n@%p1 bra over;\n{wild}\nover:\n@@st.global.u32 [%d11+4], %r2;"
    );
    assert_eq!(run(&nobody), None);
    let guard = format!(
        "setp.lt.u32 %p1, %r0, 99;\n{TWO}\n@@@!%p1 st.global.u32 [%d10], %r2;\n@@st.global.u32 [%d11+4], %r2;"
    );
    assert_eq!(run(&guard), None);
}

#[test]
fn a_register_that_may_be_no_buffer_is_compared_as_an_address() {
    let either = "mov.u64 %d3, 64;\n@%p0 bra over;\nld.param.u64 %d3, [x];\nover:\nmul.wide.s32 %d4, %r0, 4;\n\
                  add.s64 %d5, %d3, %d4;\n@@ld.global.u32 %r2, [%d5];\n@@ld.global.u32 %r3, [%d5+4];";
    assert_eq!(run(either), Some((1, 7, 16)));
    let guarded = "mov.u64 %d3, 64;\n@%p0 ld.param.u64 %d3, [x];\nmul.wide.s32 %d4, %r0, 4;\n\
                   add.s64 %d5, %d3, %d4;\n@@ld.global.u32 %r2, [%d5];\n@@ld.global.u32 %r3, [%d5+4];";
    assert_eq!(run(guarded), Some((0, 5, 16)));
    let later = "ld.param.u64 %d3, [x];\nmov.u32 %r5, 0;\nagain:\nmul.wide.s32 %d4, %r0, 4;\nadd.s64 %d5, %d3, %d4;\n\
                 @@ld.global.u32 %r2, [%d5];\n@@ld.global.u32 %r3, [%d5+4];\nmov.u64 %d3, 64;\nadd.u32 %r5, %r5, 1;\n\
                 setp.lt.u32 %p1, %r5, 2;\n@%p1 bra again;";
    assert_eq!(run(later), Some((0, 6, 32)));
    // twice the address
    let sum = "add.s64 %d3, %d0, %d0;\nmul.wide.s32 %d4, %r0, 4;\nadd.s64 %d5, %d3, %d4;\n\
               @@ld.global.u32 %r2, [%d5];\n@@ld.global.u32 %r3, [%d5+4];";
    assert_eq!(run(sum), Some((0, 4, 32)));
    // an index that wraps before it is made wide
    let wrapped = "mov.u32 %r5, %r0;\nadd.s32 %r6, %r5, 2147483647;\nadd.s32 %r7, %r6, 2147483647;\nadd.s32 %r7, %r7, 2;\n\
                   mul.wide.s32 %d4, %r6, 4;\nadd.s64 %d4, %d0, %d4;\nmul.wide.s32 %d5, %r7, 4;\nadd.s64 %d5, %d0, %d5;\n\
                   @@ld.global.u32 %r2, [%d5];\n@@ld.global.u32 %r3, [%d5+4];\n@@ld.global.u32 %r3, [%d4];";
    assert_eq!(run(wrapped), Some((0, 11, 32)));
}

#[test]
fn steps_that_wrap_around_are_not_vouched_for() {
    // four loads, each a step further; where the last comes back to the buffer, those between may be anywhere
    let third = 0xaaaa_aaaa_aaaa_aaab_u64; // times 3 is 1
    let half = 1 << 63;
    let steps: Vec<u64> =
        [0, 1, 2, -1_i64 as u64, 40, third, third.wrapping_mul(2), third.wrapping_neg(), half]
            .into_iter()
            .chain([
                1 << 62,
                1 << 40,
                1 << 38,
                (1 << 38) + 1,
                -(1_i64 << 39) as u64,
                u64::MAX / 3,
                u64::MAX / 12,
            ])
            .chain((0..16).map(|i| third.wrapping_mul(i) ^ i << 61))
            .collect();
    let kernel = |apart: bool| {
        let apart = if apart { "membar.cta; " } else { "" };
        module(&format!(
            ".visible .entry k(.param .u64 x, .param .u64 y, .param .u64 index, .param .u64 out)\n{{\n\
             .reg .b32 %r<9>; .reg .b64 %d<20>;\n\
             ld.param.u64 %d0, [x];\nld.param.u64 %d2, [index];\nld.param.u64 %d3, [out];\nmov.u32 %r0, %tid.x;\n\
             mul.wide.u32 %d4, %r0, 8;\nadd.s64 %d5, %d2, %d4;\nld.global.u64 %d6, [%d5];\nmembar.cta;\n\
             shl.b64 %d7, %d6, 2;\nadd.s64 %d8, %d0, 128;\n{apart}ld.global.u32 %r1, [%d8];\nadd.s64 %d8, %d8, %d7;\n\
             {apart}ld.global.u32 %r2, [%d8];\nadd.s64 %d8, %d8, %d7;\n{apart}ld.global.u32 %r3, [%d8];\n\
             add.s64 %d8, %d8, %d7;\n{apart}ld.global.u32 %r4, [%d8];\nmembar.cta;\nadd.u32 %r1, %r1, %r2;\n\
             add.u32 %r3, %r3, %r4;\nadd.u32 %r1, %r1, %r3;\ncvt.u64.u32 %d9, %r1;\nadd.s64 %d10, %d3, %d4;\n\
             st.global.u64 [%d10], %d9;\nret;\n}}"
        ))
    };
    let [together, apart] = [false, true].map(kernel);
    let loaded = LoadedPtx::read("k.ptx", &together).unwrap();
    let text = rewrite(&loaded, "k", &[0, 1, 2, 3], &SiteSet::All, RewriteOptions::default()).unwrap().text;
    let head = text.lines().find(|line| line.contains("@!%sg_h bra")).unwrap();
    let tests = head.split("@!%sg_h bra").next().unwrap().matches("setp").count();
    assert_eq!(tests, 3, "the first, the last and the step: {head}");
    let x: Vec<u32> = (0..64).map(|i| i * i + 7).collect();
    for step in steps {
        let given = [
            Buffer::given(&x, false),
            Buffer::given(&[0_u32], true),
            Buffer::given(&[step], false),
            Buffer::given(&[0_u64], true),
        ];
        let [found, expected] = [&together, &apart].map(|text| {
            let (outcome, sites) =
                run_rewritten(text, "k", RewriteOptions::default(), 0, (1.into(), 1.into(), 0), &given);
            let record = outcome.record.map(|recorded| {
                let site = &sites[usize::from(recorded.site)];
                (site.line, recorded.address.wrapping_sub(outcome.addresses[0]))
            });
            (record, outcome.contents)
        });
        assert!(found == expected, "{step:#x}: {:?}, without regions {:?}", found.0, expected.0);
        let fits = (0..4).all(|k| 128_u64.wrapping_add(step.wrapping_mul(4 * k)) <= 252);
        assert_eq!(found.0.is_none(), fits, "{step:#x}");
    }
}
