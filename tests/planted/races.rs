//! Two threads at the same bytes, one of them writing, with nothing that says who is first.

use crate::case::{Case, Kind};

const CASE: Case = Case {
    name: "",
    shape: (1, 64),
    bug: "",
    corrected: "",
    kind: Kind::DataRace { block: 0, thread: 0 },
    place: (0, 0),
};

pub const CASES: [Case; 5] = [
    Case {
        name: "shared_memory_written_by_all",
        bug: "
st.shared.u32 [%r4], %r1; // BUG
",
        corrected: "
setp.eq.u32 %p2, %r1, 0;
@%p2 st.shared.u32 [%r4], %r1;
",
        place: (0, 1),
        ..CASE
    },
    Case {
        name: "shared_memory_of_another_warp",
        bug: "
st.shared.u32 [%r3], 0;
bar.sync 0;
xor.b32 %r10, %r1, 32;
shl.b32 %r10, %r10, 2;
add.u32 %r10, %r10, %r4;
st.shared.u32 [%r3], %r1; // BUG
ld.shared.u32 %r11, [%r10]; // OTHER
",
        corrected: "
st.shared.u32 [%r3], 0;
bar.sync 0;
xor.b32 %r10, %r1, 32;
shl.b32 %r10, %r10, 2;
add.u32 %r10, %r10, %r4;
st.shared.u32 [%r3], %r1;
bar.sync 0;
ld.shared.u32 %r11, [%r10];
",
        place: (0, 32),
        ..CASE
    },
    Case {
        name: "global_memory_of_two_blocks",
        shape: (2, 1),
        bug: "
st.global.u32 [%rd3], %r2; // BUG
",
        corrected: "
st.global.u32 [%rd2], %r2;
",
        place: (1, 0),
        ..CASE
    },
    Case {
        name: "plain_load_beside_atomics",
        bug: "
red.global.add.u32 [%rd3], 1; // OTHER
ld.global.u32 %r10, [%rd3]; // BUG
",
        corrected: "
red.global.add.u32 [%rd3], 1;
bar.sync 0;
ld.global.u32 %r10, [%rd3];
",
        kind: Kind::DataRace { block: 0, thread: 31 },
        ..CASE
    },
    Case {
        name: "reduction_without_a_barrier_between_its_steps",
        bug: "
st.shared.u32 [%r3], %r1;
bar.sync 0;
setp.lt.u32 %p2, %r1, 32;
@!%p2 bra DONE;
ld.shared.u32 %r10, [%r3+128];
ld.shared.u32 %r11, [%r3];
add.u32 %r11, %r11, %r10;
st.shared.u32 [%r3], %r11; // OTHER
@!%p1 bra DONE;
ld.shared.u32 %r10, [%r3+64]; // BUG
add.u32 %r11, %r11, %r10;
st.shared.u32 [%r3], %r11;
DONE:
",
        corrected: "
st.shared.u32 [%r3], %r1;
bar.sync 0;
setp.lt.u32 %p2, %r1, 32;
@!%p2 bra DONE;
ld.shared.u32 %r10, [%r3+128];
ld.shared.u32 %r11, [%r3];
add.u32 %r11, %r11, %r10;
st.shared.u32 [%r3], %r11;
bar.warp.sync -1;
@!%p1 bra DONE;
ld.shared.u32 %r10, [%r3+64];
add.u32 %r11, %r11, %r10;
st.shared.u32 [%r3], %r11;
DONE:
",
        kind: Kind::DataRace { block: 0, thread: 16 },
        ..CASE
    },
];
