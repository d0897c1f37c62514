//! What a body declares: parameters as registers, registers, local and static variables, space for calls.

use super::Lowered;
use super::declare::{self, Shape};
use super::declared_twice;
use super::function::{Body, MAX_REGISTERS};
use super::scope::Binding;
use crate::ptx::ast;
use crate::ptx::ir::*;
use crate::ptx::source::{Span, SyntaxError};

impl<'src> Body<'_, '_, 'src> {
    pub(super) fn declare_parameters(&mut self, ast: &ast::Function<'src>) -> Result<(), SyntaxError> {
        for (index, parameter) in ast.parameters.iter().enumerate() {
            let binding = match parameter.space {
                ast::Space::Reg => self.register_parameter(parameter, index)?,
                _ => Binding::In(index as u32),
            };
            self.bind(parameter.name, binding)?;
        }
        for (index, parameter) in ast.returns.iter().enumerate() {
            let binding = match parameter.space {
                ast::Space::Reg => {
                    let reg = self.named_register(parameter.ty, parameter.name.text);
                    let ty = self.returns[index].ty;
                    self.out_registers.push((index as u32, reg, ty));
                    Binding::Register(reg)
                }
                _ => Binding::Out(index as u32),
            };
            self.bind(parameter.name, binding)?;
        }
        Ok(())
    }

    /// `.func f(.reg .u32 a)`: the register is loaded from the block on entry.
    pub(super) fn register_parameter(
        &mut self,
        parameter: &ast::Parameter<'src>,
        index: usize,
    ) -> Result<Binding, SyntaxError> {
        let reg = self.named_register(parameter.ty, parameter.name.text);
        let ty = self.params[index].ty;
        self.load_param(reg, ty, ParamBlock::In, index as u32);
        Ok(Binding::Register(reg))
    }

    pub(super) fn named_register(&mut self, ty: ast::Type, name: &str) -> Reg {
        let first = self.temporary(width(ty));
        let name = name.to_owned();
        self.register_names.push(RegisterNames { first, count: 1, name, numbered: false });
        first
    }

    pub(super) fn declare_registers(&mut self, ast: &ast::Registers<'src>) -> Result<(), SyntaxError> {
        if declare::ty(ast.ty).is_none() {
            self.mark_unsupported(format!(".reg .{}", ast.ty), ast.span);
        }
        let width = width(ast.ty);
        for name in &ast.names {
            let vector = ast.vector.max(1);
            let count = name.count.unwrap_or(1);
            let used = self.registers.count(width.class());
            let needed = u64::from(count) * u64::from(vector) + u64::from(used);
            if needed > u64::from(MAX_REGISTERS) {
                return Err(SyntaxError::new(
                    name.name.span,
                    format!("{needed} registers of one class, the limit is {MAX_REGISTERS}"),
                ));
            }
            if vector > 1 {
                self.declare_vectors(name, width, vector)?;
                continue;
            }
            let first = Reg { width, index: used };
            for _ in 0..count {
                self.temporary(width);
            }
            let fresh = match name.count {
                Some(_) => self.module.scopes.bind_range(name.name.text, first, count),
                None => self.module.scopes.bind(name.name.text, Binding::Register(first)),
            };
            if !fresh {
                return Err(declared_twice(name.name));
            }
            let numbered = name.count.is_some();
            let name = name.name.text.to_owned();
            self.register_names.push(RegisterNames { first, count, name, numbered });
        }
        Ok(())
    }

    pub(super) fn declare_vectors(
        &mut self,
        name: &ast::RegisterName<'src>,
        width: Width,
        vector: u32,
    ) -> Result<(), SyntaxError> {
        if name.count.is_some() {
            self.mark_unsupported(format!(".reg .v{vector} {}<>", name.name.text), name.name.span);
            return Ok(());
        }
        let elements: Vec<Reg> = (0..vector).map(|_| self.temporary(width)).collect();
        for (element, axis) in elements.iter().zip(["x", "y", "z", "w"]) {
            let name = format!("{}.{axis}", name.name.text);
            self.register_names.push(RegisterNames { first: *element, count: 1, name, numbered: false });
        }
        self.bind(name.name, Binding::Vector(elements))
    }

    pub(super) fn declare_variable(&mut self, ast: &ast::Variable<'src>) -> Result<(), SyntaxError> {
        let binding = match ast.space {
            ast::Space::Local | ast::Space::Param => {
                let shape = Shape::new(ast.ty, ast.vector, ast.align, &ast.dimensions, ast.span)?;
                match (declare::ty(ast.ty), ast.space) {
                    (None, _) => Binding::Unsupported,
                    (Some(_), ast::Space::Local) => {
                        let name = ast.name.text.to_owned();
                        Binding::Local(self.add_local(name, &shape, ast.span)?)
                    }
                    (Some(ty), _) => self.call_parameter(ast, ty, &shape)?,
                }
            }
            ast::Space::Global | ast::Space::Const | ast::Space::Shared => self.static_variable(ast)?,
            _ => Binding::Unsupported,
        };
        self.bind(ast.name, binding)
    }

    /// A variable of the module that only this function can name.
    pub(super) fn static_variable(&mut self, ast: &ast::Variable<'src>) -> Result<Binding, SyntaxError> {
        let Some(mut variable) = declare::variable(ast)? else {
            return Ok(Binding::Unsupported);
        };
        if let Some(initializer) = &ast.initializer {
            let scopes = &self.module.scopes;
            variable.initializer = Some(declare::initializer(&variable, ast, initializer, scopes)?);
        }
        let id = VariableId(self.module.variables.len() as u32);
        self.module.variables.push(variable);
        Ok(Binding::Variable(id))
    }

    pub(super) fn call_parameter(
        &mut self,
        ast: &ast::Variable<'src>,
        ty: Type,
        shape: &Shape,
    ) -> Result<Binding, SyntaxError> {
        let offset = declare::place(&mut self.call_end, shape, ast.span)?;
        self.call_bytes = self.call_bytes.max(self.call_end);
        self.call_params.push(Param {
            name: ast.name.text.to_owned(),
            ty,
            array: (!ast.dimensions.is_empty()).then_some((shape.size / u64::from(shape.element)) as u32),
            offset,
            size: shape.size as u32,
            align: shape.align,
            pointer: None,
            span: ast.name.span,
        });
        Ok(Binding::CallParam(self.call_params.len() as u32 - 1))
    }

    pub(super) fn add_local(&mut self, name: String, shape: &Shape, span: Span) -> Result<u32, SyntaxError> {
        let offset = declare::place(&mut self.local_end, shape, span)?;
        self.local_align = self.local_align.max(shape.align);
        self.locals.push(LocalVariable { name, offset, size: shape.size as u32, align: shape.align });
        Ok(self.locals.len() as u32 - 1)
    }

    /// Space in the `Call` block for an argument or result that the text gives as a register.
    pub(super) fn call_slot(&mut self, like: &Param) -> Lowered<u32> {
        let shape = Shape { element: like.ty.bytes(), size: u64::from(like.size), align: like.align };
        let offset = declare::place(&mut self.call_end, &shape, self.span)?;
        self.call_bytes = self.call_bytes.max(self.call_end);
        self.call_params.push(Param {
            name: String::new(),
            offset,
            span: self.span,
            pointer: None,
            ..like.clone()
        });
        Ok(self.call_params.len() as u32 - 1)
    }

    /// The local variable that holds a device function's parameter whose address is taken: the manual
    /// puts the address into local space.
    pub(super) fn copy_of_parameter(&mut self, index: u32) -> Lowered<u32> {
        if let Some(&local) = self.in_copies.get(&index) {
            return Ok(local);
        }
        let param = &self.params[index as usize];
        let (name, align) = (param.name.clone(), param.align.max(8));
        let shape = Shape { element: 1, size: u64::from(param.size), align };
        let local = self.add_local(name, &shape, self.span)?;
        self.in_copies.insert(index, local);
        Ok(local)
    }
}

/// The register width that a declared type takes; handles of textures are 64 bits.
fn width(ty: ast::Type) -> Width {
    match ty.bits() {
        1 => Width::Predicate,
        8 => Width::B8,
        16 => Width::B16,
        32 => Width::B32,
        128 => Width::B128,
        _ => Width::B64,
    }
}
