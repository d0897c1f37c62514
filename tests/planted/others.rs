//! Divisions by zero, cached loads of fresh data, waits that nobody ends.

use crate::case::{Case, Kind};

const CASE: Case =
    Case { name: "", shape: (1, 32), bug: "", corrected: "", kind: Kind::DivisionByZero, place: (0, 0) };

pub const CASES: [Case; 5] = [
    Case {
        name: "quotient_of_32_bits",
        bug: "
div.u32 %r10, 100, %r1; // BUG
",
        corrected: "
max.u32 %r11, %r1, 1;
div.u32 %r10, 100, %r11;
",
        ..CASE
    },
    Case {
        name: "signed_remainder_of_64_bits",
        bug: "
cvt.s64.s32 %rd10, %r1;
sub.s64 %rd10, %rd10, 5;
mov.u64 %rd11, 77;
rem.s64 %rd12, %rd11, %rd10; // BUG
",
        corrected: "
cvt.s64.s32 %rd10, %r1;
sub.s64 %rd10, %rd10, 50;
mov.u64 %rd11, 77;
rem.s64 %rd12, %rd11, %rd10;
",
        place: (0, 5),
        ..CASE
    },
    Case {
        name: "non_coherent_load_of_what_the_kernel_wrote",
        bug: "
st.global.u32 [%rd2], %r1;
ld.global.nc.u32 %r10, [%rd2]; // BUG
",
        corrected: "
ld.global.nc.u32 %r10, [%rd1];
st.global.u32 [%rd2], %r10;
",
        kind: Kind::NonCoherentLoad,
        ..CASE
    },
    Case {
        name: "two_warps_at_two_named_barriers",
        shape: (1, 64),
        bug: "
setp.lt.u32 %p2, %r1, 32;
@%p2 bra FIRST;
bar.sync 2, 64;
bra DONE;
FIRST:
bar.sync 1, 64; // BUG
DONE:
",
        corrected: "
setp.lt.u32 %p2, %r1, 32;
@%p2 bra FIRST;
bar.sync 1, 64;
bra DONE;
FIRST:
bar.sync 1, 64;
DONE:
",
        kind: Kind::Deadlock,
        ..CASE
    },
    Case {
        name: "warp_barrier_that_half_of_the_warp_never_reaches",
        bug: "
@%p1 bra ARM;
bar.warp.sync -1; // BUG
bra DONE;
ARM:
barrier.sync 0;
DONE:
",
        corrected: "
@%p1 bra ARM;
bar.warp.sync 0xffff0000;
barrier.sync 0;
bra DONE;
ARM:
barrier.sync 0;
DONE:
",
        kind: Kind::Deadlock,
        place: (0, 16),
        ..CASE
    },
];
