//! Calls: direct, through pointers, and to functions that the device provides.

use super::function::Body;
use super::modifiers::Modifiers;
use super::scope::Binding;
use super::{Lowered, Stop};
use crate::ptx::ast::{self, Operand as AstOperand, OperandKind};
use crate::ptx::ir::*;

/// What is called and what it takes.
struct Callee {
    target: CallTarget,
    params: Vec<Param>,
    returns: Vec<Param>,
}

impl<'src> Body<'_, '_, 'src> {
    /// `call (results), callee, (arguments), prototype;` where each list may be absent.
    pub(super) fn call(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let uniform = m.flag("uni");
        m.finish()?;
        let mut rest = i.operands.as_slice();
        let results = take_list(&mut rest);
        let Some((callee, after)) = rest.split_first() else {
            return self.error(i.span, "`call` names no function");
        };
        rest = after;
        let arguments = take_list(&mut rest);
        let signature = match rest {
            [] => None,
            [one] => Some(one),
            [_, extra, ..] => return self.error(extra.span, "nothing belongs here"),
        };
        let callee = self.callee(callee, signature)?;
        for (what, given, wanted) in
            [("arguments", arguments, &callee.params), ("results", results, &callee.returns)]
        {
            if given.len() != wanted.len() {
                return self.error(
                    i.span,
                    format!("the function has {} {what}, the call {}", wanted.len(), given.len()),
                );
            }
        }
        let mut args = smallvec::SmallVec::new();
        for (argument, param) in arguments.iter().zip(&callee.params) {
            args.push(self.argument(argument, param)?);
        }
        let mut rets = smallvec::SmallVec::new();
        let mut loads = Vec::new();
        for (result, param) in results.iter().zip(&callee.returns) {
            let (copy, register) = self.result(result, param)?;
            loads.extend(register.map(|register| (register, param.ty, copy.call_param)));
            rets.push(copy);
        }
        self.push(Op::Call(Box::new(Call { target: callee.target, args, rets, uniform })));
        for (register, ty, slot) in loads {
            self.load_param(register, ty, ParamBlock::Call, slot);
        }
        Ok(())
    }

    fn callee(
        &mut self,
        operand: &AstOperand<'src>,
        signature: Option<&AstOperand<'src>>,
    ) -> Lowered<Callee> {
        let OperandKind::Symbol(name) = operand.kind else {
            return self.error(operand.span, "`call` goes to a function or through a register");
        };
        match self.lookup(name, operand.span)? {
            Binding::Function(id) => Ok(self.direct(id)),
            Binding::Register(pointer) => match signature {
                Some(signature) => self.indirect(Operand::Reg(pointer), signature),
                None => self.error(operand.span, "a call through a register needs a prototype"),
            },
            _ => self.error(operand.span, format!("`{name}` is no function")),
        }
    }

    fn direct(&self, id: FunctionId) -> Callee {
        let function = &self.module.functions[id.0 as usize];
        let target = match intrinsic(function) {
            Some(intrinsic) => CallTarget::Intrinsic(intrinsic),
            None => CallTarget::Direct(id),
        };
        Callee { target, params: function.params.clone(), returns: function.returns.clone() }
    }

    fn indirect(&mut self, pointer: Operand, signature: &AstOperand<'src>) -> Lowered<Callee> {
        let OperandKind::Symbol(name) = signature.kind else {
            return self.error(signature.span, "a prototype or a list of functions belongs here");
        };
        match self.lookup(name, signature.span)? {
            Binding::Prototype(number) => {
                let prototype = &self.prototypes[number];
                Ok(Callee {
                    target: CallTarget::Indirect { pointer, candidates: None },
                    params: prototype.params.clone(),
                    returns: prototype.returns.clone(),
                })
            }
            Binding::CallTargets(names) => {
                let mut candidates = Vec::new();
                for name in &names {
                    match self.lookup(name, signature.span)? {
                        Binding::Function(id) => candidates.push(id),
                        _ => return self.error(signature.span, format!("`{name}` is no function")),
                    }
                }
                let Some(first) = candidates.first() else {
                    return self.error(signature.span, format!("`{name}` lists no function"));
                };
                let function = &self.module.functions[first.0 as usize];
                let (params, returns) = (function.params.clone(), function.returns.clone());
                let candidates = Some(candidates.into_boxed_slice());
                Ok(Callee { target: CallTarget::Indirect { pointer, candidates }, params, returns })
            }
            _ => self.error(signature.span, format!("`{name}` is no prototype")),
        }
    }

    /// Where an argument lies in the `Call` block; a register or constant is stored there first.
    fn argument(&mut self, operand: &AstOperand<'src>, param: &Param) -> Lowered<ParamCopy> {
        if let Some(slot) = self.call_param(operand)? {
            return self.copy(operand, slot, param);
        }
        if param.array.is_some() {
            return self.error(operand.span, "an array is passed in a `.param` variable");
        }
        let value = self.value(operand, param.ty)?;
        let slot = self.call_slot(param)?;
        self.store_param(value, param.ty, ParamBlock::Call, slot);
        self.copy(operand, slot, param)
    }

    /// Where a result lies in the `Call` block, and the register to load it to, if it is one.
    fn result(&mut self, operand: &AstOperand<'src>, param: &Param) -> Lowered<(ParamCopy, Option<Reg>)> {
        if let Some(slot) = self.call_param(operand)? {
            return Ok((self.copy(operand, slot, param)?, None));
        }
        if param.array.is_some() {
            return self.error(operand.span, "an array is returned in a `.param` variable");
        }
        let register = self.optional_dst(operand)?;
        let slot = self.call_slot(param)?;
        Ok((self.copy(operand, slot, param)?, register))
    }

    fn call_param(&self, operand: &AstOperand<'src>) -> Lowered<Option<u32>> {
        let OperandKind::Symbol(name) = operand.kind else {
            return Ok(None);
        };
        match self.module.scopes.get(name) {
            Some(Binding::CallParam(slot)) => Ok(Some(slot)),
            // a function's own parameter as an argument: the manual allows it, no compiler emits it
            Some(Binding::In(_) | Binding::Out(_)) => Err(Stop::Unsupported),
            _ => Ok(None),
        }
    }

    fn copy(&self, operand: &AstOperand<'src>, slot: u32, param: &Param) -> Lowered<ParamCopy> {
        let from = &self.call_params[slot as usize];
        if from.size != param.size {
            return self.error(
                operand.span,
                format!("{} bytes stand for a parameter of {} bytes", from.size, param.size),
            );
        }
        Ok(ParamCopy {
            call_param: slot,
            caller_offset: from.offset,
            callee_offset: param.offset,
            size: param.size,
        })
    }
}

/// `(a, b)` at the front, if it is there.
fn take_list<'i, 'src>(rest: &mut &'i [AstOperand<'src>]) -> &'i [AstOperand<'src>] {
    if let Some((first, after)) = rest.split_first()
        && let OperandKind::List(list) = &first.kind
    {
        *rest = after;
        return list;
    }
    &[]
}

/// The device's own function that a declaration without a body means.
fn intrinsic(function: &Function) -> Option<Intrinsic> {
    if function.defined {
        return None;
    }
    let sizes = |params: &[Param]| params.iter().map(|p| p.size).collect::<Vec<_>>();
    let (intrinsic, params, returns): (_, &[u32], &[u32]) = match function.name.as_str() {
        "vprintf" => (Intrinsic::Vprintf, &[8, 8], &[4]),
        "__assertfail" => (Intrinsic::AssertFail, &[8, 8, 4, 8, 8], &[]),
        "malloc" => (Intrinsic::Malloc, &[8], &[8]),
        "free" => (Intrinsic::Free, &[8], &[]),
        _ => return None,
    };
    (sizes(&function.params) == params && sizes(&function.returns) == returns).then_some(intrinsic)
}
