//! The syntax tree of a PTX module: what is written, where, and nothing about what it means.
//!
//! Names are slices of the source and every node has its exact byte span. Opcodes, modifiers and
//! register names are not checked here: whether they exist is for the lowering to say.

use std::fmt;

use smallvec::SmallVec;

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

/// `.visible`, `.extern`, `.weak`, `.common`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Visible to other modules.
    Visible,
    /// Defined elsewhere.
    Extern,
    /// One of several equal definitions.
    Weak,
    /// Uninitialised, merged with others of the name.
    Common,
}

/// `.entry` or `.func`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// A kernel.
    Entry,
    /// A function that device code calls.
    Func,
}

/// A kernel or a device function, with or without a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'src> {
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// `None`: private to the module.
    pub linkage: Option<Linkage>,
    /// The name.
    pub name: Name<'src>,
    /// What a `.func` returns; usually none or one.
    pub returns: Vec<Parameter<'src>>,
    /// The parameters.
    pub parameters: Vec<Parameter<'src>>,
    /// The parameter list from `(` to `)`, both included; `None` where it is left out.
    pub parameter_list: Option<Span>,
    /// `.maxntid`, `.noreturn` and the like, in the order they stand.
    pub directives: Vec<FunctionDirective<'src>>,
    /// `None`: a declaration.
    pub body: Option<Block<'src>>,
    /// From the first word (linkage included) to `}` or `;`.
    pub span: Span,
}

impl<'src> Function<'src> {
    /// The numbers of the directive `name` (without its dot), for instance `reqntid`.
    pub fn directive(&self, name: &str) -> Option<&[u64]> {
        let mut directives = self.directives.iter();
        directives.find_map(|d| (d.name.text == name).then_some(d.numbers.as_slice()))
    }
}

/// `.maxntid 256, 1, 1`, `.noreturn`, `.pragma "…";` between a function's parameters and its body.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDirective<'src> {
    /// The directive's name.
    pub name: Dotted<'src>,
    /// Its numbers, in the order they stand.
    pub numbers: SmallVec<[u64; 3]>,
    /// Its strings.
    pub strings: SmallVec<[&'src str; 1]>,
    /// The directive with its arguments.
    pub span: Span,
}

/// One parameter or return value of a function, or of a call prototype (named `_` there).
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter<'src> {
    /// [`Space::Param`], or [`Space::Reg`] for a device function.
    pub space: Space,
    /// The type of one element.
    pub ty: Type,
    /// `.v2`, `.v4`: elements of one vector; 1 for a scalar.
    pub vector: u32,
    /// `.align` before the name, in bytes (not that of `.ptr`).
    pub align: Option<u32>,
    /// What `.ptr` says.
    pub pointer: Option<Pointer>,
    /// The name.
    pub name: Name<'src>,
    /// The dimensions of an array, outermost first; empty for a single value.
    pub dimensions: Dimensions,
    /// The parameter without its comma.
    pub span: Span,
}

/// `.ptr .global .align 16` of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The space it points into; `None`: generic.
    pub space: Option<Space>,
    /// The alignment of what it points to, in bytes. The manual's default is 4.
    pub align: Option<u32>,
}

/// The dimensions of an array, outermost first. `None` is `[]`.
pub type Dimensions = SmallVec<[Option<u64>; 2]>;

/// State spaces of declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Registers.
    Reg,
    /// Special registers.
    Sreg,
    /// Constant memory.
    Const,
    /// Global memory.
    Global,
    /// Private memory of a thread.
    Local,
    /// Parameters.
    Param,
    /// Memory of a block.
    Shared,
    /// Textures, in the old way.
    Tex,
}

impl Space {
    /// The space that a word without its dot names. `shared::cta` is `Shared`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "reg" => Self::Reg,
            "sreg" => Self::Sreg,
            "const" => Self::Const,
            "global" => Self::Global,
            "local" => Self::Local,
            "param" | "param::entry" | "param::func" => Self::Param,
            "shared" | "shared::cta" | "shared::cluster" => Self::Shared,
            "tex" => Self::Tex,
            _ => return None,
        })
    }

    /// The word without its dot.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reg => "reg",
            Self::Sreg => "sreg",
            Self::Const => "const",
            Self::Global => "global",
            Self::Local => "local",
            Self::Param => "param",
            Self::Shared => "shared",
            Self::Tex => "tex",
        }
    }
}

macro_rules! types {
    ($($variant:ident $name:literal $bits:literal $doc:literal),* $(,)?) => {
        /// Types of registers, variables and parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Type { $(#[doc = $doc] $variant),* }

        impl Type {
            /// The type that a word without its dot names.
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name { $($name => Self::$variant,)* _ => return None })
            }

            /// The word without its dot.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Width in bits: 1 for a predicate, 64 for a handle of a texture, sampler or surface.
            pub fn bits(self) -> u32 {
                match self { $(Self::$variant => $bits),* }
            }
        }
    };
}

types! {
    Pred "pred" 1 "Predicate.",
    B8 "b8" 8 "8 bits.",
    B16 "b16" 16 "16 bits.",
    B32 "b32" 32 "32 bits.",
    B64 "b64" 64 "64 bits.",
    B128 "b128" 128 "128 bits.",
    U8 "u8" 8 "Unsigned integer of 8 bits.",
    U16 "u16" 16 "Unsigned integer of 16 bits.",
    U32 "u32" 32 "Unsigned integer of 32 bits.",
    U64 "u64" 64 "Unsigned integer of 64 bits.",
    S8 "s8" 8 "Signed integer of 8 bits.",
    S16 "s16" 16 "Signed integer of 16 bits.",
    S32 "s32" 32 "Signed integer of 32 bits.",
    S64 "s64" 64 "Signed integer of 64 bits.",
    U16x2 "u16x2" 32 "Two unsigned integers of 16 bits.",
    S16x2 "s16x2" 32 "Two signed integers of 16 bits.",
    F16 "f16" 16 "Half precision.",
    F16x2 "f16x2" 32 "Two half precision numbers.",
    Bf16 "bf16" 16 "The upper half of a single precision number.",
    Bf16x2 "bf16x2" 32 "Two `bf16`.",
    Tf32 "tf32" 32 "Single precision with a short mantissa.",
    F32 "f32" 32 "Single precision.",
    F32x2 "f32x2" 64 "Two single precision numbers.",
    F64 "f64" 64 "Double precision.",
    TexRef "texref" 64 "Handle of a texture.",
    SamplerRef "samplerref" 64 "Handle of a sampler.",
    SurfRef "surfref" 64 "Handle of a surface.",
}

impl Type {
    /// Size in bytes of a value in memory, which is also its natural alignment.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A variable in memory, of a module or of a function. One for each declared name.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'src> {
    /// `None`: private.
    pub linkage: Option<Linkage>,
    /// The space it lies in.
    pub space: Space,
    /// The type of one element.
    pub ty: Type,
    /// `.v2`, `.v4`: elements of one vector; 1 for a scalar.
    pub vector: u32,
    /// `.align`, in bytes.
    pub align: Option<u32>,
    /// `.attribute(…)`: the words in the brackets, such as `managed`.
    pub attributes: SmallVec<[Dotted<'src>; 1]>,
    /// The name.
    pub name: Name<'src>,
    /// `name<count>` declares `name0` to `name(count − 1)`.
    pub count: Option<u32>,
    /// The dimensions of an array, outermost first; empty for a single value.
    pub dimensions: Dimensions,
    /// What follows `=`.
    pub initializer: Option<Initializer<'src>>,
    /// The whole directive up to `;`; names of one list share it.
    pub span: Span,
}

/// The value of a variable when the module is loaded.
#[derive(Clone, Debug, PartialEq)]
pub enum Initializer<'src> {
    /// `{ … }`, one level of an array.
    List(Vec<Initializer<'src>>),
    /// A number.
    Number(Immediate),
    /// The address of a variable or function.
    Address(AddressInitializer<'src>),
}

/// `symbol`, `symbol+4`, `generic(symbol)+4`, `0xFF00(symbol)`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressInitializer<'src> {
    /// The variable or function.
    pub symbol: Name<'src>,
    /// Bytes to add.
    pub offset: i64,
    /// Whether the generic address is meant, not the one within its space.
    pub generic: bool,
    /// Which byte of the address is stored: `0xFF00(symbol)` is the second.
    pub mask: Option<u64>,
}

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
        self.0
            .iter()
            .filter_map(|modifier| Type::from_name(modifier.text))
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
    /// `-%r1`
    Negate(Name<'src>),
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
