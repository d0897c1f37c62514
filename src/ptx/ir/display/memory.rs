//! Memory, asynchronous copies, matrices.

use std::fmt;

use super::Line;
use crate::ptx::ir::*;

impl Line<'_, '_> {
    fn cache(&mut self, cache: CacheOp) -> fmt::Result {
        match cache {
            CacheOp::Default => Ok(()),
            cache => self.word(&cache),
        }
    }

    fn count(&mut self, count: usize) -> fmt::Result {
        match count {
            0 | 1 => Ok(()),
            count => write!(self.f, ".v{count}"),
        }
    }

    pub(super) fn memory(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Load(l) => {
                self.opcode(if l.uniform { "ldu" } else { "ld" })?;
                self.ordering(l.ordering)?;
                self.space(l.space)?;
                self.cache(l.cache)?;
                self.flag(l.non_coherent, "nc")?;
                self.count(l.dsts.len())?;
                self.ty(l.ty)?;
                self.dsts(&l.dsts)?;
                self.operand(l.address)
            }
            Op::Store(s) => {
                self.opcode("st")?;
                self.ordering(s.ordering)?;
                self.space(s.space)?;
                self.cache(s.cache)?;
                self.count(s.srcs.len())?;
                self.ty(s.ty)?;
                self.operand(s.address)?;
                self.srcs(&s.srcs)
            }
            Op::Atomic(a) => {
                self.opcode(if a.dsts.is_empty() { "red" } else { "atom" })?;
                self.ordering(a.ordering)?;
                self.space(a.space)?;
                self.word(&a.op)?;
                self.flag(a.no_flush, "noftz")?;
                self.count(a.a.len())?;
                self.ty(a.ty)?;
                if !a.dsts.is_empty() {
                    self.dsts(&a.dsts)?;
                }
                self.operand(a.address)?;
                self.srcs(&a.a)?;
                self.maybe(a.b)
            }
            Op::Fence { order, scope, proxy } => {
                self.opcode("fence")?;
                self.flag(*proxy, "proxy")?;
                self.word(order)?;
                self.word(scope)
            }
            Op::Hint { what, address, space } => {
                self.opcode(&format!("{what:?}").to_lowercase())?;
                self.space(*space)?;
                self.maybe(*address)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn asynchronous(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::AsyncCopy { dst, src, size, source_size, ignore_source } => {
                self.opcode("cp.async")?;
                self.operands(&[dst, src, size])?;
                self.maybe(*source_size)?;
                self.maybe(ignore_source.map(|p| format!("ignore {p}")))
            }
            Op::AsyncCommit => self.opcode("cp.async.commit"),
            Op::AsyncWait { pending: None } => self.opcode("cp.async.wait_all"),
            Op::AsyncWait { pending: Some(pending) } => {
                self.opcode("cp.async.wait_group")?;
                self.operand(pending)
            }
            Op::AsyncArrive { space, address, no_increment } => {
                self.opcode("cp.async.arrive")?;
                self.flag(*no_increment, "noinc")?;
                self.space(*space)?;
                self.operand(address)
            }
            Op::Mbarrier(m) => {
                self.opcode("mbarrier")?;
                match m.op {
                    MbarrierOp::Arrive { drop, no_complete } => {
                        self.opcode(".arrive")?;
                        self.flag(drop, "drop")?;
                        self.flag(no_complete, "nocomplete")?;
                    }
                    MbarrierOp::ArriveExpectTx { drop } => {
                        self.opcode(".arrive.expect_tx")?;
                        self.flag(drop, "drop")?;
                    }
                    MbarrierOp::TestWait { blocking, parity } => {
                        self.opcode(if blocking { ".try_wait" } else { ".test_wait" })?;
                        self.flag(parity, "parity")?;
                    }
                    op => self.word(&op)?,
                }
                self.space(m.space)?;
                self.maybe(m.dst)?;
                self.maybe(m.address)?;
                self.maybe(m.count)?;
                self.maybe(m.state)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn matrix(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::LoadMatrix { transpose, space, dsts, address } => {
                self.opcode("ldmatrix")?;
                self.flag(*transpose, "trans")?;
                self.space(*space)?;
                self.dsts(dsts)?;
                self.operand(address)
            }
            Op::StoreMatrix { transpose, space, srcs, address } => {
                self.opcode("stmatrix")?;
                self.flag(*transpose, "trans")?;
                self.space(*space)?;
                self.operand(address)?;
                self.srcs(srcs)
            }
            Op::TransposeMatrix { dst, src } => {
                self.opcode("movmatrix")?;
                self.operands(&[dst, src])
            }
            Op::MatrixMultiply(p) => {
                write!(self.f, "mma.m{}n{}k{}", p.m, p.n, p.k)?;
                self.flag(p.saturate, "satfinite")?;
                for ty in [p.d_ty, p.a_ty, p.b_ty, p.c_ty] {
                    self.ty(ty)?;
                }
                self.dsts(&p.d)?;
                self.srcs(&p.a)?;
                self.srcs(&p.b)?;
                self.srcs(&p.c)
            }
            _ => Ok(()),
        }
    }
}
