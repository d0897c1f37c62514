//! Barriers, and operations between the lanes of a warp.

use super::function::Body;
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;

impl<'src> Body<'_, '_, 'src> {
    pub(super) fn barrier(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        if m.flag("warp") {
            if !m.flag("sync") {
                return Err(Stop::Unsupported);
            }
            m.finish()?;
            let [mask] = self.operands(i)?;
            let mask = self.value(mask, Type::B32)?;
            self.push(Op::WarpBarrier { mask });
            return Ok(());
        }
        // `bar` is the aligned form of `barrier`
        let aligned = m.flag("aligned") || i.opcode.text == "bar";
        if m.flag("cluster") {
            return self.cluster_barrier(m, aligned);
        }
        m.flag("cta");
        if m.flag("red") {
            return self.barrier_reduction(i, m, aligned);
        }
        let op = m.needed(&[("sync", BarrierOp::Sync), ("arrive", BarrierOp::Arrive)])?;
        m.finish()?;
        let (id, threads) = match (op, i.operands.as_slice()) {
            (BarrierOp::Sync, [id]) => (id, None),
            (_, [id, threads]) => (id, Some(threads)),
            (BarrierOp::Sync, _) => return Err(self.wrong_count(i, "1 or 2")),
            _ => return Err(self.wrong_count(i, "2")),
        };
        let id = self.value(id, Type::U32)?;
        let threads = threads.map(|threads| self.value(threads, Type::U32)).transpose()?;
        self.push(Op::Barrier(Barrier { op, aligned, id, threads }));
        Ok(())
    }

    fn cluster_barrier(&mut self, m: &mut Modifiers, aligned: bool) -> Lowered<()> {
        let op = m.needed(&[("arrive", BarrierOp::ClusterArrive), ("wait", BarrierOp::ClusterWait)])?;
        m.ordering(MemoryOrder::Release);
        m.finish()?;
        self.push(Op::Barrier(Barrier { op, aligned, id: Operand::Imm(0), threads: None }));
        Ok(())
    }

    fn barrier_reduction(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        aligned: bool,
    ) -> Lowered<()> {
        let op = m.needed(&[
            ("popc", BarrierReduction::Popc),
            ("and", BarrierReduction::And),
            ("or", BarrierReduction::Or),
        ])?;
        let ty = m.ty()?;
        m.finish()?;
        let (dst, id, threads, source) = match i.operands.as_slice() {
            [dst, id, source] => (dst, id, None, source),
            [dst, id, threads, source] => (dst, id, Some(threads), source),
            _ => return Err(self.wrong_count(i, "3 or 4")),
        };
        let id = self.value(id, Type::U32)?;
        let threads = threads.map(|threads| self.value(threads, Type::U32)).transpose()?;
        let source = self.predicate(source)?;
        let dst = self.dst(dst, ty)?;
        let op = BarrierOp::Reduce { op, dst, source };
        self.push(Op::Barrier(Barrier { op, aligned, id, threads }));
        Ok(())
    }

    pub(super) fn shuffle(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let sync = m.flag("sync");
        let mode = m.needed(&[
            ("up", ShuffleMode::Up),
            ("down", ShuffleMode::Down),
            ("bfly", ShuffleMode::Bfly),
            ("idx", ShuffleMode::Idx),
        ])?;
        let ty = m.ty()?;
        m.finish()?;
        let (dst, a, b, c, mask) = match (sync, i.operands.as_slice()) {
            (true, [dst, a, b, c, mask]) => (dst, a, b, c, Some(mask)),
            (false, [dst, a, b, c]) => (dst, a, b, c, None),
            _ => return Err(self.wrong_count(i, if sync { "5" } else { "4" })),
        };
        let a = self.value(a, ty)?;
        let (b, c) = (self.value(b, Type::U32)?, self.value(c, Type::U32)?);
        let mask = mask.map(|mask| self.value(mask, Type::B32)).transpose()?;
        let (dst, predicate) = self.dst_pair(dst)?;
        self.push(Op::Shuffle { mode, mask, dst, predicate, a, b, c });
        Ok(())
    }

    pub(super) fn vote(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let sync = m.flag("sync");
        let mode = m.needed(&[
            ("all", VoteMode::All),
            ("any", VoteMode::Any),
            ("uni", VoteMode::Uni),
            ("ballot", VoteMode::Ballot),
        ])?;
        let ty = m.ty()?;
        m.finish()?;
        let (dst, source, mask) = match (sync, i.operands.as_slice()) {
            (true, [dst, source, mask]) => (dst, source, Some(mask)),
            (false, [dst, source]) => (dst, source, None),
            _ => return Err(self.wrong_count(i, if sync { "3" } else { "2" })),
        };
        let source = self.predicate(source)?;
        let mask = mask.map(|mask| self.value(mask, Type::B32)).transpose()?;
        let dst = self.dst(dst, ty)?;
        self.push(Op::Vote { mode, mask, dst, source });
        Ok(())
    }

    pub(super) fn match_lanes(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let all = m.needed(&[("any", false), ("all", true)])?;
        if !m.flag("sync") {
            return Err(Stop::Unsupported);
        }
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, mask] = self.operands(i)?;
        let (a, mask) = (self.value(a, ty)?, self.value(mask, Type::B32)?);
        let (dst, predicate) = self.dst_pair(dst)?;
        self.push(Op::Match { all, ty, dst, predicate, a, mask });
        Ok(())
    }

    pub(super) fn redux(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        if !m.flag("sync") {
            return Err(Stop::Unsupported);
        }
        let op = m.needed(&[
            ("add", ReduceOp::Add),
            ("min", ReduceOp::Min),
            ("max", ReduceOp::Max),
            ("and", ReduceOp::And),
            ("or", ReduceOp::Or),
            ("xor", ReduceOp::Xor),
        ])?;
        let (absolute, nan) = (m.flag("abs"), m.flag("NaN"));
        let ty = m.ty()?;
        m.finish()?;
        let [dst, a, mask] = self.operands(i)?;
        let (a, mask) = (self.value(a, ty)?, self.value(mask, Type::B32)?);
        let dst = self.dst(dst, ty)?;
        self.push(Op::Reduce { op, ty, absolute, nan, dst, a, mask });
        Ok(())
    }

    pub(super) fn activemask(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let ty = m.ty()?;
        m.finish()?;
        let [dst] = self.operands(i)?;
        let dst = self.dst(dst, ty)?;
        self.push(Op::ActiveMask { dst });
        Ok(())
    }

    pub(super) fn elect(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        if !m.flag("sync") {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        let [dst, mask] = self.operands(i)?;
        let mask = self.value(mask, Type::B32)?;
        let (dst, predicate) = self.dst_pair(dst)?;
        self.push(Op::Elect { dst, predicate, mask });
        Ok(())
    }
}
