//! Memory operations by their kind, control flow, barriers, lanes and matrices.

use super::{Checker, Verified, types};
use crate::ptx::ir::*;

impl Checker<'_> {
    pub(super) fn other(&self, op: &Op) -> Verified {
        match op {
            Op::Load(load) => self.load(load),
            Op::Store(store) => self.store(store),
            Op::Atomic(atomic) => self.atomic(atomic),
            Op::Mbarrier(mbarrier) => self.mbarrier(mbarrier),
            Op::AsyncCopy { .. } => self.async_copy(op),
            Op::AsyncArrive { space, address, .. } => self.barrier_object(*address, *space),
            Op::Hint { address: Some(address), space, .. } => self.address(*address, *space, 1),
            Op::Call(call) => self.call(call),
            Op::Branch { target, .. } => self.target(*target),
            Op::BranchIndexed { index, targets, .. } => {
                self.word(*index)?;
                targets.iter().try_for_each(|target| self.target(*target))
            }
            Op::NanoSleep { duration } => self.word(*duration),
            op => self.warp(op),
        }
    }

    fn warp(&self, op: &Op) -> Verified {
        match op {
            Op::Barrier(barrier) => self.barrier(barrier),
            Op::WarpBarrier { mask } => self.word(*mask),
            Op::Shuffle { mask, dst, predicate, a, b, c, .. } => {
                self.values(&[*a, *b, *c], Type::B32)?;
                self.values(mask.as_slice(), Type::B32)?;
                self.maybe_reg(*predicate, Width::Predicate)?;
                self.maybe_reg(*dst, Width::B32)
            }
            Op::Vote { mode, mask, dst, source } => {
                self.predicate(*source)?;
                self.values(mask.as_slice(), Type::B32)?;
                match mode {
                    VoteMode::Ballot => self.reg(*dst, Width::B32),
                    _ => self.reg(*dst, Width::Predicate),
                }
            }
            Op::Match { all, ty, dst, predicate, a, mask } => {
                self.legal(matches!(ty, Type::B32 | Type::B64), *ty)?;
                self.typed_value(*a, *ty)?;
                self.word(*mask)?;
                if predicate.is_some() && !all {
                    return self.error("`match.any` gives no predicate");
                }
                self.maybe_reg(*predicate, Width::Predicate)?;
                self.maybe_reg(*dst, Width::B32)
            }
            Op::Reduce { op, ty, dst, a, mask, .. } => {
                self.legal(types::reduce(*op, *ty), *ty)?;
                self.uniform(Type::B32, *dst, &[*a, *mask])
            }
            Op::ActiveMask { dst } => self.reg(*dst, Width::B32),
            Op::Elect { dst, predicate, mask } => {
                self.word(*mask)?;
                self.maybe_reg(*predicate, Width::Predicate)?;
                self.maybe_reg(*dst, Width::B32)
            }
            op => self.matrix(op),
        }
    }

    fn barrier(&self, barrier: &Barrier) -> Verified {
        self.word(barrier.id)?;
        if let Operand::Imm(id @ 16..) = barrier.id {
            return self.error(format!("barriers are numbered 0 to 15, there is no {id}"));
        }
        if let Some(threads) = barrier.threads {
            self.word(threads)?;
            if let Operand::Imm(count) = threads
                && (count == 0 || count % 32 != 0)
            {
                return self.error(format!("{count} threads at a barrier are no multiple of 32"));
            }
        }
        match barrier.op {
            BarrierOp::Reduce { op, dst, source } => {
                self.predicate(source)?;
                match op {
                    BarrierReduction::Popc => self.reg(dst, Width::B32),
                    _ => self.reg(dst, Width::Predicate),
                }
            }
            _ => Ok(()),
        }
    }

    fn matrix(&self, op: &Op) -> Verified {
        match op {
            Op::LoadMatrix { space, dsts, address, .. } => {
                dsts.iter().try_for_each(|dst| self.maybe_reg(*dst, Width::B32))?;
                self.rows(*address, *space, dsts.len())
            }
            Op::StoreMatrix { space, srcs, address, .. } => {
                self.values(srcs, Type::B32)?;
                self.rows(*address, *space, srcs.len())
            }
            Op::TransposeMatrix { dst, src } => self.uniform(Type::B32, *dst, &[*src]),
            Op::MatrixMultiply(product) => {
                let word = |ty: Type| {
                    if ty == Type::F64 { Width::B64 } else { Width::B32 }
                };
                let [a, b, c] = product.fragment_registers();
                let lengths = [product.a.len(), product.b.len(), product.c.len(), product.d.len()];
                if lengths != [a, b, c, c] {
                    return self.error("a fragment has the wrong number of registers");
                }
                let inputs = product.a.iter().chain(&product.b);
                inputs.copied().try_for_each(|v| self.value(v, word(product.a_ty)))?;
                product.c.iter().try_for_each(|v| self.value(*v, word(product.c_ty)))?;
                product.d.iter().try_for_each(|d| self.maybe_reg(*d, word(product.d_ty)))
            }
            _ => Ok(()),
        }
    }

    /// 1, 2 or 4 matrices in shared memory.
    fn rows(&self, address: Address, space: Space, count: usize) -> Verified {
        if ![1, 2, 4].contains(&count) {
            return self.error(format!("1, 2 or 4 matrices are moved at once, not {count}"));
        }
        match space {
            Space::Generic | Space::Shared => self.address(address, space, 16),
            _ => self.error("matrices are moved from and to shared memory"),
        }
    }
}
