//! Kernels with several accesses in one region of which one goes wrong: what is left behind is what a check at each
//! access leaves, and what anybody can tell who knows which one was planted.

use std::fmt::Write as _;

use super::planted::Random;
use super::*;
use crate::ptx::bounds::rewrite::RecordedAddress;

const THREADS: u32 = 40;
const BLOCKS: u32 = 2;
/// Bytes that belong to one thread, in each buffer and in shared memory.
const OWN: i64 = 64;

/// How an address is made from the thread's number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Signed,
    Unsigned,
    Wide,
    /// From the last address of the same place.
    Chained,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    X,
    Y,
    Shared,
    SharedGeneric,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Load,
    Store,
    Atomic,
}

/// Which threads do it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Condition {
    Always,
    /// By a guard on the access.
    Guard(bool),
    /// By a jump over it.
    Jump(bool),
}

#[derive(Clone, Debug)]
struct Access {
    place: Place,
    kind: Kind,
    form: Form,
    condition: Condition,
    bytes: i64,
    /// From the thread's own bytes.
    at: i64,
    /// Of that, what stands in the address operand.
    immediate: i64,
    line: u32,
}

/// What is wrong with one access.
#[derive(Clone, Copy, Debug)]
enum Plant {
    Nothing,
    /// Its address is this far off, for every thread.
    Off(i64),
    /// It writes to what may only be read.
    Write,
    /// One thread uses this number instead of its own.
    Index(u32, i32),
}

fn access(random: &mut Random) -> Access {
    let place = random.pick(&[Place::X, Place::X, Place::Y, Place::Y, Place::Shared, Place::SharedGeneric]);
    let kind = match place {
        Place::X => Kind::Load,
        _ => random.pick(&[Kind::Load, Kind::Load, Kind::Store, Kind::Store, Kind::Atomic]),
    };
    let bytes = if kind == Kind::Atomic { 4 } else { random.pick(&[1, 2, 4, 4, 4, 8, 16]) };
    let at = bytes * random.below((OWN / bytes) as u64) as i64;
    Access {
        place,
        kind,
        form: random.pick(&[Form::Signed, Form::Signed, Form::Unsigned, Form::Wide, Form::Chained]),
        condition: random.pick(&[
            Condition::Always,
            Condition::Always,
            Condition::Always,
            Condition::Guard(true),
            Condition::Guard(false),
            Condition::Jump(true),
            Condition::Jump(false),
        ]),
        bytes,
        at,
        immediate: if random.below(2) == 0 { at } else { 0 },
        line: 0,
    }
}

/// The kernel; `apart` keeps accesses out of each other's regions.
fn kernel(accesses: &mut [Access], plant: (usize, Plant), apart: bool) -> String {
    let mut text = module(
        ".visible .entry k(.param .u64 x, .param .u64 y, .param .u64 index, .param .u64 out)\n{\n\
         .shared .align 16 .b8 s[2560];\n\
         .reg .pred %p<4>; .reg .b16 %h<2>; .reg .b32 %r<20>; .reg .b64 %d<40>;\n\
         ld.param.u64 %d0, [x];\nld.param.u64 %d1, [y];\nld.param.u64 %d2, [index];\nld.param.u64 %d3, [out];\n\
         mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.s32 %r3, %r0, %r1, %r2;\n\
         mul.wide.u32 %d4, %r3, 4;\nadd.s64 %d4, %d2, %d4;\nld.global.s32 %r4, [%d4];\nmembar.cta;\n\
         and.b32 %r5, %r3, 1;\nsetp.eq.u32 %p0, %r5, 1;\nmov.u64 %d7, 0;\nmov.u32 %r6, s;\nmov.u64 %d5, 7;\n\
         mov.u64 %d6, s;\ncvta.shared.u64 %d6, %d6;\n\
         mul.wide.u32 %d30, %r3, 64;\nadd.s64 %d30, %d0, %d30;\nadd.s64 %d31, %d1, 0;\nmul.wide.u32 %d32, %r3, 64;\n\
         add.s64 %d31, %d31, %d32;\nshl.b32 %r16, %r2, 6;\nadd.u32 %r16, %r16, %r6;\ncvt.u64.u32 %d33, %r2;\n\
         mad.lo.s64 %d33, %d33, 64, %d6;",
    );
    for (number, a) in accesses.iter_mut().enumerate() {
        let planted = if number == plant.0 { plant.1 } else { Plant::Nothing };
        let off = if let Plant::Off(off) = planted { off } else { 0 };
        let global = matches!(a.place, Place::X | Place::Y);
        let own = if global { "%r3" } else { "%r2" };
        let v = if let Plant::Index(..) = planted { "%r4" } else { own };
        let rest = a.at.wrapping_sub(a.immediate).wrapping_add(off);
        let base = match a.place {
            Place::X => "%d0",
            Place::Y => "%d1",
            Place::Shared => "%r6",
            Place::SharedGeneric => "%d6",
        };
        let chained = a.form == Form::Chained && !matches!(planted, Plant::Index(..));
        let (register, space) = match a.place {
            Place::Shared => ("%r15", ".shared"),
            Place::SharedGeneric => ("%d10", ""),
            _ => ("%d10", ".global"),
        };
        match (a.place, chained) {
            (Place::Shared, true) => {
                let _ = writeln!(text, "add.s32 %r15, %r16, {}; mov.u32 %r16, %r16;", rest as i32);
            }
            (Place::Shared, false) => {
                let _ = writeln!(
                    text,
                    "shl.b32 %r14, {v}, 6; add.u32 %r15, %r14, %r6; add.s32 %r15, %r15, {};",
                    rest as i32
                );
            }
            (_, true) => {
                let last = match a.place {
                    Place::X => "%d30",
                    Place::Y => "%d31",
                    _ => "%d33",
                };
                // back and forth, so that the chain is longer than one step
                let _ = writeln!(
                    text,
                    "add.s64 {last}, {last}, 128; add.s64 %d10, {last}, {}; sub.s64 {last}, {last}, 128;",
                    rest.wrapping_sub(128)
                );
            }
            (_, false) => {
                let _ = match a.form {
                    Form::Wide => writeln!(
                        text,
                        "cvt.s64.s32 %d11, {v}; shl.b64 %d11, %d11, 6; add.s64 %d10, %d11, {base};"
                    ),
                    Form::Unsigned => {
                        writeln!(text, "mul.wide.u32 %d11, {v}, 64; add.s64 %d10, {base}, %d11;")
                    }
                    _ => writeln!(text, "mad.wide.s32 %d10, {v}, 64, {base};"),
                };
                if rest != 0 {
                    let _ = writeln!(text, "add.s64 %d10, %d10, {rest};");
                }
            }
        }
        let mut before = if apart { "membar.cta; ".to_owned() } else { String::new() };
        let mut behind = String::new();
        match a.condition {
            Condition::Always => {}
            Condition::Guard(odd) => before += if odd { "@%p0 " } else { "@!%p0 " },
            Condition::Jump(odd) => {
                let _ = write!(before, "@{}%p0 bra $over{number}; ", if odd { "!" } else { "" });
                let _ = write!(behind, " $over{number}:");
            }
        }
        a.line = 1 + text.bytes().filter(|&byte| byte == b'\n').count() as u32;
        let kind = if matches!(planted, Plant::Write) { Kind::Store } else { a.kind };
        let address = format!("[{register}+{}]", a.immediate);
        let (ty, value) = match a.bytes {
            1 => ("u8", "%r8"),
            2 => ("u16", "%r8"),
            4 => ("u32", "%r8"),
            8 => ("u64", "%d8"),
            _ => ("v2.u64", "{%d8, %d9}"),
        };
        let stored = match a.bytes {
            1 | 2 | 4 => "%r3",
            8 => "%d5",
            _ => "{%d5, %d5}",
        };
        let _ = match kind {
            Kind::Load => writeln!(
                text,
                "mov.u32 %r8, 5; mov.u64 %d8, 5; mov.u64 %d9, 5;\n{before}ld{space}.{ty} {value}, {address};{behind}"
            ),
            Kind::Store => {
                writeln!(text, "mov.u32 %r8, 5;\n{before}st{space}.{ty} {address}, {stored};{behind}")
            }
            Kind::Atomic => {
                writeln!(text, "mov.u32 %r8, 5;\n{before}atom{space}.add.u32 %r8, {address}, 3;{behind}")
            }
        };
        a.line += 1;
        let _ = match value {
            "%r8" => writeln!(text, "cvt.u64.u32 %d12, %r8; mad.lo.u64 %d7, %d7, 31, %d12;"),
            _ => writeln!(text, "mad.lo.u64 %d7, %d7, 31, %d8;"),
        };
    }
    text +=
        "membar.cta; mul.wide.u32 %d4, %r3, 8; add.s64 %d4, %d3, %d4; st.global.u64 [%d4], %d7; ret;\n}\n";
    text
}

/// What a launch left: thread, line, address less the first buffer's, whether that is an offset, threads; memory.
type Left = (Option<(u64, u32, u64, bool, u64)>, Vec<Vec<u8>>);

fn left(text: &str, options: RewriteOptions, given: &[Given]) -> Left {
    let (outcome, sites) = run_rewritten(text, "k", options, 1000, (BLOCKS.into(), THREADS.into(), 0), given);
    let record = outcome.record.map(|recorded| {
        let site = &sites[usize::from(recorded.site)];
        let relative = site.address == RecordedAddress::Offset;
        let address =
            if relative { recorded.address } else { recorded.address.wrapping_sub(outcome.addresses[0]) };
        (recorded.thread, site.line, address, relative, recorded.threads)
    });
    (record, outcome.contents)
}

/// Has the rewritten kernel a region?
fn has_region(text: &str) -> bool {
    let loaded = LoadedPtx::read("k.ptx", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let rewritten = rewrite(&loaded, "k", &[0, 1, 2, 3], &SiteSet::All, RewriteOptions::default()).unwrap();
    rewritten.text.contains("@!%sg_h bra")
}

fn plant(random: &mut Random, accesses: &mut [Access], at: usize) -> Plant {
    let a = &mut accesses[at];
    let far =
        [1 << 20, -(1 << 20), 1 << 32, -(1 << 32), 1 << 40, i64::MIN, i64::MAX - 63, i64::MIN + (1 << 30)];
    match random.below(5) {
        0 => Plant::Nothing,
        1 if a.bytes > 1 && a.at + a.bytes < OWN => Plant::Off(random.pick(&[1, a.bytes / 2])),
        2 if a.place == Place::X => Plant::Write,
        3 => {
            let wrong = random.pick(&[-1, -2, i32::MIN, i32::MAX, 1 << 26, 10_000]);
            // 32-bit shared addresses wrap, and may come back to where they should be
            if a.place == Place::Shared {
                Plant::Off(1 << 20)
            } else {
                Plant::Index(random.below(80) as u32, wrong)
            }
        }
        _ if a.place == Place::Shared => Plant::Off(random.pick(&[1 << 20, -(1 << 20), 2560, -2560])),
        _ => Plant::Off(random.pick(&far)),
    }
}

fn try_seed(seed: u64) -> (bool, bool) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut accesses: Vec<Access> = (0..2 + random.below(7)).map(|_| access(&mut random)).collect();
    let at = random.below(accesses.len() as u64) as usize;
    let planted = plant(&mut random, &mut accesses, at);
    let [together, apart] = [false, true].map(|apart| kernel(&mut accesses, (at, planted), apart));
    let own = (OWN * i64::from(THREADS * BLOCKS)) as usize;
    let bytes = |random: &mut Random| -> Vec<u8> { (0..own).map(|_| random.next() as u8).collect() };
    let skew = if random.below(8) == 0 { 8 } else { 0 };
    let x = Buffer { bytes: bytes(&mut random), writable: false, skew };
    let y = Buffer { bytes: bytes(&mut random), writable: true, skew: 0 };
    let mut index: Vec<i32> = (0..BLOCKS).flat_map(|_| 0..THREADS as i32).collect();
    if matches!(accesses[at].place, Place::X | Place::Y) {
        index = (0..(THREADS * BLOCKS) as i32).collect();
    }
    if let Plant::Index(thread, wrong) = planted {
        index[thread as usize] = wrong;
    }
    let given = [
        Given::Buffer(x),
        Given::Buffer(y),
        Buffer::given(&index, false),
        Buffer::given(&[0_u64; (THREADS * BLOCKS) as usize], true),
    ];
    let options = RewriteOptions { diagnose: seed % 4 == 1, count_back_edges: seed % 8 == 2 };
    let found = left(&together, options, &given);
    assert!(!has_region(&apart));
    let expected = left(&apart, options, &given);
    assert!(
        found == expected,
        "seed {seed}: {:?} {:?}\n{accesses:#?}\n{planted:?}\n{together}",
        found.0,
        expected.0
    );

    // the misaligned buffer makes accesses fail that nobody planted
    let misaligned = skew != 0 && accesses.iter().any(|a| a.place == Place::X && a.bytes > 8);
    if !misaligned {
        let does = |thread: u32| match accesses[at].condition {
            Condition::Always => true,
            Condition::Guard(odd) | Condition::Jump(odd) => (thread % 2 == 1) == odd,
        };
        let wrong = |thread: u32| match planted {
            Plant::Nothing => false,
            Plant::Off(_) | Plant::Write => true,
            Plant::Index(only, _) => only == thread,
        };
        let threads: Vec<u32> = (0..THREADS * BLOCKS).filter(|&t| does(t) && wrong(t)).collect();
        let first = threads.first().map(|&first| (u64::from(first), accesses[at].line, threads.len() as u64));
        let recorded = found.0.map(|(thread, line, _, _, threads)| (thread, line, threads));
        assert_eq!(recorded, first, "seed {seed}: {accesses:#?}\n{planted:?}\n{together}");
    }
    if found.0.is_none() {
        let mut rig = Rig::new("original.ptx", &together);
        let original = launch_on(&mut rig, "k", None, (BLOCKS.into(), THREADS.into(), 0), &given);
        assert!(original.contents == found.1, "seed {seed}: other results\n{together}");
    }
    (found.0.is_some(), has_region(&together))
}

#[test]
fn one_wrong_access_of_a_region_is_recorded_as_without_regions() {
    let results: Vec<(bool, bool)> = (0..600).map(try_seed).collect();
    let failed = results.iter().filter(|(failed, _)| *failed).count();
    let regions = results.iter().filter(|(_, region)| *region).count();
    assert!((250..550).contains(&failed), "{failed} of 600 failed: the plants are too rare or too common");
    assert!(regions > 400, "only {regions} of 600 have a region");
}
