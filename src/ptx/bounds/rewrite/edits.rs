//! Splicing text: insertions and replacements at byte positions of the original, applied in one go.
//!
//! Nothing that is inserted holds a line end, and what is removed leaves its line ends behind, so that every line
//! of the result has the number it had before: a message of an assembler about the result fits the original.

use crate::ptx::source::{Source, Span};

/// What comes first at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Entry,
    Insertion,
    Replacement,
}

/// Changes to one text.
#[derive(Debug, Default)]
pub(super) struct Edits {
    edits: Vec<(Span, Rank, String)>,
}

impl Edits {
    /// Puts `text` before byte `at`, behind what was put there earlier.
    pub(super) fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.edits.push((Span::new(at, at), Rank::Insertion, text.into()));
    }

    /// Puts `text` before byte `at` and before everything else that is put there.
    pub(super) fn insert_entry(&mut self, at: u32, text: impl Into<String>) {
        self.edits.push((Span::new(at, at), Rank::Entry, text.into()));
    }

    /// Puts `text` in the place of `span`.
    pub(super) fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.edits.push((span, Rank::Replacement, text.into()));
    }

    /// Takes `span` out, except for its line ends.
    pub(super) fn remove(&mut self, source: &Source, span: Span) {
        let lines = source.text(span).bytes().filter(|&byte| byte == b'\n').count();
        self.replace(span, "\n".repeat(lines));
    }

    /// The changed text; `None` if two replacements overlap.
    pub(super) fn apply(mut self, text: &str) -> Option<String> {
        // stable: insertions at one place keep their order, and stand before a replacement that begins there
        self.edits.sort_by_key(|(span, rank, _)| (span.start, *rank));
        let mut result = String::with_capacity(text.len() * 2);
        let mut done = 0;
        for (span, _, new) in &self.edits {
            result.push_str(text.get(done..span.start as usize)?);
            result.push_str(new);
            done = span.end as usize;
        }
        result.push_str(text.get(done..)?);
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insertions_keep_their_order_and_stand_before_a_replacement() {
        let mut edits = Edits::default();
        edits.replace(Span::new(2, 4), "X");
        edits.insert(2, "a");
        edits.insert(2, "b");
        edits.insert_entry(2, "E");
        edits.insert(5, "z");
        assert_eq!(edits.apply("012345").as_deref(), Some("01EabX4z5"));
    }

    #[test]
    fn overlapping_replacements_are_refused() {
        let mut edits = Edits::default();
        edits.replace(Span::new(0, 3), "");
        edits.replace(Span::new(2, 4), "");
        assert_eq!(edits.apply("012345"), None);
    }

    #[test]
    fn what_is_removed_leaves_its_lines() {
        let source = Source::new("t", "a\nb\nc\nd").unwrap();
        let mut edits = Edits::default();
        edits.remove(&source, Span::new(2, 5));
        assert_eq!(edits.apply(source.as_str()).as_deref(), Some("a\n\n\nd"));
    }
}
