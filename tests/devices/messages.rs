//! Whole messages, compared with files in `messages/`. What differs from run to run is replaced: line numbers of the
//! tests themselves, and addresses.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

/// Set, it rewrites the files instead of comparing.
const BLESS: &str = "SCOPED_GPU_BLESS";

/// The project's folder; another one where the program runs without the sources that it was built from.
pub fn root() -> PathBuf {
    std::env::var_os("SCOPED_GPU_ROOT").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

/// Compares `text` with the file `messages/NAME.txt`.
#[track_caller]
pub fn expect(name: &str, text: &str) -> anyhow::Result<()> {
    let path = root().join("tests/devices/messages").join(name).with_extension("txt");
    let got = settled(text) + "\n";
    if std::env::var_os(BLESS).is_some() {
        return std::fs::write(&path, got).with_context(|| format!("{}", path.display()));
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if got != expected {
        bail!(
            "the message differs from messages/{name}.txt\n--- expected\n{expected}--- got\n{got}---\n\
             where the new one is right: {BLESS}=1 cargo test --test devices errors"
        );
    }
    Ok(())
}

/// The text with `LINE` for lines and columns of Rust files, `0x…` for addresses.
fn settled(text: &str) -> String {
    let text = replaced(text, ".rs:", |c| c.is_ascii_digit() || c == ':', "LINE");
    replaced(&text, "0x", |c| c.is_ascii_hexdigit(), "…")
}

/// The text with `by` for the characters that satisfy `volatile` and stand behind `mark`.
fn replaced(text: &str, mark: &str, volatile: impl Fn(char) -> bool, by: &str) -> String {
    let mut parts = text.split(mark);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(&volatile);
        result.push_str(mark);
        result.push_str(if rest.len() < part.len() { by } else { "" });
        result.push_str(rest);
    }
    result
}
