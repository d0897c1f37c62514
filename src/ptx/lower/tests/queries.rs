//! What an analysis asks: registers read and written, successors, accesses, symbols.

use super::{kernel, last};
use crate::ptx::ir::{Inst, MemoryAccessKind, Space};

fn only(text: &str) -> Inst {
    last(&kernel(text)).code[0].clone()
}

fn registers(text: &str) -> (Vec<String>, Vec<String>) {
    let inst = only(text);
    let (mut defs, mut uses) = (Vec::new(), Vec::new());
    inst.for_each_def(|reg| defs.push(reg.to_string()));
    inst.for_each_use(|reg| uses.push(reg.to_string()));
    (defs, uses)
}

fn expect(text: &str, defs: &[&str], uses: &[&str]) {
    let (found_defs, found_uses) = registers(text);
    assert_eq!(found_defs, defs, "written by {text}");
    assert_eq!(found_uses, uses, "read by {text}");
}

#[test]
fn every_register_of_an_instruction_is_reported_once_in_its_role() {
    expect("@%p1 add.s32 %r0, %r1, 5;", &["r0"], &["p1", "r1"]);
    expect("fma.rn.f64 %rd0, %rd1, %rd2, %rd3;", &["d0"], &["d1", "d2", "d3"]);
    expect("setp.lt.and.s32 %p0|%p1, %r1, %r2, !%p2;", &["p0", "p1"], &["r1", "r2", "p2"]);
    expect("ld.global.v2.f32 {%r0, _}, [%rd1+4];", &["r0"], &["d1"]);
    expect("st.shared.v2.f32 [%r0], {%r1, %r2};", &[], &["r0", "r1", "r2"]);
    expect("atom.cas.b32 %r0, [%rd1], %r2, %r3;", &["r0"], &["d1", "r2", "r3"]);
    expect("red.global.add.u32 [%rd1], %r2;", &[], &["d1", "r2"]);
    expect("shfl.sync.up.b32 %r0|%p0, %r1, %r2, %r3, %r4;", &["r0", "p0"], &["r1", "r2", "r3", "r4"]);
    expect("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 1, %p1;", &["p0", "r0"], &["r1", "r2", "r3", "p1"]);
    expect("mov.b64 {%r0, %r1}, %rd0;", &["r0", "r1"], &["d0"]);
    expect("bar.red.popc.u32 %r0, %r1, %r2, %p0;", &["r0"], &["r1", "r2", "p0"]);
    expect("cp.async.cg.shared.global [%r0], [%rd0], 16, %r1;", &[], &["r0", "d0", "r1"]);
    expect("selp.b32 %r0, %r1, %r2, %p0;", &["r0"], &["r1", "r2", "p0"]);
}

#[test]
fn control_leaves_only_where_no_guard_lets_it_through() {
    let next = |text: &str| {
        let successors = only(text).successors();
        (successors.falls_through, successors.targets.to_vec())
    };
    assert_eq!(next("bra L; L: trap;"), (false, vec![1]));
    assert_eq!(next("@%p0 bra L; trap; L: trap;"), (true, vec![2]));
    assert_eq!(next("exit;"), (false, vec![]));
    assert_eq!(next("@%p0 ret;"), (true, vec![]));
    assert_eq!(next("add.s32 %r0, %r0, 1;"), (true, vec![]));
    assert_eq!(next("brx.idx %r0, t; t: .branchtargets A, B; A: trap; B: trap;"), (false, vec![1, 2]));
}

#[test]
fn accesses_name_space_size_and_kind() {
    let access = |text: &str| {
        let accesses = only(text).op.memory_accesses();
        accesses.iter().map(|a| (a.kind, a.space, a.size)).collect::<Vec<_>>()
    };
    use MemoryAccessKind::{Atomic, Read, Write};
    assert_eq!(access("ld.global.v4.f32 {%r0,%r1,%r2,%r3}, [%rd0];"), [(Read, Space::Global, 16)]);
    assert_eq!(access("ld.u8 %r0, [%rd0];"), [(Read, Space::Generic, 1)]);
    assert_eq!(access("st.local.v2.u64 [%rd0], {%rd1, %rd2};"), [(Write, Space::Local, 16)]);
    assert_eq!(access("atom.shared.add.u64 %rd0, [%r0], 1;"), [(Atomic, Space::Shared, 8)]);
    assert_eq!(
        access("cp.async.ca.shared.global [%r0], [%rd0], 8;"),
        [(Read, Space::Global, 8), (Write, Space::Shared, 8)]
    );
    assert_eq!(access("add.s32 %r0, %r1, %r2;"), []);
}

#[test]
fn the_carry_is_reported_apart() {
    let carry = |text: &str| {
        let op = only(text).op;
        (op.reads_carry(), op.writes_carry())
    };
    assert_eq!(carry("add.cc.u32 %r0, %r1, %r2;"), (false, true));
    assert_eq!(carry("madc.lo.cc.u32 %r0, %r1, %r2, %r3;"), (true, true));
    assert_eq!(carry("subc.u32 %r0, %r1, %r2;"), (true, false));
    assert_eq!(carry("add.u32 %r0, %r1, %r2;"), (false, false));
}
