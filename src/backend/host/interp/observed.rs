//! The loop for launches that are watched: statistics and strict mode. Every instruction runs from the IR, and is
//! told to the observers before it runs.

use super::access::Raise;
use super::context::Context;
use super::fast::Stop;
use super::global::GlobalMemory;
use super::other::Flow;
use super::registers::{FULL, LANES};
use super::warp::{Group, Warp};
use crate::fault::FaultKind;
use crate::ptx::ir::{Op, Operand, PredicateOperand};

impl<M: GlobalMemory> Context<'_, M> {
    /// Runs `group` until it stops, like [`run_group`](Self::run_group).
    pub(super) fn run_observed(
        &mut self,
        warp: &mut Warp,
        group: &mut Group,
        mut horizon: u32,
        fuel: &mut u32,
    ) -> Result<Stop, Box<Raise>> {
        loop {
            let Some(inst) = self.program().inst(group.frame.function, group.pc) else {
                return Err(Raise::internal(format!("no instruction at {}", group.pc)));
            };
            let mask = match inst.guard {
                None => group.mask,
                Some(guard) => {
                    if let Some(strict) = &self.strict {
                        strict.check_register(warp.index, &group.frame, guard.predicate, group.mask)?;
                    }
                    let value = Operand::Reg(guard.predicate);
                    let guard = PredicateOperand { value, negated: guard.negated };
                    group.mask & warp.registers.holds(&group.frame, guard)
                }
            };
            if let Some(statistics) = &mut self.statistics {
                statistics.count(&inst.op, mask, warp.live);
            }
            if self.is_spent() {
                let lane = group.mask.trailing_zeros() as usize % LANES;
                return Err(Raise::new(FaultKind::StepLimit { steps: self.patience }, lane));
            }
            let flow = if mask == 0 {
                self.steps += 1;
                Flow::Next
            } else {
                if let Some(strict) = &mut self.strict {
                    strict.registers(warp.index, &group.frame, inst, mask)?;
                }
                if matches!(inst.op, Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Call(_)) {
                    *fuel -= 1;
                }
                self.step(warp, group, mask)?
            };
            match flow {
                Flow::Next => {
                    group.pc += 1;
                    if group.pc >= horizon {
                        warp.park(*group);
                        return Ok(Stop::Parked);
                    }
                }
                Flow::Moved if warp.ready.is_empty() => horizon = u32::MAX,
                Flow::Moved => {
                    warp.park(*group);
                    return Ok(Stop::Parked);
                }
                Flow::Parked => return Ok(Stop::Parked),
            }
            if *fuel == 0 {
                return Ok(Stop::Spent);
            }
        }
    }

    /// One instruction from the IR, counted.
    pub(super) fn step(&mut self, warp: &mut Warp, group: &mut Group, mask: u32) -> Result<Flow, Box<Raise>> {
        self.steps += 1;
        debug_assert!(mask & !group.mask == 0 && mask & FULL != 0);
        self.execute(warp, group, mask)
    }
}
