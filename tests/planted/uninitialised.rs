//! Reads of what nothing has written.

use crate::case::{Case, Kind};

const CASE: Case =
    Case { name: "", shape: (1, 32), bug: "", corrected: "", kind: Kind::Uninitialised, place: (0, 0) };

pub const CASES: [Case; 5] = [
    Case {
        name: "register_that_half_of_a_warp_wrote",
        bug: "
@%p1 mov.u32 %r10, 1;
add.u32 %r11, %r10, 1; // BUG
",
        corrected: "
mov.u32 %r10, 0;
@%p1 mov.u32 %r10, 1;
add.u32 %r11, %r10, 1;
",
        place: (0, 16),
        ..CASE
    },
    Case {
        name: "shared_memory_of_the_next_thread",
        bug: "
st.shared.u32 [%r3], %r1;
bar.sync 0;
ld.shared.u32 %r10, [%r3+4]; // BUG
",
        corrected: "
st.shared.u32 [%r3], %r1;
st.shared.u32 [%r4+128], 0;
bar.sync 0;
ld.shared.u32 %r10, [%r3+4];
",
        place: (0, 31),
        ..CASE
    },
    Case {
        name: "local_array_element",
        bug: "
.local .align 4 .b8 a[16];
st.local.u32 [a], %r1;
st.local.u32 [a+8], %r1;
ld.local.u32 %r10, [a+4]; // BUG
",
        corrected: "
.local .align 4 .b8 a[16];
st.local.u32 [a], %r1;
st.local.u32 [a+4], %r1;
ld.local.u32 %r10, [a+4];
",
        ..CASE
    },
    Case {
        name: "vector_of_which_a_half_was_written",
        bug: "
shl.b32 %r10, %r1, 4;
add.u32 %r10, %r10, %r4;
st.shared.v2.u32 [%r10], {%r1, %r1};
ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [%r10]; // BUG
",
        corrected: "
shl.b32 %r10, %r1, 4;
add.u32 %r10, %r10, %r4;
st.shared.v2.u32 [%r10], {%r1, %r1};
st.shared.v2.u32 [%r10+8], {%r1, %r1};
ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [%r10];
",
        ..CASE
    },
    Case {
        name: "global_memory_allocated_without_contents",
        bug: "
@%p1 st.global.u32 [%rd4], %r1;
ld.global.u32 %r10, [%rd4]; // BUG
",
        corrected: "
st.global.u32 [%rd4], %r1;
ld.global.u32 %r10, [%rd4];
",
        place: (0, 16),
        ..CASE
    },
];
