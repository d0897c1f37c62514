//! Generated kernels with accesses that go wrong, against an oracle that knows nothing of PTX.

use std::fmt::Write as _;

use super::*;
use crate::ptx::bounds::rewrite::{RecordedAddress, SiteKind};

const SHARED: i64 = 256;
const THREADS: u32 = 40;
const BLOCKS: u32 = 2;

/// xorshift64*, so that a seed names a kernel.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 33) % n
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    X,
    Y,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Load,
    Store,
    Atomic,
    Red,
}

/// One access: `place + scale × v + constant`, in a loop `+ stride` each time.
#[derive(Clone, Debug)]
struct Access {
    place: Place,
    kind: Kind,
    /// By a generic address.
    generic: bool,
    /// Bytes of an element, elements.
    element: u32,
    count: u32,
    /// `v` is the thread's number, or what the index array holds for it.
    from_index: bool,
    scale: i64,
    constant: i64,
    /// Part of the constant that stands in the address operand.
    immediate: i64,
    stride: i64,
    rounds: u32,
    /// Only threads with an even (false) or odd (true) number do it.
    guard: Option<bool>,
    /// The line it stands on.
    line: u32,
}

fn access(random: &mut Random) -> Access {
    let place = random.pick(&[Place::X, Place::X, Place::Y, Place::Y, Place::Shared]);
    let kind = match place {
        Place::X => random.pick(&[Kind::Load, Kind::Load, Kind::Load, Kind::Load, Kind::Store]),
        _ => random.pick(&[Kind::Load, Kind::Store, Kind::Store, Kind::Atomic, Kind::Red]),
    };
    let atomic = matches!(kind, Kind::Atomic | Kind::Red);
    let element = if atomic { 4 } else { random.pick(&[1, 2, 4, 4, 4, 8]) };
    let count = if atomic { 1 } else { random.pick(&[1, 1, 1, 2, if element < 8 { 4 } else { 2 }]) };
    let bytes = i64::from(element * count);
    let far = [i64::MIN, i64::MAX, 1 << 40, -(1 << 40), 1 << 32, -(1 << 32), 1 << 20, -4096, -bytes, 1];
    let constant = match random.below(8) {
        0 => random.pick(&far),
        1 => random.below(64) as i64 - 32,
        _ => bytes * random.below(4) as i64,
    };
    // the odd ones make an aligned register a misaligned address
    let immediate = match random.below(8) {
        0..4 => 0,
        4 => random.pick(&[1, 2, 4]),
        _ => bytes * random.below(3) as i64,
    };
    let constant = if random.below(2) == 0 { constant.wrapping_add(immediate) } else { constant };
    Access {
        place,
        kind,
        generic: random.below(4) == 0,
        element,
        count,
        from_index: random.below(3) == 0,
        scale: if random.below(12) == 0 { random.pick(&[1, 3, -4, 1 << 33, i64::MAX]) } else { bytes },
        constant,
        immediate,
        stride: random.pick(&[0, bytes, -bytes, 4 * bytes]),
        rounds: random.pick(&[1, 1, 1, 3, 8]),
        guard: random.pick(&[None, None, Some(false), Some(true)]),
        line: 0,
    }
}

/// The kernel, with the line of each access filled in.
fn kernel(accesses: &mut [Access]) -> String {
    let mut text = module(
        ".visible .entry k(.param .u64 x, .param .u64 y, .param .u64 index, .param .u64 out)\n{\n\
         .shared .align 16 .b8 s[256];\n\
         .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<20>; .reg .b64 %d<24>;\n\
         ld.param.u64 %d0, [x];\nld.param.u64 %d1, [y];\nld.param.u64 %d2, [index];\nld.param.u64 %d3, [out];\n\
         mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r0, %r1, %r2;\n\
         mul.wide.u32 %d4, %r3, 4;\nadd.s64 %d4, %d2, %d4;\nld.global.s32 %d5, [%d4];\ncvt.u64.u32 %d6, %r3;\n\
         and.b32 %r4, %r3, 1;\nsetp.eq.u32 %p0, %r4, 1;\nmov.u64 %d7, 0;",
    );
    let line = |text: &mut String, instruction: String| {
        let _ = writeln!(text, "{instruction}");
        text.bytes().filter(|&byte| byte == b'\n').count() as u32
    };
    for (number, a) in accesses.iter_mut().enumerate() {
        let v = if a.from_index { "%d5" } else { "%d6" };
        line(&mut text, format!("mul.lo.s64 %d8, {v}, {};", a.scale));
        let rest = a.constant.wrapping_sub(a.immediate);
        line(&mut text, format!("add.s64 %d8, %d8, {rest};"));
        match a.place {
            Place::X => line(&mut text, "add.s64 %d9, %d0, %d8;".to_owned()),
            Place::Y => line(&mut text, "add.s64 %d9, %d8, %d1;".to_owned()),
            Place::Shared => {
                line(&mut text, "cvt.u32.u64 %r5, %d8; mov.u32 %r6, s; add.s32 %r5, %r5, %r6;".to_owned())
            }
        };
        line(&mut text, format!("mov.u32 %r7, 0; mov.u64 %d10, 1; mov.u64 %d11, 1; $again{number}:"));
        let registers: Vec<String> = (0..a.count)
            .map(|i| match a.element {
                1 | 2 => format!("%h{i}"),
                4 => format!("%r{}", 10 + i),
                _ => format!("%d{}", 12 + i),
            })
            .collect();
        for register in &registers {
            // what a load that is guarded away leaves in its register
            let bits = if a.element == 1 { 16 } else { 8 * a.element };
            line(&mut text, format!("mov.b{bits} {register}, 5;"));
        }
        let list = match registers.as_slice() {
            [one] => one.clone(),
            several => format!("{{{}}}", several.join(", ")),
        };
        let (space, register) = match a.place {
            Place::Shared => (".shared", "%r5"),
            _ if a.generic => ("", "%d9"),
            _ => (".global", "%d9"),
        };
        let address = format!("[{register}+{}]", a.immediate);
        let vector = if a.count > 1 { format!(".v{}", a.count) } else { String::new() };
        let bits = 8 * a.element;
        let guard = match a.guard {
            None => "",
            Some(true) => "@%p0 ",
            Some(false) => "@!%p0 ",
        };
        a.line = 1 + text.bytes().filter(|&byte| byte == b'\n').count() as u32;
        let instruction = match a.kind {
            Kind::Load => format!("{guard}ld{space}{vector}.u{bits} {list}, {address};"),
            Kind::Store => format!("{guard}st{space}{vector}.u{bits} {address}, {list};"),
            Kind::Atomic => format!("{guard}atom{space}.add.u32 {list}, {address}, 1;"),
            Kind::Red => format!("{guard}red{space}.add.u32 {address}, 1;"),
        };
        line(&mut text, instruction);
        if a.kind == Kind::Load && a.place == Place::X {
            for register in &registers {
                let widened = match a.element {
                    1 | 2 => format!("cvt.u64.u16 %d20, {register};"),
                    4 => format!("cvt.u64.u32 %d20, {register};"),
                    _ => format!("mov.u64 %d20, {register};"),
                };
                line(&mut text, format!("{widened} mad.lo.u64 %d7, %d7, 31, %d20;"));
            }
        }
        line(&mut text, format!("add.s64 %d9, %d9, {}; add.s32 %r5, %r5, {};", a.stride, a.stride as i32));
        line(&mut text, format!("add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, {};", a.rounds));
        line(&mut text, format!("@%p1 bra $again{number};"));
    }
    line(
        &mut text,
        "mul.wide.u32 %d4, %r3, 8; add.s64 %d4, %d3, %d4; st.global.u64 [%d4], %d7; ret;\n}".to_owned(),
    );
    text
}

/// What the oracle says of one launch.
#[derive(Debug, PartialEq)]
struct Expected {
    /// Thread, line, address (absolute, or in shared memory).
    first: Option<(u64, u32, u64)>,
    threads: u64,
    out: Vec<u64>,
}

fn oracle(accesses: &[Access], x: &Buffer, y: &Buffer, index: &[i32], addresses: &[u64]) -> Expected {
    let mut expected = Expected { first: None, threads: 0, out: Vec::new() };
    for thread in 0..u64::from(THREADS * BLOCKS) {
        let (mut sum, mut failed) = (0_u64, false);
        for a in accesses {
            let bytes = u64::from(a.element * a.count);
            let v = if a.from_index { i64::from(index[thread as usize]) } else { thread as i64 };
            for round in 0..a.rounds {
                let runs = a.guard.is_none_or(|odd| (thread & 1 == 1) == odd);
                let moved = a.stride.wrapping_mul(i64::from(round));
                let offset = v.wrapping_mul(a.scale).wrapping_add(a.constant).wrapping_add(moved);
                let (address, begin, len, writable) = match a.place {
                    Place::X => {
                        (addresses[0].wrapping_add_signed(offset), addresses[0], x.bytes.len(), false)
                    }
                    Place::Y => (addresses[1].wrapping_add_signed(offset), addresses[1], y.bytes.len(), true),
                    Place::Shared => (u64::from(offset as u32), 0, SHARED as usize, true),
                };
                let inside = i128::from(address) >= i128::from(begin)
                    && i128::from(address) + i128::from(bytes) <= i128::from(begin) + len as i128;
                let may = inside && address % bytes == 0 && (writable || a.kind == Kind::Load);
                if runs && !may && !failed {
                    failed = true;
                    expected.threads += 1;
                    expected.first = expected.first.or(Some((thread, a.line, address)));
                }
                if a.kind == Kind::Load && a.place == Place::X {
                    for element in 0..u64::from(a.count) {
                        let mut value = [0; 8];
                        let size = a.element as usize;
                        let at = address.wrapping_sub(begin).wrapping_add(element * u64::from(a.element));
                        match (runs, may) {
                            (false, _) => value[0] = 5,
                            (true, false) => {}
                            (true, true) => value[..size].copy_from_slice(&x.bytes[at as usize..][..size]),
                        }
                        sum = sum.wrapping_mul(31).wrapping_add(u64::from_le_bytes(value));
                    }
                }
            }
        }
        expected.out.push(sum);
    }
    expected
}

/// One generated kernel: does the record say what the oracle says? Whether anything failed.
fn try_seed(seed: u64) -> bool {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut accesses: Vec<Access> = (0..1 + random.below(4)).map(|_| access(&mut random)).collect();
    let text = kernel(&mut accesses);
    let bytes = |random: &mut Random, least: u64| -> Vec<u8> {
        let len = least + random.below(200);
        (0..len).map(|_| random.next() as u8).collect()
    };
    let skew = |random: &mut Random| if random.below(6) == 0 { random.pick(&[1, 2, 4, 8]) } else { 0 };
    let x = Buffer { bytes: bytes(&mut random, 1400), writable: false, skew: skew(&mut random) };
    let y = Buffer { bytes: bytes(&mut random, 1400), writable: true, skew: skew(&mut random) };
    let index: Vec<i32> = (0..THREADS * BLOCKS)
        .map(|_| match random.below(60) {
            0 => random.next() as i32,
            1 => -1 - random.below(8) as i32,
            _ => random.below(20) as i32,
        })
        .collect();
    let given = [
        Given::Buffer(x.clone()),
        Given::Buffer(y.clone()),
        Buffer::given(&index, false),
        Buffer::given(&[0_u64; (THREADS * BLOCKS) as usize], true),
    ];
    let options = RewriteOptions { diagnose: seed % 4 == 1, count_back_edges: seed % 8 == 2 };
    let shape = (BLOCKS.into(), THREADS.into(), 0);
    let (outcome, sites) = run_rewritten(&text, "k", options, 1000, shape, &given);
    let expected = oracle(&accesses, &x, &y, &index, &outcome.addresses);
    let found = outcome.record.map(|recorded| {
        let site = &sites[usize::from(recorded.site)];
        assert!(matches!(site.kind, SiteKind::Access(_)));
        let relative = site.address == RecordedAddress::Offset;
        assert_eq!(relative, site.space == crate::ptx::ir::Space::Shared);
        (recorded.thread, site.line, recorded.address)
    });
    let threads = outcome.record.map_or(0, |recorded| recorded.threads);
    let out = bytemuck::pod_collect_to_vec(&outcome.contents[3]);
    let found = Expected { first: found, threads, out };
    assert_eq!(found, expected, "seed {seed}: {accesses:#?}\n{text}");
    expected.first.is_some()
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
