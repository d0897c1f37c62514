//! Damaged PTX: whatever stands there, it is lowered or refused, and what is accepted keeps the rules.

use super::corpus::files;
use super::load;

/// A small generator with a period that is long enough (Marsaglia, *Xorshift RNGs*, 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Words whose exchange keeps most of the syntax and breaks most of the meaning.
const WORDS: &[&str] = &[
    "u32",
    "s64",
    "f32",
    "b16",
    "pred",
    "f16x2",
    "v4",
    "global",
    "shared",
    "param",
    "local",
    "const",
    "cc",
    "sat",
    "ftz",
    "rn",
    "rzi",
    "wide",
    "sync",
    "add",
    "mad",
    "ld",
    "st",
    "atom",
    "cvt",
    "setp",
    "mov",
    "bra",
    "call",
    "bar",
    "shfl",
    "0",
    "-1",
    "0f3F800000",
    "0xffffffffffffffff",
    "%r1",
    "%rd1",
    "%p1",
    "%f1",
    "%tid.x",
    "_",
    "{%r1, %r2}",
    "[%rd1]",
    "b128",
    "mma",
    "_param_0",
];

/// Replaces some words of the text: by listed ones, or by others of the same text.
fn damaged(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + random.below(4) {
        let words: Vec<(usize, usize)> = word_ranges(&text);
        let (start, end) = words[random.below(words.len())];
        let new = match random.below(3) {
            0 => {
                let (start, end) = words[random.below(words.len())];
                text[start..end].to_owned()
            }
            1 => String::new(),
            _ => WORDS[random.below(WORDS.len())].to_owned(),
        };
        text.replace_range(start..end, &new);
    }
    text
}

fn word_ranges(text: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices() {
        let in_word = character.is_ascii_alphanumeric() || "%_$".contains(character);
        match (in_word, start) {
            (true, None) => start = Some(at),
            (false, Some(begin)) => {
                ranges.push((begin, at));
                start = None;
            }
            _ => {}
        }
    }
    ranges
}

/// One kernel of a corpus file, or the whole of a small one: damage is then seldom hidden behind other
/// damage.
fn pieces() -> Vec<String> {
    let mut pieces = Vec::new();
    for (_, text) in files() {
        let Some(first) = text.find(".visible .entry") else {
            continue;
        };
        let (head, body) = text.split_at(first);
        for kernel in body.split_inclusive("\n}\n").filter(|kernel| kernel.len() < 12_000) {
            pieces.push(format!("{head}{kernel}"));
        }
    }
    pieces
}

#[test]
fn damaged_modules_are_lowered_or_refused_and_never_panic() {
    let pieces = pieces();
    assert!(pieces.len() > 30, "{} pieces", pieces.len());
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..3000 {
        let text = damaged(&pieces[random.below(pieces.len())], &mut random);
        match load(&text) {
            Ok(module) => {
                accepted += 1;
                // the readable form and the queries hold on anything that was accepted
                for function in &module.functions {
                    let _ = function.to_string();
                    function.code.iter().for_each(|inst| {
                        let _ = (inst.successors(), inst.op.memory_accesses());
                    });
                }
            }
            Err(message) => {
                refused += 1;
                assert!(message.starts_with("error: "), "{message}");
            }
        }
    }
    // both ways out are taken often, or the damage proves nothing
    assert!(accepted > 200 && refused > 200, "{accepted} accepted, {refused} refused");
}
