//! A function's body: statements in order, scopes, labels, registers, frames. Instructions are handed
//! on to `instruction`.

use std::collections::HashMap;

use super::declare;
use super::scope::Binding;
use super::{Lowering, Stop, declared_twice, not_declared};
use crate::ptx::ast;
use crate::ptx::ir::*;
use crate::ptx::source::{Span, SyntaxError};

/// The most registers a function may declare; far above what any compiler emits, and small enough that
/// a register file is never an allocation problem by itself.
pub(super) const MAX_REGISTERS: u32 = 1 << 20;

/// A function under construction.
pub(super) struct Body<'m, 'a, 'src> {
    pub module: &'m mut Lowering<'a, 'src>,
    pub kind: FunctionKind,
    pub params: Vec<Param>,
    pub returns: Vec<Param>,
    pub code: Vec<Inst>,
    pub call_params: Vec<Param>,
    pub prototypes: Vec<Prototype>,
    pub(super) registers: RegisterFile,
    pub(super) register_names: Vec<RegisterNames>,
    pub(super) locals: Vec<LocalVariable>,
    pub(super) local_end: u32,
    pub(super) local_align: u32,
    pub(super) call_end: u32,
    pub(super) call_bytes: u32,
    labels: Vec<PlacedLabel>,
    /// Parameters of a device function whose address is taken, with the local variable they are
    /// copied to on entry.
    pub(super) in_copies: HashMap<u32, u32>,
    /// Return values declared as registers: stored to the `Out` block before each return.
    pub(super) out_registers: Vec<(u32, Reg, Type)>,
    unsupported: Option<Unsupported>,
    pub guard: Option<Guard>,
    pub span: Span,
    pub line: u32,
    location: Option<LocationId>,
}

struct PlacedLabel {
    name: String,
    span: Span,
    position: Option<u32>,
}

/// A `.callprototype`.
pub(super) struct Prototype {
    pub params: Vec<Param>,
    pub returns: Vec<Param>,
}

/// Lowers the body of `ast` into the function `id` of the module.
pub(super) fn lower_body<'a, 'src>(
    module: &mut Lowering<'a, 'src>,
    id: FunctionId,
    ast: &'a ast::Function<'src>,
) -> Result<(), SyntaxError> {
    let Some(block) = &ast.body else {
        return Ok(());
    };
    let function = &mut module.functions[id.0 as usize];
    let (kind, params, returns) = (function.kind, function.params.clone(), function.returns.clone());
    let unsupported = function.unsupported.take();
    module.scopes.enter();
    let mut body = Body {
        module,
        kind,
        params,
        returns,
        code: Vec::new(),
        call_params: Vec::new(),
        prototypes: Vec::new(),
        registers: RegisterFile::default(),
        register_names: Vec::new(),
        locals: Vec::new(),
        local_end: 0,
        local_align: 1,
        call_end: 0,
        call_bytes: 0,
        labels: Vec::new(),
        in_copies: HashMap::new(),
        out_registers: Vec::new(),
        unsupported,
        guard: None,
        span: ast.name.span,
        line: 0,
        location: None,
    };
    body.line = body.module.source.line(ast.name.span.start);
    body.declare_parameters(ast)?;
    body.block(block)?;
    body.finish(block)?;
    let Body {
        code,
        call_params,
        registers,
        register_names,
        locals,
        local_end,
        local_align,
        call_bytes,
        labels,
        unsupported,
        ..
    } = body;
    module.scopes.leave();
    let function = &mut module.functions[id.0 as usize];
    function.labels = labels
        .into_iter()
        .filter_map(|label| Some(Label { name: label.name, target: label.position? }))
        .collect();
    function.code = code;
    function.call_params = call_params;
    function.call_bytes = call_bytes;
    function.registers = registers;
    function.register_names = register_names;
    function.locals = locals;
    function.local_bytes = local_end;
    function.local_align = local_align;
    function.unsupported = unsupported;
    Ok(())
}

impl<'src> Body<'_, '_, 'src> {
    /// Adds an instruction under the current guard, at the current place.
    pub fn push(&mut self, op: Op) {
        let (guard, span, line, location) = (self.guard, self.span, self.line, self.location);
        self.code.push(Inst { guard, op, span, line, location });
    }

    /// A fresh register without a name.
    pub fn temporary(&mut self, width: Width) -> Reg {
        let count = match width.class() {
            RegClass::Predicate => &mut self.registers.predicates,
            RegClass::Slot32 => &mut self.registers.slots32,
            RegClass::Slot64 => &mut self.registers.slots64,
            RegClass::Slot128 => &mut self.registers.slots128,
        };
        let reg = Reg { width, index: *count };
        *count += 1;
        reg
    }

    /// Stores what `ret` returns in registers.
    pub fn store_returns(&mut self) {
        for (index, reg, ty) in self.out_registers.clone() {
            self.store_param(Operand::Reg(reg), ty, ParamBlock::Out, index);
        }
    }

    pub(super) fn bind(&mut self, name: ast::Name<'src>, binding: Binding) -> Result<(), SyntaxError> {
        match self.module.scopes.bind(name.text, binding) {
            true => Ok(()),
            false => Err(declared_twice(name)),
        }
    }

    fn block(&mut self, block: &ast::Block<'src>) -> Result<(), SyntaxError> {
        // names end with their scope, and so does the space of call parameters
        let call_end = self.call_end;
        self.module.scopes.enter();
        self.declare_labels(block)?;
        for statement in &block.statements {
            self.statement(statement)?;
        }
        self.module.scopes.leave();
        self.call_end = call_end;
        Ok(())
    }

    /// Labels, target lists and prototypes are known in all of their scope, before and behind them.
    fn declare_labels(&mut self, block: &ast::Block<'src>) -> Result<(), SyntaxError> {
        let names = |names: &[ast::Name<'_>]| names.iter().map(|n| n.text.to_owned()).collect();
        for statement in &block.statements {
            match statement {
                ast::Statement::Label(name) => {
                    let number = self.labels.len() as u32;
                    let text = name.text.to_owned();
                    self.labels.push(PlacedLabel { name: text, span: name.span, position: None });
                    self.bind(*name, Binding::Label(number))?;
                }
                ast::Statement::Targets(targets) => {
                    let list = names(&targets.targets);
                    let binding = match targets.kind {
                        ast::TargetKind::Branch => Binding::BranchTargets(list),
                        ast::TargetKind::Call => Binding::CallTargets(list),
                    };
                    self.bind(targets.label, binding)?;
                }
                ast::Statement::Prototype(prototype) => {
                    let number = self.prototypes.len();
                    let mut unsupported = None;
                    let (params, _) = declare::block(&prototype.parameters, &mut unsupported)?;
                    let (returns, _) = declare::block(&prototype.returns, &mut unsupported)?;
                    self.prototypes.push(Prototype { params, returns });
                    let binding = match unsupported {
                        None => Binding::Prototype(number),
                        Some(_) => Binding::Unsupported,
                    };
                    self.bind(prototype.label, binding)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &ast::Statement<'src>) -> Result<(), SyntaxError> {
        match statement {
            ast::Statement::Instruction(instruction) => self.statement_instruction(instruction),
            ast::Statement::Label(name) => {
                let position = self.code.len() as u32;
                if let Some(Binding::Label(number)) = self.module.scopes.get(name.text) {
                    self.labels[number as usize].position = Some(position);
                }
                Ok(())
            }
            ast::Statement::Registers(registers) => self.declare_registers(registers),
            ast::Statement::Variable(variable) => self.declare_variable(variable),
            ast::Statement::Block(block) => self.block(block),
            ast::Statement::Location(location) => {
                self.location = Some(self.module.locations.add(location));
                Ok(())
            }
            ast::Statement::Unknown(word) => {
                self.mark_unsupported(format!(".{}", word.text), word.span);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn mark_unsupported(&mut self, what: String, span: Span) {
        if self.unsupported.is_none() {
            let line = self.module.source.line(span.start);
            self.unsupported = Some(Unsupported { what, span, line });
        }
    }

    /// An instruction that is not supported leaves its words in place of its code.
    fn statement_instruction(&mut self, ast: &ast::Instruction<'src>) -> Result<(), SyntaxError> {
        self.span = ast.span;
        self.line = self.module.source.line(ast.span.start);
        self.guard = None;
        if let Some(guard) = &ast.guard {
            let predicate = match self.module.scopes.get(guard.register.text) {
                Some(Binding::Register(reg)) => reg,
                Some(_) => {
                    return Err(SyntaxError::new(
                        guard.register.span,
                        format!("`{}` is no predicate", guard.register.text),
                    ));
                }
                None => return Err(not_declared(guard.register.text, guard.register.span)),
            };
            self.guard = Some(Guard { predicate, negated: guard.negated });
        }
        let start = self.code.len();
        match self.instruction(ast) {
            Ok(()) => Ok(()),
            Err(Stop::Error(error)) => Err(*error),
            Err(Stop::Unsupported) => {
                self.code.truncate(start);
                let end = ast.modifiers.0.last().map_or(ast.opcode.span, |word| word.span);
                let words = self.module.source.text(ast.opcode.span.to(end));
                self.push(Op::Unsupported(words.into()));
                Ok(())
            }
        }
    }

    /// Ends the code, puts copies of parameters before it and resolves branch targets.
    fn finish(&mut self, block: &ast::Block<'src>) -> Result<(), SyntaxError> {
        let end = self.code.len() as u32;
        let open = self.labels.iter().any(|label| label.position == Some(end))
            || self.code.last().is_none_or(|last| last.successors().falls_through);
        if open {
            self.guard = None;
            self.span = Span::new(block.span.end.saturating_sub(1), block.span.end);
            self.line = self.module.source.line(self.span.start);
            self.store_returns();
            self.push(Op::Return);
        }
        let prologue = self.parameter_copies();
        let shift = prologue.len() as u32;
        self.code.splice(0..0, prologue);
        for label in &mut self.labels {
            label.position = label.position.map(|position| position + shift);
        }
        let labels = &self.labels;
        let resolve = |number: &mut u32, span| {
            let label = labels.get(*number as usize);
            match label.and_then(|label| label.position) {
                Some(position) => {
                    *number = position;
                    Ok(())
                }
                None => Err(SyntaxError::new(
                    label.map_or(span, |label| label.span),
                    "this label does not stand before an instruction",
                )),
            }
        };
        for inst in &mut self.code {
            match &mut inst.op {
                Op::Branch { target, .. } => resolve(target, inst.span)?,
                Op::BranchIndexed { targets, .. } => {
                    for target in targets {
                        resolve(target, inst.span)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn parameter_copies(&mut self) -> Vec<Inst> {
        let mut copies: Vec<(u32, u32)> = self.in_copies.iter().map(|(&p, &l)| (p, l)).collect();
        copies.sort_unstable();
        let body = std::mem::take(&mut self.code);
        self.guard = None;
        self.location = None;
        for (index, local) in copies {
            let param = self.params[index as usize].clone();
            let mut offset = 0;
            while offset < param.size {
                // the widest piece that the remaining bytes and the parameter's alignment allow
                let left = param.size - offset;
                let width = [8, 4, 2, 1]
                    .into_iter()
                    .find(|w| *w <= left && *w <= param.align && offset % w == 0)
                    .unwrap_or(1);
                self.copy_piece(index, local, offset, width);
                offset += width;
            }
        }
        std::mem::replace(&mut self.code, body)
    }

    fn copy_piece(&mut self, param: u32, local: u32, offset: u32, bytes: u32) {
        let (ty, width) = match bytes {
            8 => (Type::B64, Width::B64),
            4 => (Type::B32, Width::B32),
            2 => (Type::B16, Width::B16),
            _ => (Type::B8, Width::B8),
        };
        let reg = self.temporary(width);
        let at = |symbol| Address { base: AddressBase::Symbol(symbol), offset: i64::from(offset) };
        self.push(Op::Load(Box::new(Load {
            space: Space::Param,
            ordering: WEAK,
            cache: CacheOp::Default,
            non_coherent: false,
            uniform: false,
            ty,
            dsts: smallvec::smallvec![Some(reg)],
            address: at(Symbol::Param(ParamBlock::In, param)),
        })));
        self.push(Op::Store(Box::new(Store {
            space: Space::Local,
            ordering: WEAK,
            cache: CacheOp::Default,
            ty,
            srcs: smallvec::smallvec![Operand::Reg(reg)],
            address: at(Symbol::Local(local)),
        })));
    }
}

/// The order of an access without modifiers.
pub(super) const WEAK: Ordering = Ordering { order: MemoryOrder::Weak, scope: None };
