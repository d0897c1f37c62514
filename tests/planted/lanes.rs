//! Operations of a warp with lanes that do not take part.

use crate::case::{Case, Kind};

const CASE: Case =
    Case { name: "", shape: (1, 32), bug: "", corrected: "", kind: Kind::InactiveLane, place: (0, 16) };

pub const CASES: [Case; 5] = [
    Case {
        name: "shuffle_from_a_lane_outside_the_mask",
        bug: "
@%p1 shfl.sync.idx.b32 %r10, %r1, 20, 31, 0xffff; // BUG
",
        corrected: "
@%p1 shfl.sync.idx.b32 %r10, %r1, 15, 31, 0xffff;
",
        place: (0, 0),
        ..CASE
    },
    Case {
        name: "shuffle_down_past_the_active_half",
        bug: "
@%p1 shfl.sync.down.b32 %r10, %r1, 8, 31, 0xffff; // BUG
",
        // c of a segment of sixteen lanes: beyond it a lane keeps its own value
        corrected: "
@%p1 shfl.sync.down.b32 %r10, %r1, 8, 0x100f, 0xffff;
",
        place: (0, 8),
        ..CASE
    },
    Case {
        name: "butterfly_with_lanes_that_have_exited",
        bug: "
@!%p1 ret;
shfl.sync.bfly.b32 %r10, %r1, 16, 31, -1; // BUG
",
        corrected: "
@!%p1 ret;
shfl.sync.bfly.b32 %r10, %r1, 8, 31, 0xffff;
",
        place: (0, 0),
        ..CASE
    },
    Case {
        name: "vote_of_lanes_that_its_mask_leaves_out",
        bug: "
vote.sync.ballot.b32 %r10, %p1, 0xffff; // BUG
",
        corrected: "
@%p1 vote.sync.ballot.b32 %r10, %p1, 0xffff;
",
        ..CASE
    },
    Case {
        name: "reduction_of_lanes_that_its_mask_leaves_out",
        bug: "
redux.sync.add.u32 %r10, %r1, 0xffff; // BUG
",
        corrected: "
redux.sync.add.u32 %r10, %r1, -1;
",
        ..CASE
    },
];
