//! PTX text with a name, byte spans into it, and the error type of the lexer and the parser.
//!
//! Everything that turns a byte position into something a person reads belongs here; nothing here
//! knows what the text means.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A byte range `start..end` of one [`Source`].
///
/// Spans are exact: `source.text(span)` is the token or construct itself, without surrounding
/// space or comments, so that text can be inserted at either end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The span as a range that indexes the source text.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A place in a source as editors count it: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// PTX text, the name it is reported under, and where its lines begin.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    /// Byte offset of each line's first byte; the first entry is 0.
    line_starts: Vec<u32>,
}

impl Source {
    /// Takes `text`, to be reported under `name` (a file name, or a word such as `<inline>`).
    ///
    /// # Errors
    /// A text of 4 GiB or more: spans are 32-bit.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Result<Self, SyntaxError> {
        let name = name.into();
        let text = text.into();
        if u32::try_from(text.len()).is_err() {
            return Err(SyntaxError::new(
                Span::default(),
                format!("`{name}` has {} bytes of PTX, the limit is {} (4 GiB − 1)", text.len(), u32::MAX),
            ));
        }
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let mut line_starts = vec![0];
        line_starts.extend(newlines.map(|(at, _)| at as u32 + 1));
        Ok(Self { name, text, line_starts })
    }

    /// The name this source is reported under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text of `span`; empty when the span is not one of this source.
    pub fn text(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Number of lines; an empty text has one.
    pub fn line_count(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// The line that holds byte `offset`, from 1. An offset past the end is on the last line.
    pub fn line(&self, offset: u32) -> u32 {
        self.line_starts.partition_point(|&start| start <= offset) as u32
    }

    /// Line and column of byte `offset`.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line(offset);
        let start = self.line_starts[line as usize - 1] as usize;
        let end = (offset as usize).clamp(start, self.text.len());
        let before = self.text.as_bytes()[start..end].iter();
        // every byte that does not continue a UTF-8 sequence begins a character
        let characters = before.filter(|&&byte| byte & 0xC0 != 0x80).count();
        Position { line, column: characters as u32 + 1 }
    }

    /// The text of line `line` (from 1) without its line end; empty for a line that is not there.
    pub fn line_text(&self, line: u32) -> &str {
        let Some(index) = (line as usize).checked_sub(1) else {
            return "";
        };
        let Some(&start) = self.line_starts.get(index) else {
            return "";
        };
        let end = self.line_starts.get(index + 1);
        let end = end.map_or(self.text.len(), |&next| next as usize - 1);
        let line = &self.text[start as usize..end];
        line.strip_suffix('\r').unwrap_or(line)
    }
}

/// Why a text is not PTX: what was expected, what stands there, and where.
///
/// `Display` gives the message alone; [`SyntaxError::render`] adds the line of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The place; empty at the end of the text.
    pub span: Span,
    /// One sentence without a final stop, naming what was expected and what was found.
    pub message: String,
    /// A few words under the marked place.
    pub label: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), label: None, help: None }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The message with the line of `source` it is about, as rustc prints it, without colour.
    ///
    /// ```
    /// use scoped_gpu::ptx::{self, source::Source};
    ///
    /// let source = Source::new("empty.ptx", "// nothing\n")?;
    /// let error = ptx::parse(&source).unwrap_err();
    /// assert!(error.render(&source).starts_with("error: expected `.version`"));
    /// # Ok::<(), ptx::source::SyntaxError>(())
    /// ```
    pub fn render(&self, source: &Source) -> String {
        self.render_with(source, &Renderer::plain())
    }

    /// Like [`render`](Self::render), with colours for a terminal.
    pub fn render_coloured(&self, source: &Source) -> String {
        self.render_with(source, &Renderer::styled())
    }

    fn render_with(&self, source: &Source, renderer: &Renderer) -> String {
        // Only the lines around the place: the renderer scans all it is given, and files are large.
        let first = source.line(self.span.start);
        let last = source.line(self.span.end);
        let begin = source.line_starts[first as usize - 1] as usize;
        let end = source.line_starts.get(last as usize);
        let end = end.map_or(source.text.len(), |&next| next as usize);
        let text = source.text.get(begin..end).unwrap_or("");
        let mark = (self.span.start as usize).saturating_sub(begin).min(text.len())
            ..(self.span.end as usize).saturating_sub(begin).min(text.len());

        let annotation = AnnotationKind::Primary.span(mark).label(self.label.as_deref());
        let snippet = Snippet::source(text)
            .path(source.name.as_str())
            .line_start(first as usize)
            .annotation(annotation);
        let mut group = Level::ERROR.primary_title(self.message.as_str()).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}
