//! What compilers write for debuggers and tools: `.loc`, `.file`, `.section`, `.pragma`.

use smallvec::SmallVec;

use super::super::ast::{File, InlinedAt, Location, Name, Pragma, Section, SourcePlace};
use super::super::lexer::TokenKind;
use super::super::source::Span;
use super::{Parse, Parser};

impl<'src> Parser<'src> {
    /// `.loc file line column [, function_name label[+offset], inlined_at file line column]`
    pub(super) fn location(&mut self) -> Parse<Location<'src>> {
        let start = self.advance().span.start;
        let place = self.source_place()?;
        let mut function: Option<(Name<'src>, i64)> = None;
        let mut call = None;
        while self.eat(TokenKind::Comma) {
            let attribute = self.name("`function_name` or `inlined_at`")?;
            match attribute.text {
                "function_name" => {
                    let label = self.section_label()?;
                    function = Some((label, self.offset()?));
                }
                "inlined_at" => call = Some(self.source_place()?),
                other => {
                    let message = format!("expected `function_name` or `inlined_at`, found `{other}`");
                    return Err(self.error(attribute.span, message));
                }
            }
        }
        let span = self.since(start);
        let inlined_at = match (function, call) {
            (Some((function_name, offset)), Some(place)) => Some(InlinedAt { function_name, offset, place }),
            (None, None) => None,
            _ => return Err(self.error(span, "`function_name` and `inlined_at` go together")),
        };
        Ok(Location { place, inlined_at, span })
    }

    fn source_place(&mut self) -> Parse<SourcePlace> {
        Ok(SourcePlace {
            file: self.small_integer("the number of a `.file`")?,
            line: self.small_integer("a line number")?,
            column: self.small_integer("a column number")?,
        })
    }

    /// A label in a debug section, or the section itself: `.debug_str`.
    fn section_label(&mut self) -> Parse<Name<'src>> {
        if self.at(TokenKind::Dotted) {
            let token = self.advance();
            return Ok(self.name_of(token));
        }
        self.name("a label in `.debug_str`")
    }

    /// `.file index "path" [, timestamp, size]`
    pub(super) fn file(&mut self) -> Parse<File<'src>> {
        let start = self.advance().span.start;
        let index = self.small_integer("the number of the file")?;
        let path = self.string("the file's path in quotes")?;
        while self.eat(TokenKind::Comma) {
            self.plain_integer("a time stamp or a size")?;
        }
        Ok(File { index, path, span: self.since(start) })
    }

    /// `.section .name { … }`
    pub(super) fn section(&mut self) -> Parse<Section<'src>> {
        let start = self.advance().span.start;
        let Some(name) = self.peek_dotted() else {
            return Err(self.expected("the name of a section, such as `.debug_info`"));
        };
        self.advance();
        let body = self.skip_braces()?;
        Ok(Section { name, body, span: self.since(start) })
    }

    /// Skips `{ … }` without looking inside.
    pub(super) fn skip_braces(&mut self) -> Parse<Span> {
        if !self.at(TokenKind::BraceOpen) {
            return Err(self.expected("`{`"));
        }
        // the lexer stands right behind the `{` that is the current token
        let open = self.token.span;
        let closed = self.lexer.skip_block();
        if !closed {
            return Err(self.error(open, "this `{` is not closed"));
        }
        self.token.span.end = self.lexer.position();
        let body = self.token.span;
        self.advance();
        Ok(body)
    }

    /// `.pragma "…", "…";`
    pub(super) fn pragma(&mut self) -> Parse<Pragma<'src>> {
        let start = self.advance().span.start;
        let strings = self.strings()?;
        self.expect(TokenKind::Semicolon, "`;`")?;
        Ok(Pragma { strings, span: self.since(start) })
    }

    /// The strings of a `.pragma`.
    pub(super) fn strings(&mut self) -> Parse<SmallVec<[&'src str; 1]>> {
        let mut strings = SmallVec::new();
        self.comma_separated(|parser| {
            strings.push(parser.string("a string in quotes")?);
            Ok(())
        })?;
        Ok(strings)
    }
}
