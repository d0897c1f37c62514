//! Aligned barriers that a part of a warp reaches. A warp's lanes of the lowest program counter wait first, and are
//! those that a report names.

use crate::case::{Case, Kind};

const CASE: Case =
    Case { name: "", shape: (1, 32), bug: "", corrected: "", kind: Kind::DivergentBarrier, place: (0, 16) };

pub const CASES: [Case; 5] = [
    Case {
        name: "one_in_each_arm",
        bug: "
@%p1 bra ARM;
bar.sync 0; // BUG
bra DONE;
ARM:
bar.sync 0;
DONE:
",
        corrected: "
@%p1 bra ARM;
barrier.sync 0;
bra DONE;
ARM:
barrier.sync 0;
DONE:
",
        ..CASE
    },
    Case {
        name: "jumped_over",
        bug: "
@%p1 bra OVER;
bar.sync 0; // BUG
OVER:
bar.sync 1;
",
        corrected: "
bar.sync 0;
@%p1 bra OVER;
mov.u32 %r10, 0;
OVER:
bar.sync 1;
",
        ..CASE
    },
    Case {
        name: "in_a_loop_that_some_leave_earlier",
        bug: "
mov.u32 %r10, 1;
@%p1 bra AGAIN;
mov.u32 %r10, 2;
AGAIN:
bar.sync 0; // BUG
sub.u32 %r10, %r10, 1;
setp.ne.u32 %p2, %r10, 0;
@%p2 bra AGAIN;
bar.sync 0;
",
        corrected: "
mov.u32 %r10, 2;
AGAIN:
bar.sync 0;
sub.u32 %r10, %r10, 1;
setp.ne.u32 %p2, %r10, 0;
@%p2 bra AGAIN;
bar.sync 0;
",
        ..CASE
    },
    Case {
        name: "under_a_predicate",
        bug: "
@%p1 bar.sync 0; // BUG
bar.sync 0;
",
        corrected: "
setp.lt.u32 %p2, %r1, 32;
@%p2 bar.sync 0;
bar.sync 0;
",
        place: (0, 0),
        ..CASE
    },
    Case {
        name: "reduction_in_one_arm",
        shape: (1, 64),
        bug: "
@%p1 bra ARM;
bar.red.popc.u32 %r10, 0, %p1; // BUG
bra DONE;
ARM:
bar.red.popc.u32 %r10, 0, %p1;
DONE:
",
        corrected: "
bar.red.popc.u32 %r10, 0, %p1;
",
        ..CASE
    },
];
