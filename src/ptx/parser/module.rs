//! The top of a file: its header, and which rule reads each item.

use super::super::ast::{Alias, Item, Linkage, Module, Name, Space, Version};
use super::super::lexer::TokenKind;
use super::{Parse, Parser};

/// Words that begin an item: where skipping an unknown one has to stop.
const ITEMS: [&str; 15] = [
    "entry", "func", "visible", "extern", "weak", "common", "global", "const", "shared", "tex", "file",
    "section", "alias", "version", "target",
];

impl<'src> Parser<'src> {
    /// The whole file.
    pub(super) fn module(&mut self) -> Parse<Module<'src>> {
        let mut module =
            Module { version: self.version()?, targets: Vec::new(), address_size: 32, items: Vec::new() };
        while !self.at(TokenKind::End) {
            self.item(&mut module)?;
        }
        Ok(module)
    }

    /// `.version 9.0`
    fn version(&mut self) -> Parse<Version> {
        if !self.at_dotted("version") {
            let error = self.expected("`.version`");
            return Err(Box::new(
                error.help("a PTX file begins with `.version`, `.target` and `.address_size`"),
            ));
        }
        self.advance();
        let expected = "a version such as `9.0`";
        if !self.at(TokenKind::Decimal) {
            return Err(self.expected(expected));
        }
        let span = self.token.span;
        let numbers = self.slice(span).split_once('.');
        let numbers = numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let Some((major, minor)) = numbers else {
            return Err(self.expected(expected));
        };
        self.advance();
        Ok(Version { major, minor, span })
    }

    fn item(&mut self, module: &mut Module<'src>) -> Parse<()> {
        if !self.at(TokenKind::Dotted) {
            return Err(self.expected("a directive such as `.entry`"));
        }
        let start = self.token.span.start;
        let linkage = self.linkage();
        let Some(word) = self.peek_dotted() else {
            return Err(self.expected("`.entry`, `.func` or a state space"));
        };
        if let Some(space) = Space::from_name(word.text) {
            return self
                .variables(linkage, space, start, |variable| module.items.push(Item::Variable(variable)));
        }
        let item = match word.text {
            "entry" | "func" => Item::Function(self.function(linkage, start)?),
            _ if linkage.is_some() => {
                return Err(self.expected("`.entry`, `.func` or a state space"));
            }
            "target" => return self.target(&mut module.targets),
            "address_size" => {
                module.address_size = self.address_size()?;
                return Ok(());
            }
            "version" => {
                return Err(self.error(word.span, "`.version` stands only once, at the beginning"));
            }
            "file" => Item::File(self.file()?),
            "section" => Item::Section(self.section()?),
            "alias" => Item::Alias(self.alias()?),
            "pragma" => Item::Pragma(self.pragma()?),
            "loc" => Item::Location(self.location()?),
            _ => {
                self.unknown_item()?;
                Item::Unknown(word)
            }
        };
        module.items.push(item);
        Ok(())
    }

    /// `.visible` and the like, of which one may stand.
    fn linkage(&mut self) -> Option<Linkage> {
        let linkage = match self.peek_dotted()?.text {
            "visible" => Linkage::Visible,
            "extern" => Linkage::Extern,
            "weak" => Linkage::Weak,
            "common" => Linkage::Common,
            _ => return None,
        };
        self.advance();
        Some(linkage)
    }

    /// `.target sm_90a, debug`
    fn target(&mut self, targets: &mut Vec<Name<'src>>) -> Parse<()> {
        if !targets.is_empty() {
            return Err(self.error(self.token.span, "`.target` stands only once"));
        }
        self.advance();
        self.comma_separated(|parser| {
            targets.push(parser.name("a target such as `sm_90`")?);
            Ok(())
        })
    }

    /// `.address_size 64`
    fn address_size(&mut self) -> Parse<u32> {
        self.advance();
        let start = self.token.span.start;
        match self.small_integer("32 or 64")? {
            size @ (32 | 64) => Ok(size),
            size => Err(self.error(self.since(start), format!("the address size is 32 or 64, found {size}"))),
        }
    }

    /// `.alias new, old;`
    fn alias(&mut self) -> Parse<Alias<'src>> {
        let start = self.advance().span.start;
        let alias = self.name("the new name of a function")?;
        self.expect(TokenKind::Comma, "`,`")?;
        let aliasee = self.name("the name of a function")?;
        self.expect(TokenKind::Semicolon, "`;`")?;
        Ok(Alias { alias, aliasee, span: self.since(start) })
    }

    /// A directive that is not known ends at `;`, with a block, or where another item begins.
    fn unknown_item(&mut self) -> Parse<()> {
        let word = self.advance();
        loop {
            match self.token.kind {
                TokenKind::Semicolon => {
                    self.advance();
                    return Ok(());
                }
                TokenKind::BraceOpen => {
                    self.skip_braces()?;
                    return Ok(());
                }
                TokenKind::BraceClose | TokenKind::End => {
                    let message = format!("the directive `{}` is not known", self.slice(word.span));
                    return Err(self.error(word.span, message));
                }
                TokenKind::Malformed(malformed) => return Err(self.malformed(malformed)),
                TokenKind::Dotted if self.peek_dotted().is_some_and(|word| ITEMS.contains(&word.text)) => {
                    return Ok(());
                }
                _ => {
                    self.advance();
                }
            }
        }
    }
}
