//! Declarations: variables with their initialisers, registers, parameters.

use smallvec::SmallVec;

use super::super::ast::{
    AddressInitializer, Dimensions, Dotted, Initializer, Linkage, Parameter, Pointer, RegisterName,
    Registers, Space, Type, Variable,
};
use super::super::lexer::TokenKind;
use super::super::source::Span;
use super::{Parse, Parser};

/// What stands between a state space and a name.
#[derive(Default)]
struct Traits<'src> {
    align: Option<u32>,
    vector: Option<u32>,
    ty: Option<Type>,
    pointer: Option<Pointer>,
    attributes: SmallVec<[Dotted<'src>; 1]>,
}

impl<'src> Parser<'src> {
    /// `.space traits name<count>[dimensions] = initializer, …;` behind its linkage, which began at
    /// `start`. Each name is a variable of its own.
    pub(super) fn variables(
        &mut self,
        linkage: Option<Linkage>,
        space: Space,
        start: u32,
        mut each: impl FnMut(Variable<'src>),
    ) -> Parse<()> {
        self.advance();
        let traits = self.traits(false)?;
        let ty = self.required_type(&traits)?;
        let mut variables: SmallVec<[Variable<'src>; 1]> = SmallVec::new();
        self.comma_separated(|parser| {
            let name = parser.name("the variable's name")?;
            let count = parser.name_count()?;
            let dimensions = parser.dimensions()?;
            let initializer = match parser.eat(TokenKind::Equal) {
                true => Some(parser.initializer()?),
                false => None,
            };
            variables.push(Variable {
                linkage,
                space,
                ty,
                vector: traits.vector.unwrap_or(1),
                align: traits.align,
                attributes: traits.attributes.clone(),
                name,
                count,
                dimensions,
                initializer,
                span: Span::default(),
            });
            Ok(())
        })?;
        self.expect(TokenKind::Semicolon, "`,` or `;`")?;
        let span = self.since(start);
        for variable in variables {
            each(Variable { span, ..variable });
        }
        Ok(())
    }

    /// `.reg .type %a, %b<10>;`
    pub(super) fn registers(&mut self) -> Parse<Registers<'src>> {
        let start = self.advance().span.start;
        let traits = self.traits(false)?;
        let ty = self.required_type(&traits)?;
        let mut names = SmallVec::new();
        self.comma_separated(|parser| {
            let name = parser.name("the register's name")?;
            let count = parser.name_count()?;
            names.push(RegisterName { name, count });
            Ok(())
        })?;
        self.expect(TokenKind::Semicolon, "`,` or `;`")?;
        Ok(Registers { ty, vector: traits.vector.unwrap_or(1), names, span: self.since(start) })
    }

    /// `(.param …, .param …)`, perhaps empty.
    pub(super) fn parameter_list(&mut self) -> Parse<(Vec<Parameter<'src>>, Span)> {
        let start = self.expect(TokenKind::ParenOpen, "`(`")?.start;
        let mut parameters = Vec::new();
        if !self.at(TokenKind::ParenClose) {
            self.comma_separated(|parser| {
                parameters.push(parser.parameter()?);
                Ok(())
            })?;
        }
        self.expect(TokenKind::ParenClose, "`,` or `)`")?;
        Ok((parameters, self.since(start)))
    }

    fn parameter(&mut self) -> Parse<Parameter<'src>> {
        let start = self.token.span.start;
        let space = self.peek_dotted().and_then(|word| Space::from_name(word.text));
        let space = match space {
            Some(space @ (Space::Param | Space::Reg)) => space,
            _ => return Err(self.expected("`.param`")),
        };
        self.advance();
        let traits = self.traits(true)?;
        let ty = self.required_type(&traits)?;
        let name = self.name("the parameter's name")?;
        let dimensions = self.dimensions()?;
        Ok(Parameter {
            space,
            ty,
            vector: traits.vector.unwrap_or(1),
            align: traits.align,
            pointer: traits.pointer,
            name,
            dimensions,
            span: self.since(start),
        })
    }

    /// The dotted words before a name. `.ptr` and what belongs to it only for a parameter.
    fn traits(&mut self, parameter: bool) -> Parse<Traits<'src>> {
        let mut traits = Traits::default();
        while let Some(word) = self.peek_dotted() {
            if let Some(ty) = Type::from_name(word.text) {
                if let Some(first) = traits.ty {
                    let message = format!("the type is `.{first}` already, found `.{ty}`");
                    return Err(self.error(word.span, message));
                }
                traits.ty = Some(ty);
                self.advance();
                continue;
            }
            if traits.ty.is_some() && !(parameter && (word.text == "ptr" || traits.pointer.is_some())) {
                let message = format!("`{}` stands before the type, not behind it", self.slice(word.span));
                return Err(self.error(word.span, message));
            }
            match word.text {
                "align" => {
                    self.advance();
                    let align = Some(self.alignment()?);
                    match &mut traits.pointer {
                        Some(pointer) => pointer.align = align,
                        None => traits.align = align,
                    }
                }
                "v2" | "v4" | "v8" => {
                    traits.vector = Some(u32::from(word.text.as_bytes()[1] - b'0'));
                    self.advance();
                }
                "attribute" => {
                    self.advance();
                    self.attributes(&mut traits.attributes)?;
                }
                "ptr" if parameter => {
                    self.advance();
                    let space = self.peek_dotted().and_then(|word| Space::from_name(word.text));
                    if space.is_some() {
                        self.advance();
                    }
                    traits.pointer = Some(Pointer { space, align: None });
                }
                _ => {
                    let message = format!("`{}` is not a type", self.slice(word.span));
                    return Err(self.error(word.span, message));
                }
            }
        }
        Ok(traits)
    }

    fn required_type(&self, traits: &Traits<'src>) -> Parse<Type> {
        traits.ty.ok_or_else(|| self.expected("a type, such as `.b32`"))
    }

    fn alignment(&mut self) -> Parse<u32> {
        let start = self.token.span.start;
        let align = self.small_integer("an alignment in bytes")?;
        if !align.is_power_of_two() {
            let message = format!("the alignment {align} is not a power of two");
            return Err(self.error(self.since(start), message));
        }
        Ok(align)
    }

    /// `(.managed, .unified(1, 2))`; only the words are kept.
    pub(super) fn attributes(&mut self, words: &mut SmallVec<[Dotted<'src>; 1]>) -> Parse<()> {
        self.expect(TokenKind::ParenOpen, "`(`")?;
        self.comma_separated(|parser| {
            let Some(word) = parser.peek_dotted() else {
                return Err(parser.expected("an attribute, such as `.managed`"));
            };
            parser.advance();
            words.push(word);
            if parser.eat(TokenKind::ParenOpen) {
                parser.comma_separated(|parser| parser.plain_integer("a number").map(|_| ()))?;
                parser.expect(TokenKind::ParenClose, "`,` or `)`")?;
            }
            Ok(())
        })?;
        self.expect(TokenKind::ParenClose, "`,` or `)`")?;
        Ok(())
    }

    /// `<10>` behind a name.
    fn name_count(&mut self) -> Parse<Option<u32>> {
        if !self.eat(TokenKind::Less) {
            return Ok(None);
        }
        let count = self.small_integer("a number of names")?;
        self.expect(TokenKind::Greater, "`>`")?;
        Ok(Some(count))
    }

    /// `[2][4]`, `[]`
    fn dimensions(&mut self) -> Parse<Dimensions> {
        let mut dimensions = Dimensions::new();
        while self.eat(TokenKind::BracketOpen) {
            dimensions.push(match self.at(TokenKind::BracketClose) {
                true => None,
                false => Some(self.plain_integer("a number of elements")?),
            });
            self.expect(TokenKind::BracketClose, "`]`")?;
        }
        Ok(dimensions)
    }

    fn initializer(&mut self) -> Parse<Initializer<'src>> {
        match self.token.kind {
            TokenKind::BraceOpen => self.nested(Self::initializer_list),
            TokenKind::Word if self.slice(self.token.span) != "WARP_SZ" => self.named_initializer(),
            _ => {
                let start = self.token.span.start;
                let value = self.constant()?;
                if !self.eat(TokenKind::ParenOpen) {
                    return Ok(Initializer::Number(value));
                }
                let Some(mask) = value.integer_bits() else {
                    return Err(self.error(self.since(start), "the mask of an address is an integer"));
                };
                Ok(Initializer::Address(self.masked_address(mask)?))
            }
        }
    }

    fn initializer_list(&mut self) -> Parse<Initializer<'src>> {
        self.advance();
        let mut values = Vec::new();
        if !self.at(TokenKind::BraceClose) {
            self.comma_separated(|parser| {
                values.push(parser.initializer()?);
                Ok(())
            })?;
        }
        self.expect(TokenKind::BraceClose, "`,` or `}`")?;
        Ok(Initializer::List(values))
    }

    /// `symbol+4`, `generic(symbol)+4`, `property = value`
    fn named_initializer(&mut self) -> Parse<Initializer<'src>> {
        let symbol = self.name("a symbol")?;
        if self.eat(TokenKind::Equal) {
            let value = self.nested(Self::initializer)?;
            return Ok(Initializer::Property(symbol, Box::new(value)));
        }
        if symbol.text == "generic" && self.eat(TokenKind::ParenOpen) {
            return Ok(Initializer::Address(self.generic_address()?));
        }
        Ok(Initializer::Address(AddressInitializer {
            symbol,
            offset: self.offset()?,
            generic: false,
            mask: None,
        }))
    }

    /// `symbol)+4` behind `generic(`: the offset stands outside.
    fn generic_address(&mut self) -> Parse<AddressInitializer<'src>> {
        let symbol = self.name("a variable or function")?;
        self.expect(TokenKind::ParenClose, "`)`")?;
        Ok(AddressInitializer { symbol, offset: self.offset()?, generic: true, mask: None })
    }

    /// `symbol+4)` or `generic(symbol)+4)` behind `0xFF(`: the offset stands inside.
    fn masked_address(&mut self, mask: u64) -> Parse<AddressInitializer<'src>> {
        let symbol = self.name("a variable or function")?;
        let address = if symbol.text == "generic" && self.eat(TokenKind::ParenOpen) {
            self.generic_address()?
        } else {
            AddressInitializer { symbol, offset: self.offset()?, generic: false, mask: None }
        };
        self.expect(TokenKind::ParenClose, "`)`")?;
        Ok(AddressInitializer { mask: Some(mask), ..address })
    }
}
