//! Text to tokens. The lexer cannot fail: what is no token becomes a [`TokenKind::Malformed`] one,
//! which the parser reports when it gets there.
//!
//! It works on bytes, by one table of character classes; the text of a token is its span.

use super::source::Span;

/// One token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// What a token is. Its text is that of its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// `ld`, `%r1`, `$L__BB0_2`, `_`
    Word,
    /// `.global`, `.shared::cta`, `.2d`
    Dotted,
    /// `12`, `0x1F`, `017`, `0b101`, each perhaps with the suffix `U`
    Integer,
    /// `1.5`, `1e3`, `.5`
    Decimal,
    /// `0f3F800000`
    F32,
    /// `0d3FF0000000000000`
    F64,
    /// `"…"`, the quotes included
    String,
    Comma,
    Semicolon,
    Colon,
    BraceOpen,
    BraceClose,
    BracketOpen,
    BracketClose,
    ParenOpen,
    ParenClose,
    At,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Bang,
    Tilde,
    Equal,
    Question,
    Ampersand,
    Pipe,
    Caret,
    Less,
    Greater,
    LessLess,
    GreaterGreater,
    LessEqual,
    GreaterEqual,
    EqualEqual,
    BangEqual,
    AndAnd,
    OrOr,
    /// The end of the text. It repeats.
    End,
    /// Text that is no token.
    Malformed(Malformed),
}

/// Why a piece of text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    Character,
    LoneDot,
    Number,
    HexFloat,
    String,
    Comment,
}

/// Cuts a text into tokens.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'src> {
    bytes: &'src [u8],
    at: usize,
}

const SPACE: u8 = 1;
/// `a`–`z`, `A`–`Z`, `_`, `$`: begins and continues a word.
const LETTER: u8 = 2;
const DIGIT: u8 = 4;
const HEX: u8 = 8;
const FOLLOW: u8 = LETTER | DIGIT;

const CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | b'\n' => SPACE,
            b'0'..=b'9' => DIGIT | HEX,
            b'a'..=b'f' | b'A'..=b'F' => LETTER | HEX,
            b'g'..=b'z' | b'G'..=b'Z' | b'_' | b'$' => LETTER,
            _ => 0,
        };
        byte += 1;
    }
    table
};

impl<'src> Lexer<'src> {
    /// Begins at the start of `text`, which must be shorter than 4 GiB ([`Source`] sees to that).
    ///
    /// [`Source`]: super::source::Source
    pub fn new(text: &'src str) -> Self {
        Self { bytes: text.as_bytes(), at: 0 }
    }

    /// The next token, or [`TokenKind::End`].
    pub fn next_token(&mut self) -> Token {
        if let Some(unclosed) = self.skip_space() {
            return unclosed;
        }
        let start = self.at;
        let kind = self.scan();
        Token { kind, span: Span::new(start as u32, self.at as u32) }
    }

    /// Where the next token will be looked for.
    pub fn position(&self) -> u32 {
        self.at as u32
    }

    /// Skips to behind the `}` that closes a `{` already read, without making tokens. Braces in
    /// strings and comments do not count. False if the text ends first.
    pub fn skip_block(&mut self) -> bool {
        let mut depth = 1_u32;
        loop {
            match self.peek(0) {
                Some(b'{') => depth += 1,
                Some(b'}') => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return true;
                    }
                }
                Some(b'/') if matches!(self.peek(1), Some(b'/' | b'*')) => {
                    if self.skip_space().is_some() {
                        return false;
                    }
                    continue;
                }
                Some(b'"') => {
                    self.string();
                    continue;
                }
                Some(_) => {}
                None => return false,
            }
            self.at += 1;
        }
    }

    /// `# 12 "a.h"` or `#line 12`, which a preprocessor leaves behind.
    fn at_line_marker(&self) -> bool {
        if self.peek(0) != Some(b'#') {
            return false;
        }
        let rest = self.bytes[self.at + 1..].trim_ascii_start();
        rest.starts_with(b"line") || rest.first().is_some_and(u8::is_ascii_digit)
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn is(&self, ahead: usize, class: u8) -> bool {
        self.peek(ahead).is_some_and(|byte| CLASSES[byte as usize] & class != 0)
    }

    fn skip_while(&mut self, class: u8) {
        while self.is(0, class) {
            self.at += 1;
        }
    }

    /// Skips space and comments; a comment that is not closed is a token of its own.
    fn skip_space(&mut self) -> Option<Token> {
        loop {
            self.skip_while(SPACE);
            if self.at_line_marker() {
                self.skip_line();
                continue;
            }
            if self.peek(0) != Some(b'/') {
                return None;
            }
            match self.peek(1) {
                Some(b'/') => self.skip_line(),
                Some(b'*') => {
                    let start = self.at;
                    self.at += 2;
                    while !(self.peek(0) == Some(b'*') && self.peek(1) == Some(b'/')) {
                        if self.at >= self.bytes.len() {
                            return Some(Token {
                                kind: TokenKind::Malformed(Malformed::Comment),
                                span: Span::new(start as u32, start as u32 + 2),
                            });
                        }
                        self.at += 1;
                    }
                    self.at += 2;
                }
                _ => return None,
            }
        }
    }

    fn scan(&mut self) -> TokenKind {
        let Some(first) = self.peek(0) else {
            return TokenKind::End;
        };
        if CLASSES[first as usize] & LETTER != 0 && (first != b'$' || self.is(1, FOLLOW)) {
            self.at += 1;
            self.skip_while(FOLLOW);
            return TokenKind::Word;
        }
        match first {
            b'%' if self.is(1, FOLLOW) => {
                self.at += 1;
                self.skip_while(FOLLOW);
                TokenKind::Word
            }
            b'.' => self.dotted(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            _ => self.punctuation(first),
        }
    }

    /// `.word`, with `::` between its parts, or a decimal number such as `.5`.
    fn dotted(&mut self) -> TokenKind {
        if self.is(1, DIGIT) {
            // `.2d` and `.128x256b` are words, `.5` and `.5e3` are numbers
            let dot = self.at;
            self.at += 1;
            self.skip_while(DIGIT);
            self.exponent();
            if !self.is(0, FOLLOW) {
                return TokenKind::Decimal;
            }
            self.at = dot;
        }
        self.at += 1;
        if !self.is(0, FOLLOW) {
            return TokenKind::Malformed(Malformed::LoneDot);
        }
        self.skip_while(FOLLOW);
        while self.peek(0) == Some(b':') && self.peek(1) == Some(b':') && self.is(2, FOLLOW) {
            self.at += 2;
            self.skip_while(FOLLOW);
        }
        TokenKind::Dotted
    }

    fn number(&mut self) -> TokenKind {
        let kind = match (self.peek(0), self.peek(1)) {
            (Some(b'0'), Some(b'x' | b'X')) => self.prefixed(HEX, TokenKind::Integer),
            (Some(b'0'), Some(b'b' | b'B')) => self.prefixed(DIGIT, TokenKind::Integer),
            (Some(b'0'), Some(b'f' | b'F')) => return self.hex_float(8, TokenKind::F32),
            (Some(b'0'), Some(b'd' | b'D')) => return self.hex_float(16, TokenKind::F64),
            _ => self.decimal(),
        };
        if kind == TokenKind::Integer && self.peek(0) == Some(b'U') {
            self.at += 1;
        }
        if self.is(0, FOLLOW) {
            self.skip_while(FOLLOW);
            return TokenKind::Malformed(Malformed::Number);
        }
        kind
    }

    fn prefixed(&mut self, digits: u8, kind: TokenKind) -> TokenKind {
        self.at += 2;
        if !self.is(0, digits) {
            return TokenKind::Malformed(Malformed::Number);
        }
        self.skip_while(digits);
        kind
    }

    fn decimal(&mut self) -> TokenKind {
        self.skip_while(DIGIT);
        let mut kind = TokenKind::Integer;
        // the dot of `.align 4.b8` begins the next word
        let fraction = self.is(1, DIGIT) || !self.is(1, FOLLOW) || matches!(self.peek(1), Some(b'e' | b'E'));
        if self.peek(0) == Some(b'.') && fraction {
            self.at += 1;
            self.skip_while(DIGIT);
            kind = TokenKind::Decimal;
        }
        if self.exponent() {
            kind = TokenKind::Decimal;
        }
        kind
    }

    /// `e10`, `E-3`; false and nothing read if no digit follows.
    fn exponent(&mut self) -> bool {
        if !matches!(self.peek(0), Some(b'e' | b'E')) {
            return false;
        }
        let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
        if !self.is(1 + sign, DIGIT) {
            return false;
        }
        self.at += 1 + sign;
        self.skip_while(DIGIT);
        true
    }

    fn hex_float(&mut self, digits: usize, kind: TokenKind) -> TokenKind {
        let start = self.at + 2;
        self.at = start;
        self.skip_while(HEX);
        let exact = self.at - start == digits && !self.is(0, FOLLOW);
        self.skip_while(FOLLOW);
        if exact { kind } else { TokenKind::Malformed(Malformed::HexFloat) }
    }

    /// A string ends on its line; a backslash keeps the character behind it.
    fn string(&mut self) -> TokenKind {
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(b'"') => {
                    self.at += 1;
                    return TokenKind::String;
                }
                Some(b'\\') if self.peek(1).is_some_and(|byte| byte != b'\n') => {
                    self.at += 1;
                    self.skip_character();
                }
                None | Some(b'\n') => return TokenKind::Malformed(Malformed::String),
                Some(_) => self.at += 1,
            }
        }
    }

    /// One whole character: a token must not end inside one.
    fn skip_character(&mut self) {
        self.at += 1;
        while self.peek(0).is_some_and(|byte| byte & 0xC0 == 0x80) {
            self.at += 1;
        }
    }

    fn punctuation(&mut self, first: u8) -> TokenKind {
        let (kind, length) = match (first, self.peek(1)) {
            (b',', _) => (TokenKind::Comma, 1),
            (b';', _) => (TokenKind::Semicolon, 1),
            (b':', _) => (TokenKind::Colon, 1),
            (b'{', _) => (TokenKind::BraceOpen, 1),
            (b'}', _) => (TokenKind::BraceClose, 1),
            (b'[', _) => (TokenKind::BracketOpen, 1),
            (b']', _) => (TokenKind::BracketClose, 1),
            (b'(', _) => (TokenKind::ParenOpen, 1),
            (b')', _) => (TokenKind::ParenClose, 1),
            (b'@', _) => (TokenKind::At, 1),
            (b'+', _) => (TokenKind::Plus, 1),
            (b'-', _) => (TokenKind::Minus, 1),
            (b'*', _) => (TokenKind::Star, 1),
            (b'/', _) => (TokenKind::Slash, 1),
            (b'%', _) => (TokenKind::Percent, 1),
            (b'~', _) => (TokenKind::Tilde, 1),
            (b'?', _) => (TokenKind::Question, 1),
            (b'^', _) => (TokenKind::Caret, 1),
            (b'!', Some(b'=')) => (TokenKind::BangEqual, 2),
            (b'!', _) => (TokenKind::Bang, 1),
            (b'=', Some(b'=')) => (TokenKind::EqualEqual, 2),
            (b'=', _) => (TokenKind::Equal, 1),
            (b'&', Some(b'&')) => (TokenKind::AndAnd, 2),
            (b'&', _) => (TokenKind::Ampersand, 1),
            (b'|', Some(b'|')) => (TokenKind::OrOr, 2),
            (b'|', _) => (TokenKind::Pipe, 1),
            (b'<', Some(b'<')) => (TokenKind::LessLess, 2),
            (b'<', Some(b'=')) => (TokenKind::LessEqual, 2),
            (b'<', _) => (TokenKind::Less, 1),
            (b'>', Some(b'>')) => (TokenKind::GreaterGreater, 2),
            (b'>', Some(b'=')) => (TokenKind::GreaterEqual, 2),
            (b'>', _) => (TokenKind::Greater, 1),
            _ => {
                self.skip_character();
                return TokenKind::Malformed(Malformed::Character);
            }
        };
        self.at += length;
        kind
    }
}
