//! Instructions: guard, opcode, modifiers, operands. Which of them belong together is not asked.

use smallvec::SmallVec;

use super::super::ast::{Address, Guard, Instruction, Modifiers, Name, Operand, OperandKind};
use super::super::lexer::TokenKind;
use super::expression::WARP_SIZE;
use super::{Parse, Parser};

impl<'src> Parser<'src> {
    /// `@%p1`, `@!%p1`
    pub(super) fn guard(&mut self) -> Parse<Guard<'src>> {
        let start = self.advance().span.start;
        let negated = self.eat(TokenKind::Bang);
        let register = self.name("a predicate register")?;
        Ok(Guard { negated, register, span: self.since(start) })
    }

    /// The rest of an instruction whose guard and opcode have been read.
    pub(super) fn instruction(
        &mut self,
        guard: Option<Guard<'src>>,
        opcode: Name<'src>,
    ) -> Parse<Instruction<'src>> {
        let mut modifiers = SmallVec::new();
        while let Some(modifier) = self.peek_dotted() {
            self.advance();
            modifiers.push(modifier);
        }
        let mut operands = SmallVec::new();
        if !self.at(TokenKind::Semicolon) {
            // only a call has lists in round brackets; elsewhere they are a constant expression's
            let call = opcode.text == "call";
            loop {
                operands.push(match self.at(TokenKind::ParenOpen) && call {
                    true => self.list()?,
                    false => self.operand()?,
                });
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
        }
        if !self.at(TokenKind::Semicolon) {
            return Err(self.expected("`,` or `;`"));
        }
        self.advance();
        let start = guard.map_or(opcode.span.start, |guard| guard.span.start);
        Ok(Instruction { guard, opcode, modifiers: Modifiers(modifiers), operands, span: self.since(start) })
    }

    /// `(a, b)`: the arguments or results of a call.
    fn list(&mut self) -> Parse<Operand<'src>> {
        let start = self.advance().span.start;
        let operands = self.operands_until(TokenKind::ParenClose, "`,` or `)`")?;
        Ok(self.operand_since(start, OperandKind::List(operands)))
    }

    /// Operands up to a closing bracket, which is taken.
    fn operands_until(&mut self, close: TokenKind, expected: &str) -> Parse<Vec<Operand<'src>>> {
        let mut operands = Vec::new();
        if !self.at(close) {
            self.comma_separated(|parser| {
                operands.push(parser.operand()?);
                Ok(())
            })?;
        }
        self.expect(close, expected)?;
        Ok(operands)
    }

    fn operand_since(&self, start: u32, kind: OperandKind<'src>) -> Operand<'src> {
        Operand { kind, span: self.since(start) }
    }

    /// An operand, perhaps a pair.
    fn operand(&mut self) -> Parse<Operand<'src>> {
        let first = self.single()?;
        if !self.eat(TokenKind::Pipe) {
            return Ok(first);
        }
        let second = self.single()?;
        let span = first.span.to(second.span);
        let kind = OperandKind::Pair(Box::new([first, second]));
        Ok(Operand { kind, span })
    }

    fn single(&mut self) -> Parse<Operand<'src>> {
        let start = self.token.span.start;
        let kind = match self.token.kind {
            TokenKind::Word => {
                let word = self.advance();
                self.named(self.name_of(word))?
            }
            TokenKind::BracketOpen => {
                self.advance();
                OperandKind::Address(Box::new(self.nested(Self::address)?))
            }
            TokenKind::BraceOpen => {
                self.advance();
                let operands =
                    self.nested(|parser| parser.operands_until(TokenKind::BraceClose, "`,` or `}`"))?;
                OperandKind::Vector(operands)
            }
            TokenKind::Bang | TokenKind::Minus => self.signed()?,
            _ if self.begins_constant() => OperandKind::Immediate(self.constant()?),
            _ => return Err(self.expected("an operand")),
        };
        Ok(self.operand_since(start, kind))
    }

    /// What begins with a name: `a`, `a.x`, `a+4`, `a[1]`, `_`.
    fn named(&mut self, name: Name<'src>) -> Parse<OperandKind<'src>> {
        match self.token.kind {
            TokenKind::Comma | TokenKind::Semicolon if name.text != "WARP_SZ" && name.text != "_" => {
                Ok(OperandKind::Symbol(name.text))
            }
            TokenKind::Dotted => {
                let token = self.advance();
                Ok(OperandKind::Member { register: name, member: self.dotted_of(token) })
            }
            TokenKind::Plus | TokenKind::Minus if name.text != "WARP_SZ" => {
                Ok(OperandKind::Offset { symbol: name, offset: self.offset()? })
            }
            TokenKind::BracketOpen => {
                self.advance();
                let (index, offset) = self.base_and_offset()?;
                self.expect(TokenKind::BracketClose, "`]`")?;
                Ok(OperandKind::Element { array: name, index, offset })
            }
            _ if name.text == "_" => Ok(OperandKind::Sink),
            _ if name.text == "WARP_SZ" => {
                let value = self.constant_after(WARP_SIZE, name.span.start)?;
                Ok(OperandKind::Immediate(value))
            }
            _ => Ok(OperandKind::Symbol(name.text)),
        }
    }

    /// `!%p1`, `-%r1`, or a constant with such a sign.
    fn signed(&mut self) -> Parse<OperandKind<'src>> {
        let mut ahead = self.lexer.clone();
        let next = ahead.next_token();
        if next.kind != TokenKind::Word || self.slice(next.span) == "WARP_SZ" {
            return Ok(OperandKind::Immediate(self.constant()?));
        }
        let sign = self.advance().kind;
        if sign == TokenKind::Bang {
            return Ok(OperandKind::Not(self.name("a predicate")?));
        }
        let word = self.advance();
        let name = self.name_of(word);
        let kind = match self.at(TokenKind::Dotted) {
            true => self.named(name)?,
            false => OperandKind::Symbol(name.text),
        };
        Ok(OperandKind::Negate(Box::new(self.operand_since(name.span.start, kind))))
    }

    /// `base+offset, rest…]` behind its `[`.
    fn address(&mut self) -> Parse<Address<'src>> {
        let (base, offset) = self.base_and_offset()?;
        let mut rest = Vec::new();
        while self.eat(TokenKind::Comma) {
            rest.push(self.operand()?);
        }
        let expected =
            if rest.is_empty() && base.is_some() && offset == 0 { "`+`, `,` or `]`" } else { "`,` or `]`" };
        self.expect(TokenKind::BracketClose, expected)?;
        Ok(Address { base, offset, rest })
    }

    /// `base+4`, `base`, `4`
    fn base_and_offset(&mut self) -> Parse<(Option<Name<'src>>, i64)> {
        if self.at(TokenKind::Word) && !self.at_warp_size() {
            let base = self.name("an address")?;
            return Ok((Some(base), self.offset()?));
        }
        let absolute = self.integer("an address")?;
        Ok((None, absolute as i64))
    }
}
