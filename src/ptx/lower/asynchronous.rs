//! Asynchronous copies and mbarrier objects.

use super::function::Body;
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;

impl<'src> Body<'_, '_, 'src> {
    /// `cp.async` and its companions; bulk copies are not supported.
    pub(super) fn async_copy(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        if !m.flag("async") {
            return Err(Stop::Unsupported);
        }
        if m.flag("commit_group") {
            m.finish()?;
            self.push(Op::AsyncCommit);
            return Ok(());
        }
        if m.flag("wait_all") {
            m.finish()?;
            self.push(Op::AsyncWait { pending: None });
            return Ok(());
        }
        if m.flag("wait_group") {
            m.finish()?;
            let [count] = self.operands(i)?;
            let Operand::Imm(pending) = self.value(count, Type::U32)? else {
                return self.error(count.span, "the number of groups is a constant");
            };
            self.push(Op::AsyncWait { pending: Some(pending as u32) });
            return Ok(());
        }
        if m.flag("mbarrier") {
            return self.async_arrive(i, m);
        }
        let policy = m.cache_hints();
        let through = m.needed(&[("ca", CacheOp::Ca), ("cg", CacheOp::Cg)])?;
        // the destination's space, then the source's
        if m.space() != Space::Shared || m.space() != Space::Global {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        let operands = match i.operands.split_last() {
            Some((_, before)) if policy => before,
            _ => i.operands.as_slice(),
        };
        let (dst, src, size, extra) = match operands {
            [dst, src, size] => (dst, src, size, None),
            [dst, src, size, extra] => (dst, src, size, Some(extra)),
            _ => return Err(self.wrong_count(i, "3 or 4")),
        };
        let (dst, _) = self.memory_operand(dst, Space::Shared)?;
        let (src, _) = self.memory_operand(src, Space::Global)?;
        let size = match self.value(size, Type::U32)? {
            Operand::Imm(16) => 16,
            Operand::Imm(bytes @ (4 | 8)) if through == CacheOp::Ca => bytes as u32,
            _ => {
                return self.error(size.span, "the size of `cp.async` is 4, 8 or 16 bytes, with `.cg` 16");
            }
        };
        let (mut source_size, mut ignore_source) = (None, None);
        if let Some(extra) = extra {
            match self.predicate_or_word(extra)? {
                Either::Predicate(predicate) => ignore_source = Some(predicate),
                Either::Word(word) => source_size = Some(word),
            }
        }
        self.push(Op::AsyncCopy { dst, src, size, source_size, ignore_source });
        Ok(())
    }

    /// The last operand of `cp.async`: a number of bytes or a predicate, by what it is.
    fn predicate_or_word(&mut self, operand: &ast::Operand<'src>) -> Lowered<Either> {
        if let ast::OperandKind::Not(_) = operand.kind {
            return Ok(Either::Predicate(self.predicate(operand)?));
        }
        Ok(match self.value(operand, Type::U32)? {
            value @ Operand::Reg(Reg { width: Width::Predicate, .. }) => {
                Either::Predicate(PredicateOperand { value, negated: false })
            }
            value => Either::Word(value),
        })
    }

    fn async_arrive(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        if !m.flag("arrive") {
            return Err(Stop::Unsupported);
        }
        let no_increment = m.flag("noinc");
        let space = m.space();
        if m.ty()? != Type::B64 {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        let [address] = self.operands(i)?;
        let (address, space) = self.memory_operand(address, space)?;
        self.push(Op::AsyncArrive { space, address, no_increment });
        Ok(())
    }

    pub(super) fn mbarrier(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let word = m.needed(&[
            ("init", Word::Init),
            ("inval", Word::Invalidate),
            ("expect_tx", Word::ExpectTx),
            ("complete_tx", Word::CompleteTx),
            ("arrive", Word::Arrive { drop: false }),
            ("arrive_drop", Word::Arrive { drop: true }),
            ("test_wait", Word::Wait { blocking: false }),
            ("try_wait", Word::Wait { blocking: true }),
            ("pending_count", Word::PendingCount),
        ]);
        // `mbarrier.arrive.expect_tx`: whichever stands first, the other qualifies it
        let mut word = word?;
        let mut expects = false;
        if let Word::ExpectTx = word
            && let Some(drop) = m.one_of(&[("arrive", false), ("arrive_drop", true)])
        {
            word = Word::Arrive { drop };
            expects = true;
        } else if let Word::Arrive { .. } = word {
            expects = m.flag("expect_tx");
        }
        let no_complete = m.flag("noComplete");
        let parity = m.flag("parity");
        m.ordering(MemoryOrder::Weak);
        let space = m.space();
        if m.ty()? != Type::B64 {
            return Err(Stop::Unsupported);
        }
        m.finish()?;
        let op = match word {
            Word::Init => MbarrierOp::Init,
            Word::Invalidate => MbarrierOp::Invalidate,
            Word::ExpectTx => MbarrierOp::ExpectTx,
            Word::CompleteTx => MbarrierOp::CompleteTx,
            Word::Arrive { drop } if expects => MbarrierOp::ArriveExpectTx { drop },
            Word::Arrive { drop } => MbarrierOp::Arrive { drop, no_complete },
            Word::Wait { blocking } => MbarrierOp::TestWait { blocking, parity },
            Word::PendingCount => MbarrierOp::PendingCount,
        };
        self.mbarrier_operands(i, op, space)
    }

    fn mbarrier_operands(&mut self, i: &ast::Instruction<'src>, op: MbarrierOp, space: Space) -> Lowered<()> {
        let state_ty = match op {
            MbarrierOp::TestWait { parity: true, .. } => Type::U32,
            _ => Type::B64,
        };
        let (dst, address, count, state) = match (op, i.operands.as_slice()) {
            (MbarrierOp::Invalidate, [address]) => (None, Some(address), None, None),
            (MbarrierOp::Init | MbarrierOp::ExpectTx | MbarrierOp::CompleteTx, [address, count]) => {
                (None, Some(address), Some(count), None)
            }
            (MbarrierOp::Arrive { .. }, [dst, address]) => (Some(dst), Some(address), None, None),
            (MbarrierOp::Arrive { .. } | MbarrierOp::ArriveExpectTx { .. }, [dst, address, count]) => {
                (Some(dst), Some(address), Some(count), None)
            }
            // a suspend-time hint may follow; it has no effect
            (MbarrierOp::TestWait { .. }, [dst, address, state] | [dst, address, state, _]) => {
                (Some(dst), Some(address), None, Some(state))
            }
            (MbarrierOp::PendingCount, [dst, state]) => (Some(dst), None, None, Some(state)),
            _ => return self.error(i.span, "operands are missing or left over"),
        };
        let count = count.map(|count| self.value(count, Type::U32)).transpose()?;
        let state = state.map(|state| self.value(state, state_ty)).transpose()?;
        let (address, space) = match address {
            Some(address) => {
                let (address, space) = self.memory_operand(address, space)?;
                (Some(address), space)
            }
            None => (None, space),
        };
        let dst = match dst {
            Some(dst) => self.optional_dst(dst)?,
            None => None,
        };
        self.push(Op::Mbarrier(Box::new(Mbarrier { op, space, address, dst, count, state })));
        Ok(())
    }
}

enum Either {
    Predicate(PredicateOperand),
    Word(Operand),
}

#[derive(Clone, Copy)]
enum Word {
    Init,
    Invalidate,
    ExpectTx,
    CompleteTx,
    Arrive { drop: bool },
    Wait { blocking: bool },
    PendingCount,
}
