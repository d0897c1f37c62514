//! Functions, parameters and variables: what a module declares, with types and state spaces.

use std::fmt;

use smallvec::SmallVec;

use super::{Block, Dotted, Immediate, Name};
use crate::ptx::source::Span;

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
    /// `filter_mode = nearest`: a property of a texture, sampler or surface.
    Property(Name<'src>, Box<Initializer<'src>>),
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
