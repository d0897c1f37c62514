//! What a kernel takes: each parameter's kind, size and place in the parameter block.
//!
//! Read off the `.param` list alone; whether a launch's arguments fit is asked elsewhere.

use std::fmt;

use super::ast::{Function, FunctionKind, Module, Parameter, Space, Type};
use super::source::SyntaxError;

/// The most bytes of parameters a kernel can have on any device (CUDA C++ Programming Guide,
/// `__global__` function parameters: 32 764 bytes from compute capability 7.0 on).
pub const MAX_PARAMETER_BYTES: u32 = 32_764;

/// The parameters of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSignature {
    /// The kernel's name.
    pub name: String,
    /// The parameters, in the order they stand.
    pub parameters: Vec<KernelParameter>,
    /// Size of the parameter block in bytes: the end of the last parameter.
    pub bytes: u32,
    /// Bits of an address in its module: 64, or 32.
    pub address_size: u32,
}

/// One parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParameter {
    /// Its name in PTX.
    pub name: String,
    /// What it holds.
    pub kind: ParameterKind,
    /// Where it begins in the parameter block, in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub size: u32,
    /// Its alignment in bytes.
    pub align: u32,
}

/// What a kernel's parameter holds, as far as PTX says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// A signed or unsigned integer.
    Integer(Type),
    /// An integer as wide as an address, and perhaps one: nvcc leaves `.ptr` out.
    IntegerOrPointer(Type),
    /// Bits that may be an integer or a float: `.b32`.
    Bits(Type),
    /// A float.
    Float(Type),
    /// An address, marked by `.ptr`.
    Pointer {
        /// The space it points into; `None`: generic.
        space: Option<Space>,
        /// Alignment of what it points to, in bytes; `None` where it is not written.
        align: Option<u32>,
    },
    /// A structure or array passed by value: so many elements of a type.
    Array(Type, u32),
    /// A texture, sampler or surface.
    Handle(Type),
}

impl ParameterKind {
    /// Whether an address may be passed here.
    pub fn may_be_pointer(self) -> bool {
        matches!(self, Self::Pointer { .. } | Self::IntegerOrPointer(_))
    }
}

impl KernelSignature {
    /// The signatures of the kernels that `module` defines or declares, in the order they stand.
    ///
    /// # Errors
    /// A parameter that has no size (`.param .b8 x[]`), is a predicate or a register, or lies
    /// beyond [`MAX_PARAMETER_BYTES`].
    pub fn all(module: &Module<'_>) -> Result<Vec<Self>, SyntaxError> {
        let kernels = module.functions().filter(|function| function.kind == FunctionKind::Entry);
        kernels.map(|kernel| Self::of(kernel, module.address_size)).collect()
    }

    /// The signature of `kernel`, a function of a module with addresses of `address_size` bits.
    ///
    /// # Errors
    /// As for [`all`](Self::all).
    pub fn of(kernel: &Function<'_>, address_size: u32) -> Result<Self, SyntaxError> {
        let mut end = 0;
        let mut parameters = Vec::with_capacity(kernel.parameters.len());
        for parameter in &kernel.parameters {
            let placed = place(parameter, end, address_size).map_err(|reason| {
                let message =
                    format!("kernel `{}`: parameter `{}` {reason}", kernel.name.text, parameter.name.text);
                SyntaxError::new(parameter.span, message)
            })?;
            end = placed.offset + placed.size;
            parameters.push(placed);
        }
        Ok(Self { name: kernel.name.text.to_owned(), parameters, bytes: end, address_size })
    }
}

/// Puts `parameter` at the first place from `end` on that has its alignment.
fn place(parameter: &Parameter<'_>, end: u32, address_size: u32) -> Result<KernelParameter, String> {
    if parameter.space != Space::Param {
        return Err("is a register, which only a device function can take".to_owned());
    }
    if parameter.ty == Type::Pred {
        return Err("is a predicate, which has no place in memory".to_owned());
    }
    let element = parameter.ty.bytes() * parameter.vector;
    let mut elements = 1_u64;
    for dimension in &parameter.dimensions {
        let Some(length) = dimension else {
            return Err("is an array without a size".to_owned());
        };
        elements = elements.saturating_mul(*length);
    }
    let align = parameter.align.unwrap_or(element);
    let limit = u64::from(MAX_PARAMETER_BYTES);
    let offset = u64::from(end).next_multiple_of(u64::from(align));
    let size = elements.saturating_mul(u64::from(element));
    if offset.saturating_add(size) > limit {
        return Err(format!(
            "of {size} bytes at offset {offset} ends beyond the {limit} bytes a kernel can take"
        ));
    }
    // both are at most `limit` now, and `elements` is at most `size`
    let (offset, size, elements) = (offset as u32, size as u32, elements as u32);
    let array = !parameter.dimensions.is_empty() || parameter.vector > 1;
    Ok(KernelParameter {
        name: parameter.name.text.to_owned(),
        kind: match parameter.pointer {
            Some(pointer) => ParameterKind::Pointer { space: pointer.space, align: pointer.align },
            None if array => ParameterKind::Array(parameter.ty, elements * parameter.vector),
            None => scalar_kind(parameter.ty, address_size),
        },
        offset,
        size,
        align,
    })
}

fn scalar_kind(ty: Type, address_size: u32) -> ParameterKind {
    match ty {
        Type::B32 | Type::U32 | Type::B64 | Type::U64 if ty.bits() == address_size => {
            ParameterKind::IntegerOrPointer(ty)
        }
        Type::U8 | Type::U16 | Type::U32 | Type::U64 => ParameterKind::Integer(ty),
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => ParameterKind::Integer(ty),
        Type::F16 | Type::Bf16 | Type::Tf32 | Type::F32 | Type::F64 => ParameterKind::Float(ty),
        Type::TexRef | Type::SamplerRef | Type::SurfRef => ParameterKind::Handle(ty),
        _ => ParameterKind::Bits(ty),
    }
}

/// `saxpy(u32, f32, ptr global, b8[16])`
impl fmt::Display for KernelSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        for (index, parameter) in self.parameters.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", parameter.kind)?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(ty)
            | Self::IntegerOrPointer(ty)
            | Self::Bits(ty)
            | Self::Float(ty)
            | Self::Handle(ty) => write!(f, "{ty}"),
            Self::Pointer { space: None, .. } => f.write_str("ptr"),
            Self::Pointer { space: Some(space), .. } => write!(f, "ptr {}", space.name()),
            Self::Array(ty, elements) => write!(f, "{ty}[{elements}]"),
        }
    }
}
