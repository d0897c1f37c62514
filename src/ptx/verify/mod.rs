//! Verification: what an executor may rely on after it, so that it can index without a check and match
//! on types without a fallback.
//!
//! Here stand the module and the function as a whole; instructions are in `instruction`, the types each
//! may have in `types`.

mod cooperation;
mod instruction;
mod memory;
mod types;

use super::ir::*;
use super::source::{Span, SyntaxError};

type Verified = Result<(), SyntaxError>;

/// Checks that a module keeps the [rules of the representation](super::ir): registers exist and have the
/// width that the instruction needs, types are among those the instruction has, branch targets,
/// variables, parameters and byte ranges exist, vectors have a legal length, constants fit.
///
/// Lowering leaves these to this place because they are what a PTX assembler refuses as a whole; a
/// [`Module`] built in another way is checked by the same rules.
///
/// # Errors
/// The first violation, with its place: `add.u64` on registers of 32 bits, for example.
pub fn verify(module: &Module) -> Result<(), SyntaxError> {
    for variable in &module.variables {
        verify_variable(module, variable)?;
    }
    for function in &module.functions {
        Checker { module, function, inst: None }.function()?;
    }
    Ok(())
}

fn verify_variable(module: &Module, variable: &Variable) -> Verified {
    let error = |message: String| Err(SyntaxError::new(variable.span, message));
    let is_static = variable.space == Space::Shared && !variable.is_dynamic_shared();
    if variable.shared_offset.is_some() != is_static {
        return error(format!("`{}` has no place in shared memory", variable.name));
    }
    let Some(initializer) = &variable.initializer else {
        return Ok(());
    };
    if initializer.bytes.len() as u64 != variable.size {
        return error(format!(
            "`{}` has {} bytes, its initialiser {}",
            variable.name,
            variable.size,
            initializer.bytes.len()
        ));
    }
    for relocation in &initializer.relocations {
        let end = relocation.offset.checked_add(u64::from(relocation.size));
        let known = match relocation.target {
            RelocationTarget::Variable(id) | RelocationTarget::Generic(id) => {
                (id.0 as usize) < module.variables.len()
            }
            RelocationTarget::Function(id) => (id.0 as usize) < module.functions.len(),
        };
        if !known || end.is_none_or(|end| end > variable.size) || relocation.shift >= 64 {
            return error(format!("an address in `{}` has no place", variable.name));
        }
        if ![1, 4, 8].contains(&relocation.size) {
            return error(format!(
                "an address does not fit the {} bytes of an element of `{}`",
                relocation.size, variable.name
            ));
        }
    }
    Ok(())
}

/// The function and, within the code, the instruction under check.
#[derive(Clone, Copy)]
struct Checker<'a> {
    module: &'a Module,
    function: &'a Function,
    inst: Option<&'a Inst>,
}

impl<'a> Checker<'a> {
    fn function(self) -> Verified {
        let function = self.function;
        self.blocks()?;
        if function.defined == function.code.is_empty() {
            return self.error("a definition has code, a declaration has none");
        }
        if let Some(last) = function.code.last()
            && last.successors().falls_through
        {
            return self.error("control runs off the end of the code");
        }
        if function.labels.iter().any(|label| !self.is_target(label.target)) {
            return self.error("a label stands before no instruction");
        }
        for inst in &function.code {
            Checker { inst: Some(inst), ..self }.instruction()?;
        }
        Ok(())
    }

    /// Every parameter and local variable lies within its block.
    fn blocks(self) -> Verified {
        let function = self.function;
        for (params, bytes) in [
            (&function.params, function.param_bytes),
            (&function.returns, function.return_bytes),
            (&function.call_params, function.call_bytes),
        ] {
            for param in params {
                if !inside(param.offset, param.size, bytes) {
                    return self.error("a parameter lies outside of its block");
                }
            }
        }
        let outside = |local: &LocalVariable| !inside(local.offset, local.size, function.local_bytes);
        match function.locals.iter().any(outside) {
            true => self.error("a local variable lies outside of the frame"),
            false => Ok(()),
        }
    }

    fn span(&self) -> Span {
        self.inst.map_or(self.function.span, |inst| inst.span)
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(self.span(), message))
    }

    fn is_target(&self, target: u32) -> bool {
        (target as usize) < self.function.code.len()
    }

    fn target(&self, target: u32) -> Verified {
        match self.is_target(target) {
            true => Ok(()),
            false => self.error(format!("there is no instruction {target} to branch to")),
        }
    }

    /// The name of a register as the text has it, or its readable form.
    fn name(&self, reg: Reg) -> String {
        self.function.register_name(reg).unwrap_or_else(|| reg.to_string())
    }

    /// The register exists.
    fn exists(&self, reg: Reg) -> Verified {
        let count = self.function.registers.count(reg.class());
        match reg.index < count {
            true => Ok(()),
            false => self.error(format!("there is no register {reg}, the class has {count}")),
        }
    }

    /// The register has exactly this width.
    fn reg(&self, reg: Reg, width: Width) -> Verified {
        self.exists(reg)?;
        match reg.width == width {
            true => Ok(()),
            false => {
                self.error(format!("`{}` {} where {} needed", self.name(reg), has(reg.width), needs(width)))
            }
        }
    }

    /// A register of a width that holds `ty`.
    fn typed(&self, reg: Reg, ty: Type) -> Verified {
        match ty.width() {
            Some(width) => self.reg(reg, width),
            None => self.error(format!("no register holds a value of .{}", ty.name())),
        }
    }

    /// A register of `ty`'s width or more, no predicate.
    fn wide_enough(&self, reg: Reg, ty: Type) -> Verified {
        self.exists(reg)?;
        let is_predicate = [reg.width, ty.width().unwrap_or(Width::B8)].contains(&Width::Predicate);
        match !is_predicate && reg.width.bits() >= ty.bits() {
            true => Ok(()),
            false => self.error(format!(
                "`{}` {} where at least {} are needed",
                self.name(reg),
                has(reg.width),
                ty.bits()
            )),
        }
    }

    /// A value of exactly this width.
    fn value(&self, operand: Operand, width: Width) -> Verified {
        match operand {
            Operand::Reg(reg) => self.reg(reg, width),
            Operand::Imm(bits) => match width.bits() {
                128 => self.error("128 bits cannot be a constant"),
                64 => Ok(()),
                size if bits >> size == 0 => Ok(()),
                size => self.error(format!("the constant {bits:#x} has more than {size} bits")),
            },
        }
    }

    /// A value of `ty`.
    fn typed_value(&self, operand: Operand, ty: Type) -> Verified {
        match ty.width() {
            Some(width) => self.value(operand, width),
            None => self.error(format!("no register holds a value of .{}", ty.name())),
        }
    }

    fn values(&self, operands: &[Operand], ty: Type) -> Verified {
        operands.iter().try_for_each(|operand| self.typed_value(*operand, ty))
    }

    fn word(&self, operand: Operand) -> Verified {
        self.value(operand, Width::B32)
    }

    fn predicate(&self, operand: PredicateOperand) -> Verified {
        self.value(operand.value, Width::Predicate)
    }

    fn maybe_reg(&self, reg: Option<Reg>, width: Width) -> Verified {
        reg.map_or(Ok(()), |reg| self.reg(reg, width))
    }
}

/// Do `size` bytes at `offset` lie within `limit`?
fn inside(offset: u32, size: u32, limit: u32) -> bool {
    offset.checked_add(size).is_some_and(|end| end <= limit)
}

fn has(width: Width) -> String {
    match width {
        Width::Predicate => "is a predicate".to_owned(),
        width => format!("has {} bits", width.bits()),
    }
}

fn needs(width: Width) -> String {
    match width {
        Width::Predicate => "a predicate is".to_owned(),
        width => format!("{} are", width.bits()),
    }
}
