//! Tokens to the syntax tree, by recursive descent. The first error ends it.
//!
//! This file holds the cursor that all rules share: looking at tokens, demanding them, and saying
//! what was expected where another one stands. The rules are in the files beside it.

mod debug;
mod declaration;
mod expression;
mod function;
mod instruction;
mod module;
#[cfg(test)]
mod tests;

use super::ast::{Dotted, Module, Name};
use super::lexer::{Lexer, Malformed, Token, TokenKind};
use super::source::{Source, Span, SyntaxError};

/// Reads a whole PTX file.
///
/// Opcodes, modifiers and names are taken as they are: a module that uses what nobody knows is
/// read all the same, so that only what reaches it has to refuse.
///
/// # Errors
/// The first place that is not PTX, with what was expected there.
///
/// ```
/// use scoped_gpu::ptx::{self, source::Source};
///
/// let source = Source::new(
///     "one.ptx",
///     ".version 9.0 .target sm_90 .address_size 64 .visible .entry one() { ret; }",
/// )?;
/// let module = ptx::parse(&source)?;
/// assert_eq!(module.functions().next().unwrap().name.text, "one");
/// # Ok::<(), ptx::source::SyntaxError>(())
/// ```
pub fn parse(source: &Source) -> Result<Module<'_>, SyntaxError> {
    Parser::new(source).module().map_err(|error| *error)
}

/// The error is boxed so that a rule's result stays as small as what it reads.
type Parse<T> = Result<T, Box<SyntaxError>>;

/// How deeply blocks, brackets and operators may stand within each other. Compilers stay below
/// ten; the limit keeps hostile text from using up the stack.
const MAX_DEPTH: u32 = 100;

struct Parser<'src> {
    source: &'src Source,
    text: &'src str,
    lexer: Lexer<'src>,
    /// The token not yet taken.
    token: Token,
    /// Where the last token taken ends.
    previous_end: u32,
    depth: u32,
}

impl<'src> Parser<'src> {
    fn new(source: &'src Source) -> Self {
        let text = source.as_str();
        let mut lexer = Lexer::new(text);
        let token = lexer.next_token();
        Self { source, text, lexer, token, previous_end: 0, depth: 0 }
    }

    /// Takes the current token.
    fn advance(&mut self) -> Token {
        let token = self.token;
        self.previous_end = token.span.end;
        self.token = self.lexer.next_token();
        token
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.token.kind == kind
    }

    /// Takes the current token if it is of `kind`.
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    /// Takes a token of `kind`; `expected` names it in the error.
    fn expect(&mut self, kind: TokenKind, expected: &str) -> Parse<Span> {
        if self.at(kind) { Ok(self.advance().span) } else { Err(self.expected(expected)) }
    }

    fn slice(&self, span: Span) -> &'src str {
        self.text.get(span.range()).unwrap_or("")
    }

    fn name_of(&self, token: Token) -> Name<'src> {
        Name { text: self.slice(token.span), span: token.span }
    }

    /// Takes a word; `expected` says what it would be.
    fn name(&mut self, expected: &str) -> Parse<Name<'src>> {
        if !self.at(TokenKind::Word) {
            return Err(self.expected(expected));
        }
        let token = self.advance();
        Ok(self.name_of(token))
    }

    fn dotted_of(&self, token: Token) -> Dotted<'src> {
        let text = self.slice(token.span);
        Dotted { text: text.get(1..).unwrap_or(""), span: token.span }
    }

    /// The word after the dot of the current token, if it is such a token.
    fn peek_dotted(&self) -> Option<Dotted<'src>> {
        self.at(TokenKind::Dotted).then(|| self.dotted_of(self.token))
    }

    /// Whether the current token is the directive `.word`.
    fn at_dotted(&self, word: &str) -> bool {
        self.peek_dotted().is_some_and(|dotted| dotted.text == word)
    }

    /// Takes the current token if it is the directive `.word`.
    fn eat_dotted(&mut self, word: &str) -> bool {
        let found = self.at_dotted(word);
        if found {
            self.advance();
        }
        found
    }

    /// Takes a string; its text without the quotes.
    fn string(&mut self, expected: &str) -> Parse<&'src str> {
        let span = self.expect(TokenKind::String, expected)?;
        Ok(self.slice(Span::new(span.start + 1, span.end - 1)))
    }

    /// From `start` to the end of the last token taken.
    fn since(&self, start: u32) -> Span {
        Span::new(start, self.previous_end.max(start))
    }

    /// Runs `rule` one level deeper, and refuses to pass the limit.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(Box::new(SyntaxError::new(self.token.span, message)));
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Reads `rule`s with commas between them.
    fn comma_separated(&mut self, mut rule: impl FnMut(&mut Self) -> Parse<()>) -> Parse<()> {
        rule(self)?;
        while self.eat(TokenKind::Comma) {
            rule(self)?;
        }
        Ok(())
    }

    /// The error that `expected` should stand where the current token does. When that token is on
    /// a later line, the place is the end of the last one: that is where something is missing.
    #[cold]
    fn expected(&self, expected: &str) -> Box<SyntaxError> {
        if let TokenKind::Malformed(malformed) = self.token.kind {
            return self.malformed(malformed);
        }
        let message = format!("expected {expected}, found {}", self.found());
        let gap = Span::new(self.previous_end, self.token.span.start);
        let missing = self.previous_end > 0 && self.slice(gap).contains('\n');
        Box::new(if missing {
            let end = Span::new(self.previous_end, self.previous_end);
            SyntaxError::new(end, message).label(format!("expected {expected}"))
        } else {
            SyntaxError::new(self.token.span, message)
        })
    }

    /// An error about something already read.
    #[cold]
    fn error(&self, span: Span, message: impl Into<String>) -> Box<SyntaxError> {
        Box::new(SyntaxError::new(span, message))
    }

    /// The current token, for a message.
    fn found(&self) -> String {
        const LONGEST: usize = 40;
        if self.at(TokenKind::End) {
            return "the end of the text".to_owned();
        }
        let text = self.slice(self.token.span);
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("`{}…`", &text[..end]),
            None => format!("`{text}`"),
        }
    }

    #[cold]
    fn malformed(&self, malformed: Malformed) -> Box<SyntaxError> {
        let span = self.token.span;
        let error = match malformed {
            Malformed::Character => {
                let character = self.slice(span).chars().next().unwrap_or('\0');
                let message = format!("the character `{}` is not part of PTX", character.escape_debug());
                let error = SyntaxError::new(span, message);
                if character == '#' {
                    error.help("run a file with preprocessor lines through `cpp -P` first")
                } else {
                    error
                }
            }
            Malformed::LoneDot => SyntaxError::new(span, "expected a word after the dot"),
            Malformed::Number => SyntaxError::new(span, format!("{} is not a number", self.found()))
                .help("numbers are `12`, `0x1F`, `017`, `0b101`, `1.5`, `0f3F800000`"),
            Malformed::HexFloat => {
                SyntaxError::new(span, format!("{} does not have its whole width", self.found()))
                    .help("`0f` takes exactly 8 hexadecimal digits, `0d` exactly 16")
            }
            Malformed::String => SyntaxError::new(span, "the string does not end on its line"),
            Malformed::Comment => SyntaxError::new(span, "the comment is not closed")
                .help("a comment that `/*` begins ends at the first `*/`"),
        };
        Box::new(error)
    }
}
