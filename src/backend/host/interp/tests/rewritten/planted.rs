//! Generated kernels with accesses that go wrong, against an oracle that knows nothing of PTX.

use super::*;
use crate::ptx::bounds::rewrite::{RecordedAddress, SiteKind};
use crate::ptx::ir::Space;

// `tests/launches` runs the same kernels through the public interface.
#[path = "../../../../../../tests/launches/generator.rs"]
mod generator;
#[path = "../../../../../../tests/launches/oracle.rs"]
mod oracle;

pub(super) use generator::Random;
use generator::{BLOCKS, Planted, THREADS};
use oracle::Rule;

/// One generated kernel: does the record say what the oracle says? Whether anything failed.
fn try_seed(seed: u64) -> bool {
    let planted = Planted::new(seed);
    let [x_skew, y_skew] = planted.skew;
    let given = [
        Given::Buffer(Buffer { bytes: planted.x.clone(), writable: false, skew: x_skew }),
        Given::Buffer(Buffer { bytes: planted.y.clone(), writable: true, skew: y_skew }),
        Buffer::given(&planted.index, false),
        Buffer::given(&[0_u64; (THREADS * BLOCKS) as usize], true),
    ];
    let options = RewriteOptions { diagnose: seed % 4 == 1, count_back_edges: seed % 8 == 2 };
    let shape = (BLOCKS.into(), THREADS.into(), 0);
    let (outcome, sites) = run_rewritten(&planted.text, "k", options, 1000, shape, &given);
    let addresses = outcome.addresses.as_slice().try_into().unwrap();
    let expected = oracle::expect(&planted, addresses, Rule::LowestThread);
    let first = expected.first.map(|miss| (miss.thread, planted.accesses[miss.access].line, miss.address));
    let found = outcome.record.map(|recorded| {
        let site = &sites[usize::from(recorded.site)];
        assert!(matches!(site.kind, SiteKind::Access(_)));
        let relative = site.address == RecordedAddress::Offset;
        assert_eq!(relative, matches!(site.space, Space::Shared | Space::Local));
        (recorded.thread, site.line, recorded.address)
    });
    let threads = outcome.record.map_or(0, |recorded| recorded.threads);
    let out: Vec<u64> = bytemuck::pod_collect_to_vec(&outcome.contents[3]);
    let Planted { accesses, text, .. } = &planted;
    assert_eq!(
        (found, threads, out),
        (first, expected.threads, expected.out),
        "seed {seed}: {accesses:#?}\n{text}"
    );
    first.is_some()
}

#[test]
fn a_thousand_kernels_are_recorded_as_the_oracle_says() {
    let failed = (0..1000).filter(|&seed| try_seed(seed)).count();
    assert!((300..950).contains(&failed), "{failed} of 1000 failed: the plants are too rare or too common");
}

#[test]
fn an_endless_loop_spends_its_steps() {
    let text = module(
        ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p; .reg .b32 %r<3>;\nmov.u32 %r0, %tid.x;\n\
         again:\nsetp.ge.u32 %p, %r0, 7;\n@%p bra again;\nret;\n}",
    );
    let options = RewriteOptions { diagnose: false, count_back_edges: true };
    let (outcome, sites) =
        run_rewritten(&text, "k", options, 100, (1.into(), 40.into(), 0), &[Buffer::given(&[0_u8; 8], true)]);
    let recorded = outcome.record.unwrap();
    let site = &sites[usize::from(recorded.site)];
    assert_eq!((recorded.thread, recorded.threads), (7, 33));
    assert_eq!((site.kind, site.line), (SiteKind::Steps, 10));
}

#[test]
fn trap_and_assert_end_their_thread_with_a_record() {
    const COMMON: &str = include_str!("../../../../../../tests/corpus/nvcc/common_sm80.ptx");
    let run = |values: &[i32], n| {
        let given = [Buffer::given(values, true), Given::U32(n)];
        let shape = (1.into(), 8.into(), 0);
        let (outcome, sites) = run_rewritten(COMMON, "dbg", RewriteOptions::default(), 0, shape, &given);
        let recorded = outcome.record.unwrap();
        (sites[usize::from(recorded.site)].kind, recorded.thread)
    };
    assert_eq!(run(&[1, 2, 3, 4, 5, 6, 7, 8], 5).0, SiteKind::Assert);
    assert_eq!(run(&[1, 42, 3, 4, 5, 6, 7, 8], 8), (SiteKind::Trap, 1));
}
