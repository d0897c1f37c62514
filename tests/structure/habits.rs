//! Habits that a reader of the sources can hold: nothing unfinished, no bare `allow`, and on each central page a program
//! that the compiler refuses.

use super::source::{Source, braced, line, sources};

/// What must stand nowhere in the code.
const NOWHERE: &[&str] =
    &["todo!", "unimplemented!", "dbg!", "#[allow", "#![allow", "static mut", "map_err(Error::new)"];

/// The public pages on which a refused program is shown.
const PAGES: &[&str] = &["Device", "Context", "Linear", "Pitched", "Buffer", "Streams", "Kernel", "Element"];

#[test]
fn nothing_is_unfinished() {
    for source in sources() {
        for word in NOWHERE {
            let found = source.code.find(word).map(|at| line(&source.code, at));
            assert_eq!(found, None, "src/{} has `{word}` in this line", source.path);
        }
    }
}

#[test]
fn central_pages_show_a_refused_program() {
    let sources = sources();
    for name in PAGES {
        let shown = sources
            .iter()
            .filter(|source| !source.is_test())
            .any(|source| documentation(source, name).is_some_and(|page| page.contains("```compile_fail")));
        assert!(shown, "the page of `{name}` shows no program that the compiler refuses");
    }
}

/// The documentation of a public type and of its own methods, where this file defines it.
fn documentation(source: &Source, name: &str) -> Option<String> {
    let is_definition = |line: &str| {
        ["pub struct ", "pub trait "].iter().any(|kind| {
            line.strip_prefix(kind)
                .and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    };
    let lines: Vec<_> = source.text.lines().collect();
    let at = lines.iter().position(|line| is_definition(line))?;
    // attributes may take several lines
    let above = lines[..at].iter().rev().take_while(|line| !line.is_empty());
    let mut page: String = above.map(|line| format!("{line}\n")).collect();
    for (start, _) in source.text.match_indices(&format!("\nimpl {name} {{")) {
        page.push_str(braced(&source.text[start..]));
    }
    Some(page)
}
