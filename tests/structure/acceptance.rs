//! The page of acceptance cases against the marks in the tests: each case is there once, and names the tests that are
//! marked with its number, no more and no fewer, and the devices that they run on.

use std::collections::{BTreeMap, BTreeSet};

use super::pages::{exists, read, references};
use super::source::{Source, below};

const PAGE: &str = "docs/acceptance.md";

/// How many cases there are.
const CASES: u32 = 41;

/// A test that shows a case: its file, or a pattern of files, and its function.
type Shown = (String, Option<String>);

/// The case's number and text, for each paragraph of the page that begins with one in bold.
fn cases(page: &str) -> Vec<(u32, &str)> {
    let number = |part: &str| part.strip_prefix("**")?.split_once(". ")?.0.parse().ok();
    page.split("\n\n").filter_map(|part| Some((number(part)?, part))).collect()
}

/// Where a case's tests run, as its text says before it lists them: `On: host, CUDA.`
fn devices(case: &str) -> BTreeSet<&str> {
    let (_, said) = case.split_once("On:").unwrap_or_default();
    let said = said.split('.').next().unwrap_or_default();
    said.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// The numbers at the start of a text, separated by commas.
fn numbers(text: &str) -> Vec<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ',' && c != ' ').unwrap_or(text.len());
    text[..end].split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

/// A mark in a file: numbers, the function that they belong to, whether it is left out on CUDA devices.
type Mark<'a> = (Vec<u32>, &'a str, bool);

/// The marks in a chapter's list: `test!(function).shows(&[1, 2])`.
fn listed(text: &str) -> Vec<Mark<'_>> {
    let mark = |(at, word): (usize, &str)| {
        let (function, rest) = text[at + word.len()..].split_once(')')?;
        let entry = rest.split(",\n").next()?;
        let (_, shown) = entry.split_once(".shows(&[")?;
        Some((numbers(shown.split_once(']')?.0), function, entry.contains(".only_host()")))
    };
    text.match_indices("test!(").filter_map(mark).collect()
}

/// The marks in comments: `/// Acceptance 1, 2: …` above a function.
fn commented(text: &str) -> Vec<Mark<'_>> {
    let mark = |(at, word): (usize, &str)| {
        let rest = &text[at + word.len()..];
        let (_, function) = rest.split_once("fn ")?;
        Some((numbers(rest), function.split_once('(')?.0, false))
    };
    text.match_indices("/// Acceptance ").filter_map(mark).collect()
}

/// Where a test runs.
fn runs_on(file: &str, only_host: bool) -> &'static [&'static str] {
    match file {
        _ if file.starts_with("tests/refused/") => &["compiler"],
        _ if file.starts_with("tests/devices/") && only_host => &["host", "hostile", "strict"],
        _ if file.starts_with("tests/devices/") => &["host", "hostile", "strict", "CUDA"],
        _ if file.starts_with("src/backend/cuda/") => &["CUDA"],
        "tests/cuda.rs" => &["CUDA"],
        "tests/hostile.rs" => &["hostile"],
        "tests/failing_calls/main.rs" => &["host", "hostile"],
        _ => &["host"],
    }
}

/// What the tests' marks say: for each case its tests, and where they run.
fn marked() -> BTreeMap<u32, BTreeMap<Shown, &'static [&'static str]>> {
    let mut cases: BTreeMap<u32, BTreeMap<_, _>> = BTreeMap::new();
    let mut add = |number, shown: Shown, on| cases.entry(number).or_default().insert(shown, on);
    for (directory, files) in [("tests", below("tests")), ("src", below("src"))] {
        for Source { path, text, .. } in &files {
            let file = format!("{directory}/{path}");
            let clause = path.strip_prefix("refused/a").and_then(|name| name.get(..2)?.parse::<u32>().ok());
            if let Some(number) = clause {
                let pattern = format!("tests/refused/a{number:02}_*.rs");
                add(number, (pattern, None), runs_on(&file, false));
            }
            if path.starts_with("structure/") {
                continue;
            }
            for (numbers, function, only_host) in listed(text).into_iter().chain(commented(text)) {
                assert!(!numbers.is_empty(), "{file}: a mark without a number at `{function}`");
                for number in numbers {
                    add(number, (file.clone(), Some(function.to_owned())), runs_on(&file, only_host));
                }
            }
        }
    }
    cases
}

#[test]
fn each_case_is_on_the_page_once() {
    let page = read(PAGE).expect("the page is there");
    let numbers: Vec<_> = cases(&page).into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, (1..=CASES).collect::<Vec<_>>());
}

#[test]
fn the_page_names_the_tests_that_are_marked() {
    let page = read(PAGE).expect("the page is there");
    let marked = marked();
    let unknown: Vec<_> = marked.keys().filter(|number| !(1..=CASES).contains(*number)).collect();
    assert!(unknown.is_empty(), "tests are marked with {unknown:?}");
    let nothing = BTreeMap::new();
    let mut wrong = Vec::new();
    for (number, case) in cases(&page) {
        let tests = marked.get(&number).unwrap_or(&nothing);
        let named: BTreeSet<Shown> = references(case)
            .into_iter()
            .map(|(file, function)| (file.to_owned(), function.map(str::to_owned)))
            .collect();
        for (file, function) in named.iter().filter(|(file, _)| !file.contains('*')) {
            exists(PAGE, file, function.as_deref());
        }
        let show = |(file, function): &Shown| match function {
            Some(function) => format!("`{file}::{function}`"),
            None => format!("`{file}`"),
        };
        let missing = tests.keys().filter(|shown| !named.contains(*shown));
        wrong
            .extend(missing.map(|shown| format!("{number}: {} is marked, but not on the page", show(shown))));
        let unmarked = named.iter().filter(|shown| !tests.contains_key(*shown));
        wrong.extend(unmarked.map(|shown| format!("{number}: {} is not marked with it", show(shown))));
        let on: BTreeSet<_> = tests.values().flat_map(|on| on.iter().copied()).collect();
        if devices(case) != on {
            wrong.push(format!("{number}: on {on:?}, the page says {:?}", devices(case)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn marks_are_read() {
    let list = "const TESTS: &[Test] = &[\n    test!(one).shows(&[1, 22]),\n    test!(two),\n    \
                test!(three).shows(&[3]).only_host(),\n];";
    assert_eq!(listed(list), [(vec![1, 22], "one", false), (vec![3], "three", true)]);
    let comments =
        "/// Acceptance 11, 17: what\n/// it is\n#[test]\nfn one() {}\n/// Acceptance 4.\nfn two() {}";
    assert_eq!(commented(comments), [(vec![11, 17], "one", false), (vec![4], "two", false)]);
    let page = "# A\n\n**1. First** [a#1]. On: host,\nCUDA.\n* `tests/x.rs::f`\n\ntext\n\n**2. Second.** On: compiler.\n";
    assert_eq!(cases(page).iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(devices(cases(page)[0].1).into_iter().collect::<Vec<_>>(), ["CUDA", "host"]);
}
