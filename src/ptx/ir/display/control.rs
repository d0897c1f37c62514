//! Calls, branches, barriers, lanes.

use std::fmt;

use super::Line;
use crate::ptx::ir::*;

impl Line<'_, '_> {
    pub(super) fn call(&mut self, call: &Call) -> fmt::Result {
        self.opcode("call")?;
        self.flag(call.uniform, "uni")?;
        let list = |copies: &[ParamCopy]| {
            let names: Vec<String> = copies.iter().map(|c| format!("call{}", c.call_param)).collect();
            format!("({})", names.join(", "))
        };
        self.operand(list(&call.rets))?;
        match &call.target {
            CallTarget::Direct(id) => self.operand(Symbol::Function(*id))?,
            CallTarget::Intrinsic(intrinsic) => {
                self.operand(format!("{intrinsic:?}").to_lowercase())?;
            }
            CallTarget::Indirect { pointer, candidates } => {
                self.operand(pointer)?;
                if let Some(list) = candidates {
                    let names: Vec<String> =
                        list.iter().map(|id| Symbol::Function(*id).to_string()).collect();
                    self.operand(format!("of {{{}}}", names.join(", ")))?;
                }
            }
        }
        self.operand(list(&call.args))
    }

    pub(super) fn control(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Branch { target, uniform } => {
                self.opcode("bra")?;
                self.flag(*uniform, "uni")?;
                self.operand(format!("@{target}"))
            }
            Op::BranchIndexed { index, targets, uniform } => {
                self.opcode("brx")?;
                self.flag(*uniform, "uni")?;
                self.operand(index)?;
                let targets: Vec<String> = targets.iter().map(|t| format!("@{t}")).collect();
                self.operand(format!("{{{}}}", targets.join(", ")))
            }
            Op::Return => self.opcode("ret"),
            Op::Exit => self.opcode("exit"),
            Op::Trap => self.opcode("trap"),
            Op::Breakpoint => self.opcode("brkpt"),
            Op::NanoSleep { duration } => {
                self.opcode("nanosleep")?;
                self.operand(duration)
            }
            Op::Barrier(barrier) => self.barrier(barrier),
            Op::WarpBarrier { mask } => {
                self.opcode("bar.warp.sync")?;
                self.operand(mask)
            }
            Op::Shuffle { mode, mask, dst, predicate, a, b, c } => {
                self.opcode("shfl")?;
                self.flag(mask.is_some(), "sync")?;
                self.word(mode)?;
                self.pair(*dst, *predicate)?;
                self.operands(&[a, b, c])?;
                self.maybe(*mask)
            }
            Op::Vote { mode, mask, dst, source } => {
                self.opcode("vote")?;
                self.flag(mask.is_some(), "sync")?;
                self.word(mode)?;
                self.operands(&[dst, source])?;
                self.maybe(*mask)
            }
            Op::Match { all, ty, dst, predicate, a, mask } => {
                self.opcode(if *all { "match.all" } else { "match.any" })?;
                self.ty(*ty)?;
                self.pair(*dst, *predicate)?;
                self.operands(&[a, mask])
            }
            Op::Reduce { op, ty, absolute, nan, dst, a, mask } => {
                self.opcode("redux")?;
                self.word(op)?;
                self.flag(*absolute, "abs")?;
                self.flag(*nan, "NaN")?;
                self.ty(*ty)?;
                self.operands(&[dst, a, mask])
            }
            Op::ActiveMask { dst } => {
                self.opcode("activemask")?;
                self.operand(dst)
            }
            Op::Elect { dst, predicate, mask } => {
                self.opcode("elect")?;
                self.pair(*dst, *predicate)?;
                self.operand(mask)
            }
            Op::Unsupported(text) => write!(self.f, "unsupported `{text}`"),
            _ => Ok(()),
        }
    }

    fn barrier(&mut self, barrier: &Barrier) -> fmt::Result {
        self.opcode(if barrier.aligned { "bar" } else { "barrier" })?;
        match &barrier.op {
            BarrierOp::Reduce { op, dst, source } => {
                self.opcode(".red")?;
                self.word(op)?;
                self.operands(&[dst, &barrier.id])?;
                self.maybe(barrier.threads)?;
                self.operand(source)
            }
            op => {
                self.word(op)?;
                self.operand(barrier.id)?;
                self.maybe(barrier.threads)
            }
        }
    }
}
