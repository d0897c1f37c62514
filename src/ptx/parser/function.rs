//! Functions and kernels: what stands before the body, and the statements inside.

use smallvec::SmallVec;

use super::super::ast::{
    Block, Dotted, Function, FunctionDirective, FunctionKind, Linkage, Name, Prototype, Space, Statement,
    TargetKind, Targets,
};
use super::super::lexer::TokenKind;
use super::{Parse, Parser};

impl<'src> Parser<'src> {
    /// `.entry name (…) directives { … }` behind its linkage, which began at `start`.
    pub(super) fn function(&mut self, linkage: Option<Linkage>, start: u32) -> Parse<Function<'src>> {
        let kind = match self.eat_dotted("entry") {
            true => FunctionKind::Entry,
            false => FunctionKind::Func,
        };
        if kind == FunctionKind::Func {
            self.advance();
        }
        let mut attributes = SmallVec::new();
        while self.eat_dotted("attribute") {
            self.attributes(&mut attributes)?;
        }
        let returns = match self.at(TokenKind::ParenOpen) && kind == FunctionKind::Func {
            true => self.parameter_list()?.0,
            false => Vec::new(),
        };
        let name = self.name(match kind {
            FunctionKind::Entry => "the kernel's name",
            FunctionKind::Func => "the function's name",
        })?;
        let (parameters, parameter_list) = match self.at(TokenKind::ParenOpen) {
            true => {
                let (parameters, span) = self.parameter_list()?;
                (parameters, Some(span))
            }
            false => (Vec::new(), None),
        };
        let mut directives = Vec::new();
        while let Some(word) = self.peek_dotted() {
            directives.push(self.function_directive(word)?);
        }
        let body = match self.token.kind {
            TokenKind::BraceOpen => Some(self.block()?),
            TokenKind::Semicolon => {
                self.advance();
                None
            }
            // the `;` of a `.pragma` may have been the declaration's
            _ if directives.last().is_some_and(|last| !last.strings.is_empty()) => None,
            _ => return Err(self.expected("the body `{ … }`, or `;`")),
        };
        Ok(Function {
            kind,
            linkage,
            name,
            returns,
            parameters,
            parameter_list,
            directives,
            body,
            span: self.since(start),
        })
    }

    /// `.maxntid 256, 1, 1`, `.noreturn`, `.pragma "…";`, and any other with such arguments.
    fn function_directive(&mut self, name: Dotted<'src>) -> Parse<FunctionDirective<'src>> {
        self.advance();
        let mut numbers = SmallVec::new();
        let mut strings = SmallVec::new();
        if self.at(TokenKind::String) {
            strings = self.strings()?;
        } else if self.at(TokenKind::Integer) {
            self.comma_separated(|parser| {
                numbers.push(parser.plain_integer("a number")?);
                Ok(())
            })?;
        }
        let span = self.since(name.span.start);
        if !strings.is_empty() {
            self.eat(TokenKind::Semicolon);
        }
        Ok(FunctionDirective { name, numbers, strings, span })
    }

    /// `{ … }`
    fn block(&mut self) -> Parse<Block<'src>> {
        let open = self.expect(TokenKind::BraceOpen, "`{`")?;
        let mut statements = Vec::new();
        while !self.at(TokenKind::BraceClose) {
            if self.at(TokenKind::End) {
                let error = self.expected("`}`");
                let line = self.source.line(open.start);
                return Err(Box::new(error.help(format!("the `{{` on line {line} is not closed"))));
            }
            self.statement(&mut statements)?;
        }
        self.advance();
        Ok(Block { statements, span: self.since(open.start) })
    }

    fn statement(&mut self, statements: &mut Vec<Statement<'src>>) -> Parse<()> {
        match self.token.kind {
            TokenKind::Word => {
                let word = self.advance();
                let name = self.name_of(word);
                statements.push(match self.eat(TokenKind::Colon) {
                    true => self.labelled(name)?,
                    false => Statement::Instruction(self.instruction(None, name)?),
                });
            }
            TokenKind::At => {
                let guard = self.guard()?;
                let opcode = self.name("an instruction")?;
                statements.push(Statement::Instruction(self.instruction(Some(guard), opcode)?));
            }
            TokenKind::Dotted => self.directive(statements)?,
            TokenKind::BraceOpen => {
                let block = self.nested(Self::block)?;
                statements.push(Statement::Block(block));
            }
            _ => return Err(self.expected("an instruction")),
        }
        Ok(())
    }

    fn directive(&mut self, statements: &mut Vec<Statement<'src>>) -> Parse<()> {
        let word = self.dotted_of(self.token);
        let statement = match word.text {
            "loc" => Statement::Location(self.location()?),
            "reg" => Statement::Registers(self.registers()?),
            "pragma" => Statement::Pragma(self.pragma()?),
            text => match Space::from_name(text) {
                Some(space) => {
                    let start = word.span.start;
                    return self.variables(None, space, start, |v| statements.push(Statement::Variable(v)));
                }
                None => self.unknown_directive(word)?,
            },
        };
        statements.push(statement);
        Ok(())
    }

    /// What stands behind `label:` and needs its name; otherwise the label itself.
    fn labelled(&mut self, label: Name<'src>) -> Parse<Statement<'src>> {
        let word = self.peek_dotted().map_or("", |word| word.text);
        match word {
            "branchtargets" => self.targets(TargetKind::Branch, label),
            "calltargets" => self.targets(TargetKind::Call, label),
            "callprototype" => self.prototype(label),
            _ => Ok(Statement::Label(label)),
        }
    }

    fn targets(&mut self, kind: TargetKind, label: Name<'src>) -> Parse<Statement<'src>> {
        self.advance();
        let mut targets = Vec::new();
        self.comma_separated(|parser| {
            targets.push(parser.name(match kind {
                TargetKind::Branch => "a label",
                TargetKind::Call => "a function",
            })?);
            Ok(())
        })?;
        self.expect(TokenKind::Semicolon, "`,` or `;`")?;
        Ok(Statement::Targets(Targets { kind, label, targets, span: self.since(label.span.start) }))
    }

    /// `.callprototype (returns) _ (parameters) .noreturn;`
    fn prototype(&mut self, label: Name<'src>) -> Parse<Statement<'src>> {
        self.advance();
        let returns = match self.at(TokenKind::ParenOpen) {
            true => self.parameter_list()?.0,
            false => Vec::new(),
        };
        if self.slice(self.token.span) != "_" {
            return Err(self.expected("`_` in place of the function's name"));
        }
        self.advance();
        let parameters = match self.at(TokenKind::ParenOpen) {
            true => self.parameter_list()?.0,
            false => Vec::new(),
        };
        let mut noreturn = false;
        while let Some(word) = self.peek_dotted() {
            noreturn |= word.text == "noreturn";
            self.function_directive(word)?;
        }
        self.expect(TokenKind::Semicolon, "`;`")?;
        Ok(Statement::Prototype(Prototype {
            label,
            returns,
            parameters,
            noreturn,
            span: self.since(label.span.start),
        }))
    }

    /// A directive that is not known ends at its `;`.
    fn unknown_directive(&mut self, word: Dotted<'src>) -> Parse<Statement<'src>> {
        self.advance();
        loop {
            match self.token.kind {
                TokenKind::Semicolon => {
                    self.advance();
                    return Ok(Statement::Unknown(word));
                }
                TokenKind::BraceOpen => {
                    self.skip_braces()?;
                }
                TokenKind::BraceClose | TokenKind::End => {
                    let message = format!("the directive `{}` is not known", self.slice(word.span));
                    return Err(self.error(word.span, message));
                }
                TokenKind::Malformed(malformed) => return Err(self.malformed(malformed)),
                _ => {
                    self.advance();
                }
            }
        }
    }
}
