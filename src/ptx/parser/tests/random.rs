//! Whatever the bytes, parsing ends, and gives a tree or an error that can be shown.

use super::{HEADER, corpus};
use crate::ptx::parser::parse;
use crate::ptx::signature::KernelSignature;
use crate::ptx::source::Source;

/// Marsaglia's xorshift ("Xorshift RNGs", 2003) with 64 bits of state: the same sequence everywhere.
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

/// Parses, and looks at the outcome as its users would.
fn exercise(text: String) -> bool {
    let source = Source::new("random.ptx", text).unwrap();
    match parse(&source).and_then(|module| KernelSignature::all(&module).map(|_| ())) {
        Ok(()) => true,
        Err(error) => {
            let range = error.span.range();
            assert!(source.as_str().get(range).is_some(), "{error:?}");
            assert!(error.render(&source).starts_with("error: "));
            false
        }
    }
}

/// A piece of a file, at character boundaries.
fn piece(random: &mut Random, files: &[(String, String)], longest: usize) -> String {
    let text = &files[random.below(files.len())].1;
    let start = random.below(text.len());
    let length = random.below(longest);
    String::from_utf8_lossy(&text.as_bytes()[start..(start + length).min(text.len())]).into_owned()
}

#[test]
fn mutated_corpus() {
    const PUNCTUATION: &[u8] = b"{}[]();,:.|!-+<>\"@%/*\n\0\xC3";
    let files = corpus();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut read = 0;
    for _ in 0..2000 {
        let mut bytes = HEADER.as_bytes().to_vec();
        if random.below(2) == 0 {
            bytes.extend(b".visible .entry k() {\n");
        }
        // whole lines mostly, so that many get past the first token
        let text = piece(&mut random, &files, 1500);
        bytes.extend(text.split_once('\n').map_or("", |(_, rest)| rest).bytes());
        bytes.extend(b"\nret; }\n");
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.next() as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, PUNCTUATION[random.below(PUNCTUATION.len())]),
                _ => {
                    let other = piece(&mut random, &files, 60);
                    bytes.splice(at..at, other.bytes());
                }
            }
        }
        read += usize::from(exercise(String::from_utf8_lossy(&bytes).into_owned()));
    }
    // both outcomes are tried, or this test would prove little
    assert!((100..1900).contains(&read), "{read} of 2000 were PTX");
}

#[test]
fn token_soup() {
    const WORDS: [&str; 64] = [
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ";",
        ":",
        "::",
        "|",
        "||",
        "!",
        "~",
        "-",
        "+",
        "*",
        "/",
        "%",
        "<",
        ">",
        "<<",
        ">=",
        "==",
        "=",
        "?",
        "@",
        "@@DWARF",
        "&",
        "^",
        "_",
        "%r1",
        "$L",
        "x",
        "WARP_SZ",
        "call",
        "mov",
        "ret",
        "generic",
        "12",
        "0x1F",
        "0f3F800000",
        "0d3",
        "1.5",
        ".5",
        "0b1",
        "08",
        "\"s\"",
        "\"",
        "//",
        "/*",
        "*/",
        ".",
        ".b32",
        ".align",
        ".param",
        ".reg",
        ".entry",
        ".func",
        ".global",
        ".section",
        ".pragma",
        ".loc",
        ".version",
    ];
    const STARTS: [&str; 6] = [
        "",
        ".entry k() {",
        ".entry k(",
        ".global .b32 x = {",
        ".entry k() { mov.b32 %r1, ",
        ".entry k() { a: .callprototype (",
    ];
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for _ in 0..4000 {
        let mut text = format!("{HEADER}{}", STARTS[random.below(STARTS.len())]);
        for _ in 0..random.below(40) {
            text.push_str(WORDS[random.below(WORDS.len())]);
            text.push_str(["", " ", "\n"][random.below(3)]);
        }
        exercise(text);
    }
}

#[test]
fn arbitrary_characters() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    for _ in 0..1000 {
        let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.next() as u8).collect();
        exercise(String::from_utf8_lossy(&bytes).into_owned());
        exercise(format!("{HEADER}.entry k() {{ mov.b32 {}", String::from_utf8_lossy(&bytes)));
    }
}

#[test]
fn deep_nesting_is_refused_before_the_stack_ends() {
    for (open, prefix) in [
        ("{", ".entry k() "),
        ("{", ".global .b32 x = "),
        ("(", ".global .b32 x = "),
        ("-", ".global .b32 x = "),
        ("1?", ".global .b32 x = "),
        ("1?1:", ".global .b32 x = "),
        ("1+(", ".global .b32 x = "),
        ("(.s64)", ".global .b32 x = "),
        ("a=", ".global .b32 x = "),
        ("{", ".entry k() { mov.b32 "),
        ("[a,", ".entry k() { mov.b32 "),
        ("(", ".entry k() { call "),
    ] {
        let text = format!("{HEADER}{prefix}{}", open.repeat(200_000));
        let source = Source::new("deep.ptx", text).unwrap();
        let message = parse(&source).unwrap_err().message;
        assert_eq!(message, "nested more than 100 levels deep", "{prefix}{open}");
    }
}

#[test]
fn long_flat_input_needs_no_depth() {
    let sum = "1+".repeat(20_000);
    let list = "1, ".repeat(20_000);
    assert!(exercise(format!("{HEADER}.global .b32 x = {sum}1;")));
    assert!(exercise(format!("{HEADER}.global .b32 x[] = {{{list}1}};")));
    assert!(exercise(format!("{HEADER}.entry k() {{ {} }}", "{ }".repeat(20_000))));
}
