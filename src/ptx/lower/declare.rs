//! Declarations: parameters and their blocks, variables and their initialisers, launch bounds.

use super::not_declared;
use super::scope::{Binding, Scopes};
use crate::ptx::ast;
use crate::ptx::ir::*;
use crate::ptx::source::{Span, SyntaxError};

/// The largest object, in bytes, that the representation admits: offsets are 32-bit.
const MAX_BYTES: u64 = 1 << 31;

/// The type of the representation, `None` for handles of textures and the like.
pub(super) fn ty(ty: ast::Type) -> Option<Type> {
    Type::from_name(ty.name())
}

/// A function without its code.
pub(super) fn function(ast: &ast::Function<'_>) -> Result<Function, SyntaxError> {
    let mut unsupported = None;
    let (params, param_bytes) = block(&ast.parameters, &mut unsupported)?;
    let (returns, return_bytes) = block(&ast.returns, &mut unsupported)?;
    Ok(Function {
        name: ast.name.text.to_owned(),
        kind: match ast.kind {
            ast::FunctionKind::Entry => FunctionKind::Kernel,
            ast::FunctionKind::Func => FunctionKind::Device,
        },
        linkage: linkage(ast.linkage),
        span: ast.name.span,
        params,
        returns,
        call_params: Vec::new(),
        param_bytes,
        return_bytes,
        call_bytes: 0,
        registers: RegisterFile::default(),
        register_names: Vec::new(),
        locals: Vec::new(),
        local_bytes: 0,
        local_align: 1,
        shared: SharedLayout::default(),
        bounds: bounds(ast),
        defined: ast.body.is_some(),
        code: Vec::new(),
        labels: Vec::new(),
        unsupported,
    })
}

/// Do a declaration and a definition agree on the bytes they pass?
pub(super) fn same_signature(a: &Function, b: &Function) -> bool {
    let same = |a: &[Param], b: &[Param]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.offset == b.offset && a.size == b.size)
    };
    a.kind == b.kind && same(&a.params, &b.params) && same(&a.returns, &b.returns)
}

/// Lays out parameters one behind the other, each at its alignment. Returns them and the block's size.
pub(super) fn block(
    parameters: &[ast::Parameter<'_>],
    unsupported: &mut Option<Unsupported>,
) -> Result<(Vec<Param>, u32), SyntaxError> {
    let mut end = 0;
    let mut params = Vec::with_capacity(parameters.len());
    for ast in parameters {
        if ty(ast.ty).is_none() && unsupported.is_none() {
            *unsupported =
                Some(Unsupported { what: format!("parameter of type .{}", ast.ty), span: ast.span, line: 0 });
        }
        let pointer = ast.pointer.map(|pointer| PointerAttribute {
            space: pointer.space.map_or(Space::Generic, space),
            align: pointer.align.unwrap_or(4),
        });
        let shape = Shape::new(ast.ty, ast.vector, ast.align, &ast.dimensions, ast.span)?;
        let offset = place(&mut end, &shape, ast.span)?;
        params.push(Param {
            name: ast.name.text.to_owned(),
            ty: ty(ast.ty).unwrap_or(Type::B64),
            array: (!ast.dimensions.is_empty() || ast.vector > 1)
                .then_some((shape.size / u64::from(shape.element)) as u32),
            offset,
            size: shape.size as u32,
            align: shape.align,
            pointer,
            span: ast.span,
        });
    }
    Ok((params, end))
}

/// Puts an object behind `end`, at its alignment, and moves `end` behind it.
pub(super) fn place(end: &mut u32, shape: &Shape, span: Span) -> Result<u32, SyntaxError> {
    let start = u64::from(*end).next_multiple_of(u64::from(shape.align));
    let next = start + shape.size;
    if next > MAX_BYTES {
        return Err(SyntaxError::new(
            span,
            format!("the declarations up to here take {next} bytes, the limit is {MAX_BYTES}"),
        ));
    }
    *end = next as u32;
    Ok(start as u32)
}

/// Size and alignment of a declared object, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// One scalar.
    pub element: u32,
    /// The whole object, 0 if a dimension is open.
    pub size: u64,
    pub align: u32,
}

impl Shape {
    pub fn new(
        ty: ast::Type,
        vector: u32,
        align: Option<u32>,
        dimensions: &ast::Dimensions,
        span: Span,
    ) -> Result<Self, SyntaxError> {
        let element = ty.bits().div_ceil(8);
        let natural = element.saturating_mul(vector.max(1));
        let align = align.unwrap_or(natural);
        if !align.is_power_of_two() || align > 1 << 20 {
            return Err(SyntaxError::new(
                span,
                format!("the alignment {align} is not a power of two up to {}", 1 << 20),
            ));
        }
        let mut size = Some(u64::from(natural));
        for dimension in dimensions {
            size = size.and_then(|size| size.checked_mul(dimension.unwrap_or(0)));
        }
        match size {
            Some(size) if size <= MAX_BYTES => Ok(Self { element, size, align }),
            _ => Err(SyntaxError::new(span, format!("the object is larger than {MAX_BYTES} bytes"))),
        }
    }
}

/// A variable without its initialiser; `None` for textures and the like.
pub(super) fn variable(ast: &ast::Variable<'_>) -> Result<Option<Variable>, SyntaxError> {
    let Some(element) = ty(ast.ty) else {
        return Ok(None);
    };
    let mut shape = Shape::new(ast.ty, ast.vector, ast.align, &ast.dimensions, ast.span)?;
    // `x[] = {…}` is as long as its list; deeper open dimensions have no meaning
    if ast.dimensions.first() == Some(&None)
        && let Some(ast::Initializer::List(list)) = &ast.initializer
    {
        let mut dimensions = ast.dimensions.clone();
        dimensions[0] = Some(list.len() as u64);
        shape = Shape::new(ast.ty, ast.vector, ast.align, &dimensions, ast.span)?;
    }
    Ok(Some(Variable {
        name: ast.name.text.to_owned(),
        space: space(ast.space),
        linkage: linkage(ast.linkage),
        ty: element,
        size: shape.size,
        align: shape.align,
        initializer: None,
        shared_offset: None,
        span: ast.name.span,
    }))
}

/// The contents that an initialiser describes. Missing elements are zero.
pub(super) fn initializer<'src>(
    variable: &Variable,
    ast: &ast::Variable<'src>,
    initializer: &ast::Initializer<'src>,
    scopes: &Scopes<'src>,
) -> Result<Initializer, SyntaxError> {
    if variable.space == Space::Shared {
        return Err(SyntaxError::new(
            ast.span,
            format!("`{}` lies in .shared space, which has no initial contents", variable.name),
        ));
    }
    let mut writer = Writer {
        variable,
        ast,
        scopes,
        contents: Initializer { bytes: vec![0; variable.size as usize], relocations: Vec::new() },
    };
    let mut dimensions: Vec<u64> = ast.dimensions.iter().map(|d| d.unwrap_or(0)).collect();
    if ast.dimensions.first() == Some(&None) {
        let inner: u64 = dimensions.iter().skip(1).product();
        let element = u64::from(variable.ty.bytes()) * u64::from(ast.vector.max(1));
        dimensions[0] = variable.size.checked_div(inner.saturating_mul(element)).unwrap_or(0);
    }
    if ast.vector > 1 {
        dimensions.push(u64::from(ast.vector));
    }
    writer.write(initializer, &dimensions, 0)?;
    Ok(writer.contents)
}

struct Writer<'a, 'src> {
    variable: &'a Variable,
    ast: &'a ast::Variable<'src>,
    scopes: &'a Scopes<'src>,
    contents: Initializer,
}

impl Writer<'_, '_> {
    fn write(
        &mut self,
        value: &ast::Initializer<'_>,
        dimensions: &[u64],
        offset: u64,
    ) -> Result<(), SyntaxError> {
        match (value, dimensions.split_first()) {
            (ast::Initializer::List(list), Some((&count, inner))) => {
                if list.len() as u64 > count {
                    return Err(self.error(format!(
                        "the initialiser has {} elements, `{}` has {count}",
                        list.len(),
                        self.variable.name
                    )));
                }
                let stride = inner.iter().product::<u64>() * u64::from(self.variable.ty.bytes());
                for (index, element) in list.iter().enumerate() {
                    self.write(element, inner, offset + index as u64 * stride)?;
                }
                Ok(())
            }
            // a scalar may stand in braces
            (ast::Initializer::List(list), None) => match list.as_slice() {
                [] => Ok(()),
                [one] => self.write(one, &[], offset),
                _ => Err(self.error(format!(
                    "the initialiser has {} elements, `{}` is a single value",
                    list.len(),
                    self.variable.name
                ))),
            },
            (ast::Initializer::Number(number), _) => self.number(*number, offset),
            (ast::Initializer::Address(address), _) => self.address(address, offset),
            (ast::Initializer::Property(..), _) => {
                Err(self.error("only textures and samplers have properties".to_owned()))
            }
        }
    }

    fn error(&self, message: String) -> SyntaxError {
        SyntaxError::new(self.ast.span, message)
    }

    fn number(&mut self, number: ast::Immediate, offset: u64) -> Result<(), SyntaxError> {
        let ty = self.variable.ty;
        let Some(bits) = super::operand::immediate_bits(number, ty) else {
            return Err(self.error(format!("a number of this kind is no .{}", ty.name())));
        };
        let (start, size) = (offset as usize, ty.bytes() as usize);
        let wide = u128::from(bits).to_le_bytes();
        // offsets come from the declared dimensions, so the slice is there
        if let Some(bytes) = self.contents.bytes.get_mut(start..start + size) {
            bytes.copy_from_slice(&wide[..size]);
        }
        Ok(())
    }

    fn address(&mut self, address: &ast::AddressInitializer<'_>, offset: u64) -> Result<(), SyntaxError> {
        let symbol = address.symbol;
        let target = match self.scopes.get(symbol.text) {
            Some(Binding::Variable(id)) if address.generic => RelocationTarget::Generic(id),
            Some(Binding::Variable(id)) => RelocationTarget::Variable(id),
            Some(Binding::Function(id)) => RelocationTarget::Function(id),
            Some(_) => {
                return Err(SyntaxError::new(
                    symbol.span,
                    format!("`{}` has no address that an initialiser could take", symbol.text),
                ));
            }
            None => return Err(not_declared(symbol.text, symbol.span)),
        };
        let element = self.variable.ty.bytes();
        let (shift, size) = match address.mask {
            None if element >= 4 => (0, element),
            None => {
                return Err(SyntaxError::new(
                    symbol.span,
                    format!("an address does not fit into an element of .{}", self.variable.ty.name()),
                )
                .help("`0xFF(symbol)` is its lowest byte"));
            }
            Some(mask) if mask.checked_shr(mask.trailing_zeros()) == Some(0xFF) => (mask.trailing_zeros(), 1),
            Some(mask) => {
                return Err(SyntaxError::new(
                    symbol.span,
                    format!("the mask {mask:#x} does not select one byte of the address"),
                ));
            }
        };
        self.contents.relocations.push(Relocation { offset, size, shift, target, addend: address.offset });
        Ok(())
    }
}

/// The space of a declaration.
pub(super) fn space(space: ast::Space) -> Space {
    match space {
        ast::Space::Global => Space::Global,
        ast::Space::Const => Space::Const,
        ast::Space::Shared => Space::Shared,
        ast::Space::Local => Space::Local,
        ast::Space::Param => Space::Param,
        ast::Space::Reg | ast::Space::Sreg | ast::Space::Tex => Space::Generic,
    }
}

fn linkage(linkage: Option<ast::Linkage>) -> Linkage {
    match linkage {
        None => Linkage::Internal,
        Some(ast::Linkage::Visible) => Linkage::Visible,
        Some(ast::Linkage::Extern) => Linkage::Extern,
        Some(ast::Linkage::Weak) => Linkage::Weak,
        Some(ast::Linkage::Common) => Linkage::Common,
    }
}

fn bounds(ast: &ast::Function<'_>) -> LaunchBounds {
    let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let axes = |name| {
        let numbers = ast.directive(name)?;
        let axis = |i: usize| numbers.get(i).map_or(1, |&n| narrow(n));
        Some([axis(0), axis(1), axis(2)])
    };
    let one = |name| Some(narrow(*ast.directive(name)?.first()?));
    LaunchBounds {
        max_ntid: axes("maxntid"),
        req_ntid: axes("reqntid"),
        min_ctas_per_sm: one("minnctapersm"),
        max_registers: one("maxnreg"),
        req_cluster: axes("reqnctapercluster"),
    }
}
