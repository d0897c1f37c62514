//! The syntax tree of a PTX module: what is written, where, and nothing about what it means.
//!
//! Names are slices of the source and every node has its exact byte span. Opcodes, modifiers and
//! register names are not checked here: whether they exist is for the lowering to say.
//!
//! This file: names, the module, and its items that only debuggers and tools read.

mod declaration;
mod statement;

use smallvec::SmallVec;

pub use declaration::*;
pub use statement::*;

use super::source::Span;

/// An identifier as written: `%r1`, `$L__BB0_2`, `saxpy_param_0`. `span` is exactly `text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'src> {
    /// The identifier.
    pub text: &'src str,
    /// Where it stands.
    pub span: Span,
}

/// A word after a dot: a modifier, a type, a directive. `.mbarrier::complete_tx::bytes` is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dotted<'src> {
    /// The word without its dot: `global`, `u32`, `shared::cta`.
    pub text: &'src str,
    /// Where it stands, the dot included.
    pub span: Span,
}

/// A whole PTX file.
#[derive(Clone, Debug, PartialEq)]
pub struct Module<'src> {
    /// `.version`, which every module begins with.
    pub version: Version,
    /// The words of `.target`: an architecture and options, such as `sm_90`, `debug`.
    pub targets: Vec<Name<'src>>,
    /// `.address_size` in bits; 32 where a module does not say (the manual's default).
    pub address_size: u32,
    /// Everything else, in the order it stands.
    pub items: Vec<Item<'src>>,
}

impl<'src> Module<'src> {
    /// The functions and kernels, in the order they stand; declarations included.
    pub fn functions(&self) -> impl Iterator<Item = &Function<'src>> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            _ => None,
        })
    }

    /// The module's variables, in the order they stand.
    pub fn variables(&self) -> impl Iterator<Item = &Variable<'src>> {
        self.items.iter().filter_map(|item| match item {
            Item::Variable(variable) => Some(variable),
            _ => None,
        })
    }

    /// The path that `.file` gave the number `index`.
    pub fn file(&self, index: u32) -> Option<&'src str> {
        self.items.iter().find_map(|item| match item {
            Item::File(file) if file.index == index => Some(file.path),
            _ => None,
        })
    }
}

/// `.version 9.0`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The number before the dot.
    pub major: u32,
    /// The number after the dot.
    pub minor: u32,
    /// The two numbers, without the directive.
    pub span: Span,
}

/// What may stand at the top of a module.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item<'src> {
    /// `.entry` or `.func`, with or without a body.
    Function(Function<'src>),
    /// A variable outside of functions. `.global .u32 a, b;` gives two.
    Variable(Variable<'src>),
    /// `.file 1 "kernel.cu"`
    File(File<'src>),
    /// `.section .debug_info { … }`
    Section(Section<'src>),
    /// `.alias new, old;`
    Alias(Alias<'src>),
    /// `.pragma "…";`
    Pragma(Pragma<'src>),
    /// `.loc` outside of a function.
    Location(Location<'src>),
    /// A directive this parser does not know, which a `;` or a block ended.
    Unknown(Dotted<'src>),
}

/// `.file index "path" [, timestamp, size]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File<'src> {
    /// The number that `.loc` uses.
    pub index: u32,
    /// The path between the quotes, escapes left as they are.
    pub path: &'src str,
    /// The directive.
    pub span: Span,
}

/// A section of debug data, whose contents are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section<'src> {
    /// The name without its dot: `debug_info`.
    pub name: Dotted<'src>,
    /// From `{` to `}`, both included.
    pub body: Span,
    /// From `.section` to `}`.
    pub span: Span,
}

/// `.alias new, old;`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias<'src> {
    /// The second name of the function.
    pub alias: Name<'src>,
    /// The function that has a body.
    pub aliasee: Name<'src>,
    /// From `.alias` to `;`.
    pub span: Span,
}

/// `.pragma "nounroll";`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pragma<'src> {
    /// The strings between their quotes.
    pub strings: SmallVec<[&'src str; 1]>,
    /// From `.pragma` to `;`.
    pub span: Span,
}

/// `.loc file line column [, function_name label[+offset], inlined_at file line column]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'src> {
    /// The place in the program that PTX was compiled from.
    pub place: SourcePlace,
    /// Where the function that `place` is in was inlined.
    pub inlined_at: Option<InlinedAt<'src>>,
    /// The directive.
    pub span: Span,
}

/// A line of the program that was compiled to PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The number of a `.file`.
    pub file: u32,
    /// Line, from 1; 0 where the compiler has none.
    pub line: u32,
    /// Column, from 1; 0 where the compiler has none.
    pub column: u32,
}

/// The second half of a `.loc` inside an inlined function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlinedAt<'src> {
    /// A label in `.debug_str` whose string is the inlined function's name.
    pub function_name: Name<'src>,
    /// Bytes to add to the label.
    pub offset: i64,
    /// The call that was replaced.
    pub place: SourcePlace,
}
