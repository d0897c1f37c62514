//! The record of a launch: which thread did wrong first, where, with what address. Its layout, the PTX that writes
//! it, and reading it back.
//!
//! # Layout
//! [`BYTES`] bytes of global memory, aligned to 8, as 64-bit words. Before a launch the words 0 to 4 are all ones and
//! the others zero ([`EMPTY`]).
//!
//! | word  | contents                                                          | combined with |
//! |-------|-------------------------------------------------------------------|---------------|
//! | 0     | thread in bits 16–63, site in bits 0–15                           | minimum       |
//! | 1 … 4 | thread in bits 16–63, bits 0–15, 16–31, 32–47, 48–63 of the address | minimum     |
//! | 5     | how many threads did something wrong                              | sum           |
//! | 6, 7  | unused                                                            |               |
//!
//! *thread* is the thread's number in the grid: number of its block × threads of a block + number in its block, x
//! first. A thread writes once, on its way out, about the first thing that it did wrong. The number leads each word
//! and no two threads share it, so the minimum of every word is of the same thread, whatever the order of the
//! writes: the record does not depend on timing, and nothing can be torn.

use std::fmt::Write as _;

/// Size of a record in bytes.
pub const BYTES: usize = 64;

/// A record of a launch that did nothing wrong yet.
pub const EMPTY: [u64; BYTES / 8] = [u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, 0, 0, 0];

/// A launch with more threads than this cannot be recorded.
pub const MOST_THREADS: u64 = 1 << 48;

/// A kernel with more sites than this cannot be rewritten.
pub const MOST_SITES: usize = 1 << 16;

/// The first thing that the first thread did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The thread's number in the grid.
    pub thread: u64,
    /// Index into [`Rewritten::sites`](super::Rewritten::sites).
    pub site: u16,
    /// What the site's [`RecordedAddress`](super::RecordedAddress) says.
    pub address: u64,
    /// How many threads did something wrong.
    pub threads: u64,
}

/// Reads a record; `None` if nothing went wrong.
#[must_use]
pub fn read(words: &[u64; BYTES / 8]) -> Option<Recorded> {
    let [first, a, b, c, d, threads, ..] = *words;
    if threads == 0 {
        return None;
    }
    let piece = |word: u64, at: u32| (word & 0xffff) << (16 * at);
    Some(Recorded {
        thread: first >> 16,
        site: first as u16,
        address: piece(a, 0) | piece(b, 1) | piece(c, 2) | piece(d, 3),
        threads,
    })
}

/// Reads a record while threads may be writing it; `None` also where a write is half done.
#[must_use]
pub fn read_running(words: &[u64; BYTES / 8]) -> Option<Recorded> {
    let [first, pieces @ .., _, _, _] = words;
    // the count is written first, and each word by itself
    let is_whole = *first != u64::MAX && pieces.iter().all(|piece| piece >> 16 == first >> 16);
    read(words).filter(|_| is_whole)
}

/// Registers that [`write`] needs, declared by this text under the prefix `p`.
pub(super) fn registers(p: &str) -> String {
    format!(".reg .pred {p}rp; .reg .b32 {p}ra, {p}rb, {p}rc; .reg .b64 {p}rx, {p}ry, {p}rz; ")
}

/// PTX that writes a record of site `{p}f` − 1 and address `{p}g` to the record at `{p}r`.
///
/// It is executed by threads that did something wrong, so nobody minds that it is long.
pub(super) fn write(p: &str) -> String {
    let mut text = String::new();
    let mut line = |instruction: std::fmt::Arguments<'_>| {
        // writing to a String cannot fail
        let _ = write!(text, "{instruction} ");
    };
    // number of the block
    line(format_args!("mov.u32 {p}ra, %ctaid.z; cvt.u64.u32 {p}rx, {p}ra; mov.u32 {p}ra, %nctaid.y;"));
    line(format_args!("cvt.u64.u32 {p}ry, {p}ra; mov.u32 {p}ra, %ctaid.y; cvt.u64.u32 {p}rz, {p}ra;"));
    line(format_args!("mad.lo.u64 {p}rx, {p}rx, {p}ry, {p}rz; mov.u32 {p}ra, %nctaid.x;"));
    line(format_args!("cvt.u64.u32 {p}ry, {p}ra; mov.u32 {p}ra, %ctaid.x; cvt.u64.u32 {p}rz, {p}ra;"));
    line(format_args!("mad.lo.u64 {p}rx, {p}rx, {p}ry, {p}rz;"));
    // times threads of a block, plus number in the block
    line(format_args!("mov.u32 {p}ra, %ntid.x; mov.u32 {p}rb, %ntid.y; mul.lo.u32 {p}rc, {p}ra, {p}rb;"));
    line(format_args!("mov.u32 {p}ra, %ntid.z; mul.lo.u32 {p}rc, {p}rc, {p}ra; cvt.u64.u32 {p}ry, {p}rc;"));
    line(format_args!(
        "mov.u32 {p}ra, %tid.z; mov.u32 {p}rc, %tid.y; mad.lo.u32 {p}rc, {p}ra, {p}rb, {p}rc;"
    ));
    line(format_args!(
        "mov.u32 {p}ra, %ntid.x; mov.u32 {p}rb, %tid.x; mad.lo.u32 {p}rc, {p}rc, {p}ra, {p}rb;"
    ));
    line(format_args!("cvt.u64.u32 {p}rz, {p}rc; mad.lo.u64 {p}rx, {p}rx, {p}ry, {p}rz;"));
    line(format_args!("shl.b64 {p}rx, {p}rx, 16;"));
    line(format_args!("add.u32 {p}ra, {p}f, -1; cvt.u64.u32 {p}ry, {p}ra; or.b64 {p}ry, {p}ry, {p}rx;"));
    line(format_args!("red.global.add.u64 [{p}r+40], 1;"));
    line(format_args!("red.global.min.u64 [{p}r], {p}ry;"));
    for piece in 0..4 {
        line(format_args!("shr.u64 {p}ry, {p}g, {}; and.b64 {p}ry, {p}ry, 65535;", 16 * piece));
        line(format_args!("or.b64 {p}ry, {p}ry, {p}rx; red.global.min.u64 [{p}r+{}], {p}ry;", 8 + 8 * piece));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`write`] does, in plain Rust.
    fn note(words: &mut [u64; 8], thread: u64, site: u16, address: u64) {
        let pieces = [u64::from(site), address, address >> 16, address >> 32, address >> 48];
        for (word, piece) in words.iter_mut().zip(pieces) {
            *word = (*word).min(thread << 16 | piece & 0xffff);
        }
        words[5] += 1;
    }

    #[test]
    fn the_lowest_thread_wins_whatever_the_order() {
        let faults = [(7, 3, 0xffff_ffff_ffff_fffc), (MOST_THREADS - 1, 0, 1), (5, 9, 0x1234_5678_9abc_def0)];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut words = EMPTY;
            order.iter().for_each(|&i: &usize| note(&mut words, faults[i].0, faults[i].1, faults[i].2));
            let expected = Recorded { thread: 5, site: 9, address: 0x1234_5678_9abc_def0, threads: 3 };
            assert_eq!(read(&words), Some(expected));
        }
        assert_eq!(read(&EMPTY), None);
    }

    /// A record in any state between two that are whole, or on the way to the first.
    #[test]
    fn half_of_a_record_is_none() {
        let mut whole = EMPTY;
        note(&mut whole, 9, 4, 0x1234_5678_9abc_def0);
        assert_eq!(read_running(&EMPTY), None);
        assert_eq!(read_running(&whole), read(&whole));
        let mut next = whole;
        note(&mut next, 5, 2, 0x0fed_cba9_8765_4321);
        for (from, to) in [(EMPTY, whole), (whole, next)] {
            for written in 0..5 {
                let mut words = from;
                words[5] = to[5];
                words[..written].copy_from_slice(&to[..written]);
                let before = read(&from).map(|before| Recorded { threads: to[5], ..before });
                assert_eq!(read_running(&words), if written == 0 { before } else { None });
            }
        }
        assert_eq!(read_running(&next).map(|recorded| recorded.thread), Some(5));
    }
}
