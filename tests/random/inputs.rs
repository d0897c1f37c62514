//! Random PTX, from noise to programs that are nearly right. Input number `i` of a seed is always the same text.

use crate::corpus::{Corpus, PUNCTUATION};
use crate::frame::{HEADER, kernel};
use crate::random::Random;

/// Beginnings after which a lone token has a chance.
const STARTS: [&str; 9] = [
    "",
    ".version 8.7\n.target sm_90\n",
    ".entry k() {",
    ".entry k(.param .u64 p, ",
    ".global .b32 x = {",
    ".global .align 8 .b64 y[4] = ",
    ".func (.reg .b32 r) f(",
    ".entry k() { .reg .b32 %r<9>; mov.b32 %r1, ",
    ".entry k() { a: .callprototype (",
];

/// How the text of an input was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any bytes, alone or after a beginning.
    Noise,
    /// Words and punctuation in any order.
    Soup,
    /// Pieces of files joined anywhere, some bytes changed.
    Splice,
    /// Instructions of compilers in any order in one kernel, some words exchanged.
    Instructions,
    /// A compiler's kernel with some words exchanged.
    Kernel,
}

/// Input number `index` of `seed`.
pub fn input(corpus: &Corpus, seed: u64, index: u64) -> (Kind, String) {
    let mut random = Random::new(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
    let (kind, bytes) = match random.below(100) {
        0..15 => (Kind::Noise, noise(&mut random)),
        15..45 => (Kind::Soup, soup(corpus, &mut random)),
        45..70 => (Kind::Splice, splice(corpus, &mut random)),
        70..98 => (Kind::Instructions, kernel(&instructions(corpus, &mut random)).into_bytes()),
        _ => {
            let text = pick(&corpus.kernels, &mut random).clone();
            (Kind::Kernel, damaged(text, corpus, &mut random).into_bytes())
        }
    };
    (kind, String::from_utf8_lossy(&bytes).into_owned())
}

/// Some instructions, a few of them with other words.
pub fn instructions(corpus: &Corpus, random: &mut Random) -> String {
    let mut body = String::new();
    for _ in 0..1 + random.below(10) {
        let mut line = (*pick(&corpus.instructions, random)).to_owned();
        if random.below(4) == 0 {
            line = damaged(line, corpus, random);
        }
        body.push_str(&line);
        body.push('\n');
    }
    body
}

fn pick<'a, T>(from: &'a [T], random: &mut Random) -> &'a T {
    &from[random.below(from.len() as u64) as usize]
}

fn noise(random: &mut Random) -> Vec<u8> {
    let mut bytes = pick(&STARTS, random).as_bytes().to_vec();
    let length = random.below(80) as usize;
    bytes.extend(random.u8s(length));
    bytes
}

fn soup(corpus: &Corpus, random: &mut Random) -> Vec<u8> {
    let mut bytes = HEADER.as_bytes().to_vec();
    bytes.extend(pick(&STARTS, random).bytes());
    for _ in 0..random.below(30) {
        match random.below(5) {
            0 | 1 => bytes.push(*pick(PUNCTUATION, random)),
            2 => bytes.push(b'.'),
            _ => bytes.push(b' '),
        }
        bytes.extend(pick(&corpus.words, random).bytes());
    }
    bytes
}

fn splice(corpus: &Corpus, random: &mut Random) -> Vec<u8> {
    let mut bytes = HEADER.as_bytes().to_vec();
    if random.below(3) > 0 {
        bytes.extend(b".visible .entry k() {\n");
    }
    for _ in 0..1 + random.below(2) {
        let text = pick(&corpus.files, random).as_bytes();
        let start = random.below(text.len() as u64) as usize;
        let end = (start + random.below(500) as usize).min(text.len());
        // mostly from the beginning of a line, so that many get past the first token
        let line = text[start..end].iter().position(|&byte| byte == b'\n').map_or(start, |at| start + at + 1);
        bytes.extend(&text[if random.below(8) == 0 { start } else { line }..end]);
    }
    bytes.extend(b"\nret; }\n");
    for _ in 0..random.below(4) {
        // never the first byte, so that one stays
        let at = 1 + random.below(bytes.len() as u64 - 1) as usize;
        match random.below(4) {
            0 => bytes[at] = random.below(256) as u8,
            1 if bytes.len() > 2 => drop(bytes.remove(at)),
            2 => bytes.insert(at, *pick(PUNCTUATION, random)),
            _ => bytes.truncate(at.max(2)),
        }
    }
    bytes
}

/// The text with one to four words exchanged: for listed ones, for others of the text, or for none.
fn damaged(mut text: String, corpus: &Corpus, random: &mut Random) -> String {
    for _ in 0..1 + random.below(4) {
        let words = word_ranges(&text);
        if words.is_empty() {
            break;
        }
        let (start, end) = *pick(&words, random);
        let other = match random.below(4) {
            0 => {
                let (start, end) = *pick(&words, random);
                text[start..end].to_owned()
            }
            1 => String::new(),
            _ => (*pick(&corpus.words, random)).to_owned(),
        };
        text.replace_range(start..end, &other);
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
