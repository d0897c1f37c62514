//! The lowered module: what the syntax tree becomes once names are resolved and modifiers are typed.
//! Here stand the declarations (module, function, variable, parameter, layouts); instructions are in
//! `inst`, their parts in files by subject, the questions an analysis asks in `flow` and `registers`, the
//! readable form in `display`. Nothing here executes, and nothing here knows a device.
//!
//! # Rules a reader of the code may rely on (held by [`verify`](super::verify))
//!
//! 1. **Code is flat.** [`Function::code`] is one list; a branch target is an index into it. The last
//!    instruction never falls through: lowering appends a `ret` where the text does not end in one.
//! 2. **Registers are slots.** A [`Reg`] has a declared width and an index into the register file of its
//!    class: predicates, 32-bit slots (8-, 16- and 32-bit registers share this file and its numbering),
//!    64-bit slots, 128-bit slots. Two registers of one class never share an index.
//! 3. **Narrow values are kept zero-extended.** A write to an 8- or 16-bit register stores the value
//!    modulo 2⁸ or 2¹⁶ and clears the rest of the slot. A reader sign-extends where its type says so.
//! 4. **Registers may be wider than the instruction's type** only in `Load`, `Store` and (integer types)
//!    `Convert`: a result is sign-extended (signed type) or zero-extended to the register's declared
//!    width, of a source the low bits are used. `ReadSpecial` and `AddressOf` take 16-, 32- and 64-bit
//!    registers, truncating or zero-extending. Everywhere else widths are equal.
//! 5. **Immediates are bit patterns** already converted to the operand's type and truncated to its
//!    width: `-1` as `.u16` is `0xffff`, `0.5` as `.f32` is `0x3f000000`.
//! 6. **Special registers and symbol addresses** occur only as sources of [`Op::ReadSpecial`] and
//!    [`Op::AddressOf`], and as bases of memory operands; lowering moves them to a fresh register where
//!    the text used them elsewhere.
//! 7. **Parameters are bytes in blocks.** A function has an `In` block (its parameters), an `Out` block
//!    (its return values) and a `Call` block (space for the arguments and results of the calls it
//!    makes). `call` copies byte ranges between blocks; it never touches registers.
//! 8. **What is not known is there.** An instruction that lowering does not know is
//!    [`Op::Unsupported`]; a function with a declaration it does not know has
//!    [`Function::unsupported`]. Reaching either is a fault with the text and line, loading it is none.

mod arithmetic;
mod cooperation;
mod display;
mod flow;
mod inst;
mod memory;
mod operands;
mod registers;
mod types;

pub use arithmetic::*;
pub use cooperation::*;
pub use flow::{MemoryAccess, MemoryAccessKind, Successors};
pub use inst::*;
pub use memory::*;
pub use operands::*;
pub use types::*;

use super::source::Span;

/// Index of a function in [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// Index of a variable in [`Module::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// Index of a source location in [`Module::locations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

/// One PTX module, lowered.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// `.version`: major, minor.
    pub version: (u32, u32),
    /// `.target`.
    pub target: Target,
    /// `.address_size` in bits, 32 or 64.
    pub address_size: u32,
    /// Kernels and device functions, declared or defined, each name once.
    pub functions: Vec<Function>,
    /// Variables in `.global`, `.const` and `.shared` space, module-wide and function-local, in order of
    /// declaration.
    pub variables: Vec<Variable>,
    /// The `.file` table.
    pub files: Vec<SourceFile>,
    /// What `.loc` says, shared by the instructions it covers.
    pub locations: Vec<Location>,
}

impl Module {
    /// The kernel or function called `name`.
    pub fn function(&self, name: &str) -> Option<(FunctionId, &Function)> {
        let index = self.functions.iter().position(|f| f.name == name)?;
        Some((FunctionId(index as u32), &self.functions[index]))
    }

    /// The kernels, in order of definition.
    pub fn kernels(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        self.functions
            .iter()
            .enumerate()
            .filter(|(_, f)| f.kind == FunctionKind::Kernel)
            .map(|(i, f)| (FunctionId(i as u32), f))
    }

    /// The file of a `.loc`, by the number its `.file` directive gave it.
    pub fn file(&self, number: u32) -> Option<&SourceFile> {
        self.files.iter().find(|f| f.number == number)
    }
}

/// `.target`: architecture and options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The architecture as written, such as `sm_90a`.
    pub arch: String,
    /// Its number, such as 90.
    pub sm: u32,
    /// `debug`: the file carries debug information.
    pub debug: bool,
}

/// A `.file` directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The number `.loc` refers to.
    pub number: u32,
    /// Path as the compiler wrote it.
    pub path: String,
}

/// A `.loc` directive: the place in the language above PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Number of the `.file`.
    pub file: u32,
    /// Line, from 1; 0 when the compiler had none.
    pub line: u32,
    /// Column, from 1; 0 when the compiler had none.
    pub column: u32,
    /// For an inlined body: which function, and where it was inlined.
    pub inlined: Option<Inlined>,
}

/// `function_name …, inlined_at …` of a `.loc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    /// Name of the inlined function, or the label of its debug string if the section is absent.
    pub function: String,
    /// The call site.
    pub at: LocationId,
}

/// Kernel or function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `.entry`
    Kernel,
    /// `.func`
    Device,
}

/// `.extern`, `.visible`, `.weak`, `.common`, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Known in this module only.
    Internal,
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// A kernel or device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name as written.
    pub name: String,
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// Linkage of the definition, or of the declaration if there is none.
    pub linkage: Linkage,
    /// The name in the text.
    pub span: Span,
    /// Parameters, in order; [`Param::offset`] is into the `In` block.
    pub params: Vec<Param>,
    /// Return parameters, in order; [`Param::offset`] is into the `Out` block.
    pub returns: Vec<Param>,
    /// `.param` space declared in the body, for calls; [`Param::offset`] is into the `Call` block.
    /// Declarations whose scopes do not overlap may share bytes.
    pub call_params: Vec<Param>,
    /// Size of the `In` block in bytes.
    pub param_bytes: u32,
    /// Size of the `Out` block in bytes.
    pub return_bytes: u32,
    /// Size of the `Call` block in bytes.
    pub call_bytes: u32,
    /// How many slots of each class the function uses.
    pub registers: RegisterFile,
    /// Names of the registers, for messages.
    pub register_names: Vec<RegisterNames>,
    /// `.local` variables, with offsets into the frame.
    pub locals: Vec<LocalVariable>,
    /// Size of the local frame in bytes (one per activation).
    pub local_bytes: u32,
    /// Alignment of the local frame in bytes, at least 1.
    pub local_align: u32,
    /// For kernels: the shared memory of one block. Empty for device functions.
    pub shared: SharedLayout,
    /// `.maxntid`, `.reqntid` and the like.
    pub bounds: LaunchBounds,
    /// Is there a body? An `.extern` or forward declaration without one has empty `code`.
    pub defined: bool,
    /// The instructions. Empty only if the function is not defined.
    pub code: Vec<Inst>,
    /// Labels by name, with the index of the instruction they stand before.
    pub labels: Vec<Label>,
    /// A declaration that is not supported, with its place: the function must not be entered.
    pub unsupported: Option<Unsupported>,
}

impl Function {
    /// The name in the text of a register, `None` for one that lowering made.
    pub fn register_name(&self, reg: Reg) -> Option<String> {
        let range = self.register_names.iter().find(|n| {
            n.first.class() == reg.class()
                && reg.index >= n.first.index
                && reg.index - n.first.index < n.count
        })?;
        Some(match range.numbered {
            true => format!("{}{}", range.name, reg.index - range.first.index),
            false => range.name.clone(),
        })
    }
}

/// Something in a declaration that the lowering does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it is, as in the text.
    pub what: String,
    /// Where it stands.
    pub span: Span,
    /// Its line, from 1.
    pub line: u32,
}

/// A label of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Name as written.
    pub name: String,
    /// Index of the instruction it stands before.
    pub target: u32,
}

/// A parameter: a range of bytes in one of a function's blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name as written; `_` in prototypes.
    pub name: String,
    /// Element type.
    pub ty: Type,
    /// Number of elements if declared as an array.
    pub array: Option<u32>,
    /// Offset into the block, in bytes.
    pub offset: u32,
    /// Size in bytes (of the whole array).
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// `.ptr`: the parameter is a pointer.
    pub pointer: Option<PointerAttribute>,
    /// The declaration in the text.
    pub span: Span,
}

/// `.ptr .global .align 16` of a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerAttribute {
    /// Space pointed to; generic if not given.
    pub space: Space,
    /// Promised alignment of the pointee in bytes (4 if not given).
    pub align: u32,
}

/// How many slots a function uses of each register class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterFile {
    /// Predicate slots.
    pub predicates: u32,
    /// 32-bit slots (for 8-, 16- and 32-bit registers).
    pub slots32: u32,
    /// 64-bit slots.
    pub slots64: u32,
    /// 128-bit slots.
    pub slots128: u32,
}

impl RegisterFile {
    /// Number of slots of `class`.
    pub fn count(&self, class: RegClass) -> u32 {
        match class {
            RegClass::Predicate => self.predicates,
            RegClass::Slot32 => self.slots32,
            RegClass::Slot64 => self.slots64,
            RegClass::Slot128 => self.slots128,
        }
    }
}

/// A `.reg` declaration: one name, or a numbered range such as `%r<10>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterNames {
    /// The first register of the range.
    pub first: Reg,
    /// How many registers, with consecutive indices.
    pub count: u32,
    /// The name, or for a range its prefix.
    pub name: String,
    /// Is it a range, whose members are called prefix + number?
    pub numbered: bool,
}

/// A `.local` variable of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// Name as written.
    pub name: String,
    /// Offset into the frame, in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// The shared memory of one block of a kernel.
///
/// Static variables that the kernel, or a function it may call, names lie at fixed offsets (the same in
/// every kernel that uses the variable). All `.extern .shared` arrays begin at `dynamic_offset`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedLayout {
    /// The static variables, by offset; [`Variable::shared_offset`] says where.
    pub variables: Vec<VariableId>,
    /// Bytes of static shared memory.
    pub static_bytes: u32,
    /// Where dynamic shared memory begins: `static_bytes` rounded up to the alignment that the
    /// `.extern .shared` arrays in use ask for.
    pub dynamic_offset: u32,
    /// Does the kernel, or a function it may call, name dynamic shared memory?
    pub uses_dynamic: bool,
}

/// Performance and launch directives of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.maxntid`: largest block per axis product.
    pub max_ntid: Option<[u32; 3]>,
    /// `.reqntid`: the block must have exactly this shape.
    pub req_ntid: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub min_ctas_per_sm: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`
    pub req_cluster: Option<[u32; 3]>,
}

/// A variable in `.global`, `.const` or `.shared` space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name as written.
    pub name: String,
    /// `Global`, `Const` or `Shared`.
    pub space: Space,
    /// Linkage. `Extern` without a size is dynamic shared memory (shared) or unresolved (global).
    pub linkage: Linkage,
    /// Element type.
    pub ty: Type,
    /// Size in bytes; 0 for an array of unknown length.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// Contents at module load; all zero if `None`. Never present in shared space.
    pub initializer: Option<Initializer>,
    /// Offset into the static shared memory of each kernel that uses it (0 if none does). `None` for
    /// other spaces and for dynamic shared memory.
    pub shared_offset: Option<u32>,
    /// The name in the text.
    pub span: Span,
}

impl Variable {
    /// Is this `.extern .shared x[]`, the dynamic shared memory of the launch?
    pub fn is_dynamic_shared(&self) -> bool {
        self.space == Space::Shared && self.linkage == Linkage::Extern
    }
}

/// Contents of a variable at module load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initializer {
    /// Exactly [`Variable::size`] bytes, little-endian, zero at the relocations.
    pub bytes: Vec<u8>,
    /// Addresses to be written over the bytes once they are known.
    pub relocations: Vec<Relocation>,
}

/// An address in an initialiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Byte offset into the variable.
    pub offset: u64,
    /// Size in bytes: 8, 4, or 1 for one byte of an address (`mask(sym)` form).
    pub size: u32,
    /// How far the address is shifted right before its low `size` bytes are taken.
    pub shift: u32,
    /// Whose address.
    pub target: RelocationTarget,
    /// Added to the address, in bytes.
    pub addend: i64,
}

/// Whose address an initialiser takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    /// The address of a variable in its own space.
    Variable(VariableId),
    /// `generic(x)`: the generic address of a variable.
    Generic(VariableId),
    /// A function pointer.
    Function(FunctionId),
}
