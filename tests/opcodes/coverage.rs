//! The list of tables, and the list of opcodes that must have a case in one of them.

use std::collections::BTreeSet;

use libtest_mimic::Failed;

use crate::format;

macro_rules! tables {
    ($($file:literal)+) => { &[$(($file, include_str!(concat!("tables/", $file)))),+] };
}

/// Name and text of each table.
pub const TABLES: &[(&str, &str)] = tables! {
    "text.txt" "integer.txt" "bits.txt" "float.txt" "approximate.txt" "half.txt" "convert.txt" "control.txt" "warp.txt"
    "barrier.txt" "memory.txt" "unspecified.txt" "atomics.txt" "asynchronous.txt" "mma.txt" "recorded.txt"
};

/// Opcodes of the language that the host device executes.
const OPCODES: &str = "
    ld st mov cvt cvta add sub mul mad fma neg abs min max div rem and or xor not shl shr setp selp bra ret exit call
    bar shfl atom red rcp sqrt rsqrt ex2 lg2 sin cos tanh copysign popc clz brev bfe bfi bfind prmt shf vote activemask
    membar fence trap
    addc subc madc mul24 mad24 sad set slct cnot testp dp4a dp2a lop3 bmsk fns szext match redux barrier
    brx isspacep nanosleep prefetch discard createpolicy
    cp ldmatrix stmatrix movmatrix mma mbarrier elect";

/// Every opcode stands in the code of a case.
pub fn check() -> Result<(), Failed> {
    let mut used = BTreeSet::new();
    for (file, text) in TABLES {
        for case in format::parse(file, text)? {
            for line in case.body.iter().chain(&case.module) {
                let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '%'));
                used.extend(words.map(str::to_owned));
            }
        }
    }
    let missing: Vec<&str> = OPCODES.split_whitespace().filter(|opcode| !used.contains(*opcode)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("without a case: {}", missing.join(" ")).into()) }
}
