//! `unsafe`: in which files, how often, and with a proof above each.

use std::collections::BTreeMap;

use super::source::{Source, below, line, sources};

/// Files that may contain `unsafe`, tests beside them not counted, with the number of their `unsafe` blocks and implementations.
const ALLOWED: &[(&str, usize)] = &[
    ("backend/cuda/call.rs", 3),
    ("backend/cuda/capture.rs", 1),
    ("backend/cuda/context.rs", 11),
    ("backend/cuda/driver.rs", 1),
    ("backend/cuda/fill.rs", 15),
    ("backend/cuda/fork.rs", 1),
    ("backend/cuda/launch.rs", 1),
    ("backend/cuda/limits.rs", 7),
    ("backend/cuda/mark.rs", 10),
    ("backend/cuda/memory.rs", 8),
    ("backend/cuda/mod.rs", 11),
    ("backend/cuda/module.rs", 8),
    ("backend/cuda/records.rs", 17),
    ("backend/cuda/staging.rs", 13),
    ("backend/cuda/stream.rs", 7),
    ("backend/cuda/transfer.rs", 14),
    ("backend/host/interp/dispatch.rs", 1),
    ("backend/host/mod.rs", 2),
    ("backend/host/pinned.rs", 7),
    ("backend/host/transfer.rs", 3),
    ("backend/mod.rs", 2),
    ("context/core.rs", 2),
    ("device/mod.rs", 0),
    ("device/shared.rs", 3),
    ("kernel/launch.rs", 3),
    ("memory/pinned.rs", 2),
    ("pool/mod.rs", 3),
    ("stream/queued.rs", 5),
    ("transfer/blocking.rs", 4),
    ("transfer/peer.rs", 1),
    ("transfer/plan.rs", 5),
    ("transfer/staged.rs", 1),
];

/// The same for the stand-in of the driver: what C programs pass, and its calls of the host device.
const ALLOWED_IN_SHIM: &[(&str, usize)] = &[("backend_calls.rs", 5), ("raw.rs", 19)];

/// Offsets of `unsafe { … }` and `unsafe impl`, which assert something; `unsafe fn` only asks for it.
fn assertions(code: &str) -> Vec<usize> {
    code.match_indices("unsafe")
        .filter(|(at, word)| {
            let before = code[..*at].chars().next_back();
            let after = code[at + word.len()..].trim_start();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
                && (after.starts_with('{') || after.starts_with("impl"))
        })
        .map(|(at, _)| at)
        .collect()
}

#[test]
fn unsafe_stands_where_it_is_listed() {
    compare(sources(), ALLOWED);
    compare(below("tests/shim/src"), ALLOWED_IN_SHIM);
}

#[track_caller]
fn compare(sources: Vec<Source>, allowed: &[(&str, usize)]) {
    let found: BTreeMap<_, _> = sources
        .into_iter()
        .filter(|source| !source.is_test())
        .map(|source| (assertions(&source.code).len(), source))
        .filter(|(count, source)| *count > 0 || source.code.contains("unsafe fn"))
        .map(|(count, source)| (source.path, count))
        .collect();
    let allowed: BTreeMap<_, _> = allowed.iter().map(|(path, count)| ((*path).to_owned(), *count)).collect();
    let list = found.iter().map(|(path, count)| format!("    ({path:?}, {count}),\n")).collect::<String>();
    assert_eq!(found, allowed, "if each is needed and proved, the list is now:\n{list}");
}

#[test]
fn each_has_its_proof_above() {
    for source in sources().into_iter().chain(below("tests/shim/src")) {
        let lines: Vec<_> = source.text.lines().collect();
        for at in assertions(&source.code) {
            let number = line(&source.code, at);
            assert!(proved(&lines[..number]), "{}:{number}: no `SAFETY:` comment above", source.path);
        }
    }
}

/// Whether the comment above the statement in the last of these lines says `SAFETY:`.
fn proved(lines: &[&str]) -> bool {
    let mut above = lines.iter().rev().map(|line| line.trim());
    let own = above.next();
    if own.is_some_and(|line| line.contains("// SAFETY:")) {
        return true;
    }
    let mut in_comment = false;
    for line in above {
        if line.starts_with("//") {
            in_comment = true;
            if line.starts_with("// SAFETY:") {
                return true;
            }
        } else if in_comment || line.ends_with(';') || line.ends_with('}') || line.is_empty() {
            return false;
        }
    }
    false
}

#[test]
fn a_proof_is_recognised() {
    assert!(proved(&["// SAFETY: because", "// of this", "let x =", "    unsafe { y() };"]));
    assert!(!proved(&["// SAFETY: because", "let x = 1;", "unsafe { y() };"]));
    assert!(!proved(&["// a comment", "unsafe { y() };"]));
}
