//! Loads, stores, atomics, fences and hints.

use super::function::{Body, WEAK};
use super::modifiers::Modifiers;
use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::*;
use crate::ptx::source::Span;

impl<'src> Body<'_, '_, 'src> {
    /// The operands without the cache policy that `.L2::cache_hint` adds at the end.
    fn without_policy<'i>(&self, i: &'i ast::Instruction<'src>, policy: bool) -> &'i [ast::Operand<'src>] {
        let operands = i.operands.as_slice();
        match operands.split_last() {
            Some((_, before)) if policy => before,
            _ => operands,
        }
    }

    /// The address, and the space of the access: the one written, else the one of the declaration that
    /// the address names.
    pub(super) fn memory_operand(
        &mut self,
        operand: &ast::Operand<'src>,
        written: Space,
    ) -> Lowered<(Address, Space)> {
        let (address, own) = self.address(operand)?;
        let space = match (written, own) {
            (Space::Generic, Some(own)) => own,
            (written, Some(own)) if written != own => {
                return self.error(
                    operand.span,
                    format!("this lies in {} space, the instruction accesses {}", name(own), name(written)),
                );
            }
            (written, _) => written,
        };
        // a device function's parameters are reached by name; an address of one is that of its copy
        let by_register = matches!(address.base, AddressBase::Reg(_));
        let space = match space {
            Space::Param if by_register && self.kind == FunctionKind::Device => Space::Local,
            space => space,
        };
        Ok((address, space))
    }

    pub(super) fn load(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let policy = m.cache_hints();
        let ordering = m.ordering(MemoryOrder::Weak);
        let space = m.space();
        let cache = m.cache();
        let non_coherent = m.flag("nc");
        m.flag("unified");
        let count = m.vector();
        let ty = m.ty()?;
        m.finish()?;
        let [dst, address] = self.without_policy(i, policy) else {
            return Err(self.wrong_count(i, "2"));
        };
        let dsts = self.dst_vector(dst)?;
        self.check_count(dst.span, dsts.len(), count)?;
        let (address, space) = self.memory_operand(address, space)?;
        self.push(Op::Load(Box::new(Load {
            space,
            ordering,
            cache,
            non_coherent,
            uniform: i.opcode.text == "ldu",
            ty,
            dsts,
            address,
        })));
        Ok(())
    }

    pub(super) fn check_count(&self, span: Span, found: usize, wanted: usize) -> Lowered<()> {
        match found == wanted {
            true => Ok(()),
            false => self.error(span, format!("{wanted} elements belong here, not {found}")),
        }
    }

    pub(super) fn store(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        let policy = m.cache_hints();
        let asynchronous = m.has("async");
        let ordering = m.ordering(MemoryOrder::Weak);
        let space = m.space();
        let cache = m.cache();
        let count = m.vector();
        let ty = m.ty()?;
        m.finish()?;
        if asynchronous {
            return Err(Stop::Unsupported);
        }
        let [address, src] = self.without_policy(i, policy) else {
            return Err(self.wrong_count(i, "2"));
        };
        let srcs = self.value_vector(src, ty)?;
        self.check_count(src.span, srcs.len(), count)?;
        let (address, space) = self.memory_operand(address, space)?;
        self.push(Op::Store(Box::new(Store { space, ordering, cache, ty, srcs, address })));
        Ok(())
    }

    /// `atom` (with a destination) and `red` (without).
    pub(super) fn atomic(
        &mut self,
        i: &ast::Instruction<'src>,
        m: &mut Modifiers,
        returns: bool,
    ) -> Lowered<()> {
        let policy = m.cache_hints();
        let ordering = m.ordering(MemoryOrder::Relaxed);
        let space = m.space();
        let op = m.needed(&[
            ("and", AtomicOp::And),
            ("or", AtomicOp::Or),
            ("xor", AtomicOp::Xor),
            ("exch", AtomicOp::Exchange),
            ("cas", AtomicOp::CompareAndSwap),
            ("add", AtomicOp::Add),
            ("inc", AtomicOp::Inc),
            ("dec", AtomicOp::Dec),
            ("min", AtomicOp::Min),
            ("max", AtomicOp::Max),
        ])?;
        let no_flush = m.flag("noftz");
        let count = m.vector();
        let ty = m.ty()?;
        m.finish()?;
        let operands = self.without_policy(i, policy);
        let cas = op == AtomicOp::CompareAndSwap;
        let (dst, address, a, b) = match (returns, operands) {
            (true, [dst, address, a]) if !cas => (Some(dst), address, a, None),
            (true, [dst, address, a, b]) if cas => (Some(dst), address, a, Some(b)),
            (false, [address, a]) if !cas => (None, address, a, None),
            _ => {
                return Err(self.wrong_count(
                    i,
                    if cas {
                        "4"
                    } else if returns {
                        "3"
                    } else {
                        "2"
                    },
                ));
            }
        };
        let values = self.value_vector(a, ty)?;
        self.check_count(a.span, values.len(), count)?;
        let b = b.map(|b| self.value(b, ty)).transpose()?;
        let (address, space) = self.memory_operand(address, space)?;
        let dsts = match dst {
            None => Destinations::new(),
            Some(dst) => {
                let mut dsts = self.dst_vector(dst)?;
                self.check_count(dst.span, dsts.len(), count)?;
                if dsts.iter().all(Option::is_none) {
                    dsts.clear();
                }
                dsts
            }
        };
        self.push(Op::Atomic(Box::new(Atomic {
            op,
            ty,
            space,
            ordering,
            no_flush,
            dsts,
            address,
            a: values,
            b,
        })));
        Ok(())
    }

    pub(super) fn fence(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers) -> Lowered<()> {
        if i.modifiers.iter().any(|word| word.text == "proxy" || word.text.starts_with("proxy::")) {
            // orders accesses through different proxies of memory; here there is one
            self.push(Op::Fence { order: MemoryOrder::AcquireRelease, scope: Scope::System, proxy: true });
            return Ok(());
        }
        m.flag("mbarrier_init");
        let (order, scope) = if i.opcode.text == "membar" {
            let scope = m.needed(&[("cta", Scope::Cta), ("gl", Scope::Gpu), ("sys", Scope::System)])?;
            (MemoryOrder::SequentiallyConsistent, scope)
        } else {
            m.ignore(|word| word.starts_with("sync_restrict::"));
            let ordering = m.ordering(MemoryOrder::AcquireRelease);
            (ordering.order, ordering.scope.ok_or(Stop::Unsupported)?)
        };
        m.finish()?;
        self.push(Op::Fence { order, scope, proxy: false });
        Ok(())
    }

    /// A hint about the memory at an address.
    pub(super) fn hint(&mut self, i: &ast::Instruction<'src>, m: &mut Modifiers, what: Hint) -> Lowered<()> {
        m.ignore(|word| word.starts_with('L') || word == "tensormap");
        let space = m.space();
        m.finish()?;
        let Some(address) = i.operands.first() else {
            return Err(self.wrong_count(i, "1"));
        };
        let (address, space) = self.memory_operand(address, space)?;
        self.push(Op::Hint { what, address: Some(address), space });
        Ok(())
    }

    /// A hint without an address.
    pub(super) fn plain_hint(&mut self, m: &mut Modifiers, what: Hint) -> Lowered<()> {
        m.ignore(|_| true);
        self.push(Op::Hint { what, address: None, space: Space::Generic });
        Ok(())
    }

    /// A cache policy is an opaque number that nothing here reads.
    pub(super) fn createpolicy(&mut self, i: &ast::Instruction<'src>) -> Lowered<()> {
        let Some(dst) = i.operands.first() else {
            return Err(self.wrong_count(i, "2"));
        };
        let dst = self.dst(dst, Type::B64)?;
        self.push(Op::Mov { dst, src: Operand::Imm(0) });
        Ok(())
    }

    /// A load from a parameter block.
    pub(super) fn load_param(&mut self, dst: Reg, ty: Type, block: ParamBlock, index: u32) {
        let base = AddressBase::Symbol(Symbol::Param(block, index));
        self.push(Op::Load(Box::new(Load {
            space: Space::Param,
            ordering: WEAK,
            cache: CacheOp::Default,
            non_coherent: false,
            uniform: false,
            ty,
            dsts: smallvec::smallvec![Some(dst)],
            address: Address { base, offset: 0 },
        })));
    }

    /// A store to a parameter block.
    pub(super) fn store_param(&mut self, src: Operand, ty: Type, block: ParamBlock, index: u32) {
        let base = AddressBase::Symbol(Symbol::Param(block, index));
        self.push(Op::Store(Box::new(Store {
            space: Space::Param,
            ordering: WEAK,
            cache: CacheOp::Default,
            ty,
            srcs: smallvec::smallvec![src],
            address: Address { base, offset: 0 },
        })));
    }
}

/// The space as the text names it.
fn name(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic",
        Space::Global => ".global",
        Space::Shared => ".shared",
        Space::Local => ".local",
        Space::Const => ".const",
        Space::Param => ".param",
    }
}
