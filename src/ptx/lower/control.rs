//! Branches, returns and sleeping.

use super::function::Body;
use super::modifiers::Modifiers;
use super::scope::Binding;
use super::{Lowered, Stop, not_declared};
use crate::ptx::ast::{self, OperandKind};
use crate::ptx::ir::*;
use crate::ptx::source::Span;

impl<'src> Body<'_, '_, 'src> {
    /// The number of a label; `finish` turns it into an index.
    fn label(&self, name: &str, span: Span) -> Lowered<u32> {
        match self.module.scopes.get(name) {
            Some(Binding::Label(number)) => Ok(number),
            Some(_) => self.error(span, format!("`{name}` is no label")),
            None => Err(not_declared(name, span).into()),
        }
    }

    pub(super) fn bra(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let uniform = m.flag("uni");
        m.finish()?;
        let [target] = self.operands(i)?;
        let OperandKind::Symbol(name) = target.kind else {
            return self.error(target.span, "`bra` goes to a label");
        };
        let target = self.label(name, target.span)?;
        self.push(Op::Branch { target, uniform });
        Ok(())
    }

    pub(super) fn brx(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        if !m.flag("idx") {
            return Err(Stop::Unsupported);
        }
        let uniform = m.flag("uni");
        m.finish()?;
        let [index, list] = self.operands(i)?;
        let index = self.value(index, Type::U32)?;
        let OperandKind::Symbol(name) = list.kind else {
            return self.error(list.span, "`brx.idx` goes to a list of labels");
        };
        let Binding::BranchTargets(names) = self.lookup(name, list.span)? else {
            return self.error(list.span, format!("`{name}` is no list of labels"));
        };
        let targets = names.iter().map(|name| self.label(name, list.span));
        let targets = targets.collect::<Lowered<Box<[u32]>>>()?;
        self.push(Op::BranchIndexed { index, targets, uniform });
        Ok(())
    }

    pub(super) fn ret(&mut self, m: &mut Modifiers) -> Lowered<()> {
        m.flag("uni");
        m.finish()?;
        self.store_returns();
        self.push(Op::Return);
        Ok(())
    }

    pub(super) fn nanosleep(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [duration] = self.operands(i)?;
        let duration = self.value(duration, ty)?;
        self.push(Op::NanoSleep { duration });
        Ok(())
    }
}
