//! Nothing that runs when something is closed panics. Two tools hold this. Clippy's lints know types, so they tell a slice
//! that is indexed from a map, and see what macros make; they are denied in whole modules, since whatever stands there may
//! be called while something closes, and CI runs Clippy. No lint knows `assert!`, `copy_from_slice` or a divisor that is
//! not a constant; those this file looks for in the text of the same modules, and that every place which closes something
//! is in such a module.
//!
//! The interpreter is outside: a panic while a kernel runs is caught, and is the launch's fault. Arithmetic that overflows
//! is outside too: what is added up here are bytes and counts of things that exist.

use std::collections::BTreeSet;

use super::source::{Source, braced, line, sources};

/// The lints that each of these modules denies.
const LINTS: &[&str] = &[
    "clippy::indexing_slicing",
    "clippy::unwrap_used",
    "clippy::expect_used",
    "clippy::panic",
    "clippy::unreachable",
];

/// Modules that deny them, for themselves and all below.
const DENYING: &[&str] = &[
    "backend/mod.rs",
    "context/mod.rs",
    "device/mod.rs",
    "memory/buffer.rs",
    "memory/pinned.rs",
    "pool/mod.rs",
    "stream/mod.rs",
];

/// Where indexing is expected nevertheless.
const INTERPRETER: &str = "backend/host/interp/";

/// What closes something, besides `Drop`.
const CLOSING: &[&str] = &[
    "fn close(",
    "fn close_all(",
    "fn release(",
    "fn join(",
    "fn leave(",
    "fn wait_quietly(",
    "fn end_stream(",
    "fn unload(",
    "fn destroy_stream(",
    "fn destroy_mark(",
    "fn free(",
    "fn free_pinned(",
    "fn trim(",
    "fn clear(",
    "fn reset(",
];

/// Folders in which such names mean something else: sets of facts that are joined.
const NOT_CLOSING: &[&str] = &["ptx/"];

/// What panics and no lint of these knows.
const PANICS: &[&str] = &[
    "assert!",
    "assert_eq!",
    "assert_ne!",
    "split_at(",
    "split_at_mut(",
    "copy_from_slice(",
    "clone_from_slice(",
    ".copy_within(",
    "swap_remove(",
    "split_off(",
    ".splice(",
    "rotate_left(",
    "rotate_right(",
    "RefCell",
];

/// What the lints know, for functions where they are not denied.
const KNOWN_TO_LINTS: &[&str] = &[".unwrap()", ".expect(", "panic!", "unreachable!"];

/// Places where one of these stands and does not panic: file, code, why.
const PROVED: &[(&str, &str, &str)] = &[
    (
        "backend/host/memory.rs",
        "slot.bytes.copy_within(from, to.start)",
        "`range` found both inside the slot",
    ),
    ("backend/host/memory.rs", "to.copy_from_slice(from)", "both have the length of the copy"),
    (
        "backend/host/transfer.rs",
        "memory.copy_within(to, from, len)",
        "the function above, which answers an error",
    ),
    (
        "backend/host/transfer.rs",
        "bytes.copy_within(..len, begun)",
        "`len` is at most what is begun and what is left",
    ),
    ("backend/host/transfer.rs", "CHUNK / element.len()", "an element without bytes returned before"),
    (
        "backend/host/written.rs",
        "self.ranges.splice(first..last",
        "positions that the same list was asked for",
    ),
    ("backend/cuda/fill.rs", "rows.row_bytes / element.len()", "elements of 8 and 16 bytes come here"),
    ("backend/cuda/report.rs", "recorded.thread / threads, recorded.thread % threads", "at least 1"),
    ("backend/cuda/report.rs", "[block % x, block / x % y, block / x / y]", "at least 1 each"),
    (
        "backend/cuda/transfer.rs",
        "copy.src.slice_pitch / copy.src.pitch",
        "a copy of several rows has pitches",
    ),
    (
        "backend/cuda/transfer.rs",
        "copy.dst.slice_pitch / copy.dst.pitch",
        "a copy of several rows has pitches",
    ),
];

/// Whether this file denies the lints.
fn denies(source: &Source) -> bool {
    let head = source.text.split("\n\n").take(3).find(|part| part.contains("#![cfg_attr"));
    head.is_some_and(|head| head.contains("deny(") && LINTS.iter().all(|lint| head.contains(lint)))
}

/// Whether the lints are denied there.
fn is_linted(path: &str) -> bool {
    let below = |denying: &&&str| match denying.strip_suffix("mod.rs") {
        Some(folder) => path.starts_with(folder),
        None => path == **denying,
    };
    DENYING.iter().any(|denying| below(&denying)) && !path.starts_with(INTERPRETER)
}

/// The code that is not compiled for tests only.
fn shipped(code: &str) -> String {
    let mut shipped = code.to_owned();
    while let Some(at) = shipped.find("#[cfg(test)]") {
        let rest = &shipped[at..];
        let item = match rest.find(['{', ';']) {
            Some(end) if rest[end..].starts_with('{') => end + braced(rest).len(),
            Some(end) => end + 1,
            None => rest.len(),
        };
        let blank: String = rest[..item].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        shipped.replace_range(at..at + item, &blank);
    }
    shipped
}

/// Divisions by something that is neither a number, nor a constant, nor a float.
fn divisions(code: &str) -> Vec<usize> {
    let risky = |at: &usize| {
        let divisor = code[at + 1..].trim_start_matches('=').trim_start();
        let constant = divisor.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
        !constant && !divisor.starts_with("f64::") && !divisor.starts_with("f32::")
    };
    code.match_indices(['/', '%']).map(|(at, _)| at).filter(risky).collect()
}

/// Brackets that index or slice something.
fn indexings(code: &str) -> Vec<usize> {
    let after_value =
        |at: &usize| code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ')' || c == ']');
    code.match_indices('[').map(|(at, _)| at).filter(after_value).collect()
}

/// The text of the line in which an offset lies.
fn line_at(code: &str, offset: usize) -> &str {
    code.lines().nth(line(code, offset) - 1).unwrap_or_default().trim()
}

#[test]
fn the_modules_deny_the_lints() {
    let denying: Vec<String> = sources().into_iter().filter(denies).map(|source| source.path).collect();
    assert_eq!(denying, DENYING, "modules that deny all of {LINTS:?}");
}

#[test]
fn what_closes_is_where_the_lints_are_denied() {
    let mut seen = BTreeSet::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let code = shipped(&source.code);
        let named = CLOSING.iter().copied().filter(|name| code.contains(name));
        let found: Vec<_> = named.chain(code.contains("Drop for ").then_some("Drop for ")).collect();
        if found.is_empty() || NOT_CLOSING.iter().any(|folder| source.path.starts_with(folder)) {
            continue;
        }
        if source.path.starts_with(INTERPRETER) {
            // Not denied there, so each function is read.
            for name in found {
                for (at, _) in code.match_indices(name) {
                    let body = braced(&code[at..]);
                    let panics = PANICS.iter().chain(KNOWN_TO_LINTS).find(|word| body.contains(**word));
                    let indexed = indexings(body).first().map(|at| line_at(body, *at));
                    assert_eq!((panics, indexed), (None, None), "src/{}: in `{name}`", source.path);
                }
            }
            continue;
        }
        assert!(is_linted(&source.path), "src/{} has {found:?}, and may panic there", source.path);
        seen.extend(found);
    }
    let expected: BTreeSet<_> = CLOSING.iter().copied().chain(["Drop for "]).collect();
    assert_eq!(seen, expected, "names that nothing has any more are taken out");
}

#[test]
fn what_the_lints_do_not_know_is_not_there_either() {
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test() && is_linted(&source.path)) {
        let code = shipped(&source.code);
        let words = PANICS.iter().flat_map(|word| code.match_indices(word)).map(|(at, _)| at);
        for at in words.chain(divisions(&code)) {
            let line = line_at(&code, at);
            // An assertion about constants fails when it is compiled, or never.
            if line.starts_with("const ") {
                continue;
            }
            let proved =
                PROVED.iter().position(|(path, code, _)| *path == source.path && line.contains(code));
            match proved {
                Some(index) => _ = used.insert(index),
                None => wrong.push(format!("src/{}: `{line}` may panic", source.path)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unused = PROVED.iter().enumerate().filter(|(index, _)| !used.contains(index));
    let unused: Vec<_> = unused.map(|(_, (path, code, _))| format!("{path}: {code}")).collect();
    assert!(unused.is_empty(), "not there any more: {unused:?}");
}

#[test]
fn panics_are_recognised() {
    assert_eq!(divisions("a / 2 + b % WORDS - c as f64 / f64::from(d)"), [0; 0]);
    assert_eq!(divisions("a / b; c %= d.len()"), [2, 9]);
    assert_eq!(indexings("let [a, b] = [1, 2]; &[3][..]; x[0]; f()[1]; #[must_use]; Vec<[u8; 2]>").len(), 3);
    let code = "fn a() {}\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nimpl B { fn c() {} }\nfn d() {}";
    assert_eq!(shipped(code).split_whitespace().collect::<Vec<_>>().join(" "), "fn a() {} fn d() {}");
}
