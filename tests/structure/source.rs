//! The crate's sources as text: which files there are, which module each one is, and what is code in them.

use std::fs;
use std::path::{Path, PathBuf};

/// A file under `src/`, or another directory.
pub struct Source {
    /// Its path below that directory, with `/`.
    pub path: String,
    pub text: String,
    /// The text with comments, strings and characters blanked out; offsets stay.
    pub code: String,
}

impl Source {
    /// `context::core` for `context/core.rs`, `context` for `context/mod.rs`.
    pub fn module(&self) -> String {
        let stem = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        stem.strip_suffix("/mod").unwrap_or(stem).replace('/', "::")
    }

    /// Whether it is compiled for tests only.
    pub fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }

    /// The code before a module of tests at the file's end.
    pub fn product_code(&self) -> &str {
        self.code.find("#[cfg(test)]\nmod tests {").map_or(&self.code, |end| &self.code[..end])
    }
}

/// All sources of the crate, ordered by path.
pub fn sources() -> Vec<Source> {
    below("src")
}

/// The Rust files of a directory of the project, ordered by path.
pub fn below(directory: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            let below = path.strip_prefix(&root).expect("found below the root");
            Source { path: below.to_string_lossy().replace('\\', "/"), code: blanked(&text), text }
        })
        .collect()
}

fn collect(directory: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("sources are readable") {
        let path = entry.expect("sources are readable").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

/// The text with everything that is no code replaced by spaces.
pub fn blanked(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = skipped(rest);
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            // One space for each byte, so that offsets into the code are offsets into the text.
            code.extend(rest[..skipped].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            rest = &rest[skipped..];
        }
    }
    code
}

/// Length of the comment, string or character that `rest` begins with; 0 if it begins with code.
fn skipped(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(rest.len(), |end| end + 2);
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    if let Some(raw) = rest.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = 1 + hashes + 1;
            return rest[body..].find(&close).map_or(rest.len(), |end| body + end + close.len());
        }
    }
    if let Some(after) = rest.strip_prefix('\'') {
        // 'a' and '\n' are characters, 'a without an end is a lifetime.
        let mut chars = after.chars();
        let first = chars.next();
        if first == Some('\\') || chars.next() == Some('\'') {
            return quoted(rest, '\'');
        }
    }
    0
}

/// Length of a literal that begins and ends with `quote`.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The text in braces that begins at the first `{` of `code`, braces included.
pub fn braced(code: &str) -> &str {
    let Some(start) = code.find('{') else { return "" };
    let mut depth = 0_usize;
    for (at, c) in code[start..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &code[start..=start + at];
        }
    }
    &code[start..]
}

/// The line number, counted from 1, of a byte offset.
pub fn line(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = "let a = \"unsafe // {\"; // unsafe\nlet b = r#\"un\"safe\"#; /* unsafe */ let c: &'a str = f('\\'', '}');";
    let code = blanked(text);
    assert_eq!(code.len(), text.len());
    assert!(!code.contains("unsafe") && !code.contains("un\"safe") && !code.contains('}'));
    assert!(code.contains("let a =") && code.contains("let b =") && code.contains("let c: &'a str = f("));
    assert_eq!(line(text, text.find("let b").expect("it is there")), 2);
    assert_eq!(braced("fn f() { if x { y } } fn g() {}"), "{ if x { y } }");
}
