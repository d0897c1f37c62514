//! What stands in a function's body: statements, instructions, operands, numbers.

use smallvec::SmallVec;

use super::{Dotted, Location, Name, Parameter, Pragma, Type, Variable};
use crate::ptx::source::Span;

/// `{ … }`: a function's body, or a scope inside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<'src> {
    /// What stands in it, in order. Names declared here end with it.
    pub statements: Vec<Statement<'src>>,
    /// From `{` to `}`, both included.
    pub span: Span,
}

/// What may stand in a block.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every statement is an instruction, and boxing each costs more than the space"
)]
pub enum Statement<'src> {
    /// An instruction.
    Instruction(Instruction<'src>),
    /// `name:`
    Label(Name<'src>),
    /// `.reg …;`
    Registers(Registers<'src>),
    /// `.shared …;`, `.local …;`, `.param …;` and the like.
    Variable(Variable<'src>),
    /// An inner scope.
    Block(Block<'src>),
    /// `.loc`
    Location(Location<'src>),
    /// `.pragma "…";`
    Pragma(Pragma<'src>),
    /// `name: .branchtargets …;` or `name: .calltargets …;`
    Targets(Targets<'src>),
    /// `name: .callprototype …;`
    Prototype(Prototype<'src>),
    /// A directive this parser does not know, up to its `;`.
    Unknown(Dotted<'src>),
}

/// `.reg .v4 .b32 %v, %r<10>;`
#[derive(Clone, Debug, PartialEq)]
pub struct Registers<'src> {
    /// The type of one element.
    pub ty: Type,
    /// `.v2`, `.v4`: elements of one vector; 1 for a scalar.
    pub vector: u32,
    /// The names.
    pub names: SmallVec<[RegisterName<'src>; 1]>,
    /// From `.reg` to `;`.
    pub span: Span,
}

/// `%x`, or `%r<10>` for the ten registers `%r0` to `%r9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterName<'src> {
    /// The name, or the part before the number.
    pub name: Name<'src>,
    /// How many; `None`: `name` itself is the register.
    pub count: Option<u32>,
}

/// The list a `brx.idx` or an indirect `call` chooses from.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets<'src> {
    /// Labels or functions.
    pub kind: TargetKind,
    /// The label that instructions name it by.
    pub label: Name<'src>,
    /// Labels or functions, in the order of their index.
    pub targets: Vec<Name<'src>>,
    /// From the label to `;`.
    pub span: Span,
}

/// What a list of targets holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// `.branchtargets`
    Branch,
    /// `.calltargets`
    Call,
}

/// The signature of an indirect call.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype<'src> {
    /// The label that calls name it by.
    pub label: Name<'src>,
    /// What the function returns.
    pub returns: Vec<Parameter<'src>>,
    /// What it takes.
    pub parameters: Vec<Parameter<'src>>,
    /// Whether `.noreturn` stands behind it.
    pub noreturn: bool,
    /// From the label to `;`.
    pub span: Span,
}

/// `@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];`
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'src> {
    /// The predicate it depends on.
    pub guard: Option<Guard<'src>>,
    /// The first word: `ld`, `add`, `bar`.
    pub opcode: Name<'src>,
    /// The words after it.
    pub modifiers: Modifiers<'src>,
    /// The operands, in the order they stand.
    pub operands: SmallVec<[Operand<'src>; 3]>,
    /// From the guard, or the opcode, to `;`.
    pub span: Span,
}

/// `@%p1`, `@!%p1`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'src> {
    /// Whether `!` stands before it.
    pub negated: bool,
    /// The predicate.
    pub register: Name<'src>,
    /// From `@` to the end of the name.
    pub span: Span,
}

/// The modifiers of an instruction. Compilers write some of them in any order, so that most
/// questions are about a set; what repeats (`cvt.f32.s32`) is asked by position.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Modifiers<'src>(pub SmallVec<[Dotted<'src>; 4]>);

impl<'src> Modifiers<'src> {
    /// Whether `word` (without its dot) is among them.
    pub fn has(&self, word: &str) -> bool {
        self.0.iter().any(|modifier| modifier.text == word)
    }

    /// The first one that is in `words`.
    pub fn first_of(&self, words: &[&str]) -> Option<Dotted<'src>> {
        self.iter().find(|modifier| words.contains(&modifier.text))
    }

    /// In the order they stand.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Dotted<'src>> + ExactSizeIterator + '_ {
        self.0.iter().copied()
    }

    /// Those that are types, in the order they stand: destination first for `cvt`.
    pub fn types(&self) -> impl DoubleEndedIterator<Item = Type> + '_ {
        self.0.iter().filter_map(|modifier| Type::from_name(modifier.text))
    }
}

/// One operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand<'src> {
    /// What it is.
    pub kind: OperandKind<'src>,
    /// Brackets and signs included.
    pub span: Span,
}

/// The forms of operands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OperandKind<'src> {
    /// A register, special register, variable, parameter, label or function.
    Symbol(&'src str),
    /// `%tid.x`, `%v.y`
    Member {
        /// The register.
        register: Name<'src>,
        /// The word after the dot.
        member: Dotted<'src>,
    },
    /// `_`
    Sink,
    /// A number, or a constant expression's value.
    Immediate(Immediate),
    /// `symbol+4`: the address of a variable with bytes added.
    Offset {
        /// The variable.
        symbol: Name<'src>,
        /// Bytes to add.
        offset: i64,
    },
    /// `symbol[1]`: an element of an array by its number.
    Element {
        /// The array.
        array: Name<'src>,
        /// The register in the brackets.
        index: Option<Name<'src>>,
        /// The number in the brackets.
        offset: i64,
    },
    /// `!%p1`
    Not(Name<'src>),
    /// `-%r1`, `-%r1.h0`
    Negate(Box<Operand<'src>>),
    /// `{%f1, %f2}`
    Vector(Vec<Operand<'src>>),
    /// `%p1|%p2`
    Pair(Box<[Operand<'src>; 2]>),
    /// `[…]`
    Address(Box<Address<'src>>),
    /// `(…)`: arguments or results of a call.
    List(Vec<Operand<'src>>),
}

/// `[base+offset]`, `[base]`, `[offset]`, `[base, {…}, …]`
#[derive(Clone, Debug, PartialEq)]
pub struct Address<'src> {
    /// The register or variable; `None`: an absolute address.
    pub base: Option<Name<'src>>,
    /// Bytes to add, or the absolute address.
    pub offset: i64,
    /// What follows the first comma: samplers and coordinates of a texture or tensor.
    pub rest: Vec<Operand<'src>>,
}

/// A number, as the manual types it: integers are 64 bits wide, floats keep their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Immediate {
    /// A signed 64-bit integer: a literal that fits, or the result of signed arithmetic.
    Signed(i64),
    /// An unsigned 64-bit integer: too large to be signed, or with the suffix `U`.
    Unsigned(u64),
    /// The bits of `0f3F800000`.
    F32(u32),
    /// The bits of `0d3FF0000000000000`, or of a decimal number.
    F64(u64),
}

impl Immediate {
    /// The 64 bits of an integer, `None` for a float.
    pub fn integer_bits(self) -> Option<u64> {
        match self {
            Self::Signed(value) => Some(value as u64),
            Self::Unsigned(value) => Some(value),
            Self::F32(_) | Self::F64(_) => None,
        }
    }
}
