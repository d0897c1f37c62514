//! Pages that name tests: each test is there. A page that argues from tests is worth as much as they are. What pages are
//! read with is here; the page of acceptance cases has more rules, in `acceptance`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A file of this project.
pub fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}

/// What stands between backticks on the page's lines of prose.
fn quoted(page: &str) -> Vec<&str> {
    let mut in_code = false;
    let prose = page.lines().filter(|line| {
        let fence = line.starts_with("```");
        in_code ^= fence;
        !fence && !in_code
    });
    prose.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// The references among them to files of this project, with the function if one is named.
pub fn references(page: &str) -> Vec<(&str, Option<&str>)> {
    quoted(page)
        .into_iter()
        .filter(|word| (word.starts_with("tests/") || word.starts_with("src/")) && word.contains(".rs"))
        .map(|word| word.split_once("::").map_or((word, None), |(file, function)| (file, Some(function))))
        .collect()
}

/// The invariants that a text numbers, such as `B3`.
fn invariants(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() == 2 && (word.starts_with('B') || word.starts_with('C')))
        .filter(|word| word.ends_with(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

#[test]
fn references_are_read() {
    let page = "as `tests/a.rs::b` and\n`src/c.rs`\n```rust\nlet d = `tests/e.rs`;\n```\nC1 to B2; `docs/f.md`, `max_steps`";
    assert_eq!(references(page), [("tests/a.rs", Some("b")), ("src/c.rs", None)]);
    assert_eq!(invariants(page).into_iter().collect::<Vec<_>>(), ["B2", "C1"]);
}

/// Holds that the file, and the function in it, are there and run.
pub fn exists(page: &str, file: &str, function: Option<&str>) {
    let text = read(file).unwrap_or_else(|| panic!("{page} names `{file}`, which is not there"));
    let Some(function) = function else { return };
    assert!(text.contains(&format!("fn {function}(")), "{page}: no `{function}` in `{file}`");
    // A case of the device suite runs only if its chapter lists it.
    let listed = !file.starts_with("tests/devices/") || text.contains(&format!("test!({function})"));
    assert!(listed, "{page}: `{file}` does not run `{function}`");
}

#[test]
fn safety_page_names_what_exists() {
    let page = read("docs/safety.md").expect("the page is there");
    references(&page).into_iter().for_each(|(file, function)| exists("docs/safety.md", file, function));
}

#[test]
fn safety_page_argues_for_each_promise_and_from_each_invariant() {
    let page = read("docs/safety.md").expect("the page is there");
    let contract = read("src/backend/mod.rs").expect("the contract is there");
    let numbered: BTreeSet<String> = contract
        .lines()
        .filter_map(|line| line.strip_prefix("//! * **"))
        .filter_map(|line| line.split("**").next())
        .map(str::to_owned)
        .collect();
    assert!(numbered.len() > 10, "{numbered:?}");
    assert_eq!(invariants(&page), numbered, "the page against the contract");
    let promises: Vec<_> =
        page.split("\n## ").filter(|part| part.starts_with(|c: char| c.is_ascii_digit())).collect();
    assert_eq!(promises.len(), 5);
    for promise in promises {
        assert!(
            !references(promise).is_empty(),
            "no test for {}",
            promise.lines().next().unwrap_or_default()
        );
    }
}
