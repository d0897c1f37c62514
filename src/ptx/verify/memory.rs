//! Addresses, accesses, calls and other operations on memory.

use super::{Checker, Verified, inside, types};
use crate::ptx::ir::*;

impl Checker<'_> {
    /// The declaration exists.
    pub(super) fn symbol(&self, symbol: Symbol) -> Verified {
        let function = self.function;
        let variables = &self.module.variables;
        let known = match symbol {
            Symbol::Variable(id) => {
                variables.get(id.0 as usize).is_some_and(|v| matches!(v.space, Space::Global | Space::Const))
            }
            Symbol::Shared(id) => variables.get(id.0 as usize).is_some_and(|v| v.shared_offset.is_some()),
            Symbol::DynamicShared(id) => {
                variables.get(id.0 as usize).is_some_and(Variable::is_dynamic_shared)
            }
            Symbol::Local(index) => (index as usize) < function.locals.len(),
            Symbol::Param(block, index) => self.param(block, index).is_some(),
            Symbol::Function(id) => (id.0 as usize) < self.module.functions.len(),
        };
        match known {
            true => Ok(()),
            false => self.error(format!("there is no {symbol}")),
        }
    }

    fn param(&self, block: ParamBlock, index: u32) -> Option<&Param> {
        let params = match block {
            ParamBlock::In => &self.function.params,
            ParamBlock::Out => &self.function.returns,
            ParamBlock::Call => &self.function.call_params,
        };
        params.get(index as usize)
    }

    /// The address is well formed, fits the space, and stays within a parameter that it names.
    pub(super) fn address(&self, address: Address, space: Space, size: u32) -> Verified {
        match address.base {
            AddressBase::Absolute => Ok(()),
            AddressBase::Reg(reg) => {
                self.exists(reg)?;
                if !matches!(reg.width, Width::B32 | Width::B64) {
                    return self.error(format!(
                        "`{}` {} where an address of 32 or 64 bits is needed",
                        self.name(reg),
                        super::has(reg.width)
                    ));
                }
                match space == Space::Param && self.function.kind == FunctionKind::Device {
                    true => self.error("parameters of a device function are reached by name"),
                    false => Ok(()),
                }
            }
            AddressBase::Symbol(symbol) => {
                self.symbol(symbol)?;
                let own = match symbol {
                    Symbol::Variable(id) => self.module.variables[id.0 as usize].space,
                    Symbol::Shared(_) | Symbol::DynamicShared(_) => Space::Shared,
                    Symbol::Local(_) => Space::Local,
                    Symbol::Param(block, index) => {
                        self.param_access(block, index, address.offset, size)?;
                        Space::Param
                    }
                    Symbol::Function(_) => {
                        return self.error("a function is no memory");
                    }
                };
                match own == space {
                    true => Ok(()),
                    false => self.error(format!("{symbol} does not lie in the accessed space")),
                }
            }
        }
    }

    fn param_access(&self, block: ParamBlock, index: u32, offset: i64, size: u32) -> Verified {
        let Some(param) = self.param(block, index) else {
            return self.error("there is no such parameter");
        };
        let fits = u32::try_from(offset).is_ok_and(|offset| inside(offset, size, param.size));
        match fits {
            true => Ok(()),
            false => self.error(format!(
                "{size} bytes at offset {offset} of parameter `{}`, which has {} bytes",
                param.name, param.size
            )),
        }
    }

    fn vector(&self, elements: usize, ty: Type) -> Verified {
        if !types::memory(ty) {
            return self.wrong_type(ty);
        }
        match [1, 2, 4, 8].contains(&elements) && elements as u32 * ty.bytes() <= 32 {
            true => Ok(()),
            false => self.error(format!("{elements} elements of .{} are no vector", ty.name())),
        }
    }

    pub(super) fn load(&self, load: &Load) -> Verified {
        self.vector(load.dsts.len(), load.ty)?;
        for dst in load.dsts.iter().flatten() {
            self.wide_enough(*dst, load.ty)?;
        }
        self.address(load.address, load.space, load.ty.bytes() * load.dsts.len() as u32)
    }

    pub(super) fn store(&self, store: &Store) -> Verified {
        self.vector(store.srcs.len(), store.ty)?;
        for src in &store.srcs {
            match src {
                Operand::Reg(reg) => self.wide_enough(*reg, store.ty)?,
                constant => self.typed_value(*constant, store.ty)?,
            }
        }
        let into_parameters =
            matches!(store.address.base, AddressBase::Symbol(Symbol::Param(ParamBlock::In, _)))
                || store.space == Space::Param && !matches!(store.address.base, AddressBase::Symbol(_));
        if into_parameters || store.space == Space::Const {
            return self.error("parameters and constants cannot be written");
        }
        self.address(store.address, store.space, store.ty.bytes() * store.srcs.len() as u32)
    }

    pub(super) fn atomic(&self, atomic: &Atomic) -> Verified {
        let elements = atomic.a.len();
        if !types::atomic(atomic.op, atomic.ty, elements) {
            return self.wrong_type(atomic.ty);
        }
        self.vector(elements, atomic.ty)?;
        if !atomic.dsts.is_empty() && atomic.dsts.len() != elements {
            return self.error(format!("{elements} values go in, {} come out", atomic.dsts.len()));
        }
        if atomic.b.is_some() != (atomic.op == AtomicOp::CompareAndSwap) {
            return self.error("two values belong to `cas`, one to everything else");
        }
        if !matches!(atomic.space, Space::Generic | Space::Global | Space::Shared) {
            return self.error("atomic operations are on global and shared memory");
        }
        for dst in atomic.dsts.iter().flatten() {
            self.typed(*dst, atomic.ty)?;
        }
        self.values(&atomic.a, atomic.ty)?;
        self.values(atomic.b.as_slice(), atomic.ty)?;
        self.address(atomic.address, atomic.space, atomic.ty.bytes() * elements as u32)
    }

    pub(super) fn mbarrier(&self, m: &Mbarrier) -> Verified {
        let (dst, state) = match m.op {
            MbarrierOp::TestWait { parity, .. } => {
                (Width::Predicate, Some(if parity { Width::B32 } else { Width::B64 }))
            }
            MbarrierOp::PendingCount => (Width::B32, Some(Width::B64)),
            _ => (Width::B64, None),
        };
        self.maybe_reg(m.dst, dst)?;
        if let Some(count) = m.count {
            self.word(count)?;
        }
        match (m.state, state) {
            (Some(operand), Some(width)) => self.value(operand, width)?,
            (None, None) => {}
            _ => return self.error("the state of the barrier is missing or left over"),
        }
        let needs_count = matches!(
            m.op,
            MbarrierOp::Init
                | MbarrierOp::ExpectTx
                | MbarrierOp::CompleteTx
                | MbarrierOp::ArriveExpectTx { .. }
        );
        if needs_count && m.count.is_none() {
            return self.error("the count is missing");
        }
        match (m.address, m.op) {
            (None, MbarrierOp::PendingCount) => Ok(()),
            (Some(address), _) => self.barrier_object(address, m.space),
            (None, _) => self.error("the address is missing"),
        }
    }

    pub(super) fn barrier_object(&self, address: Address, space: Space) -> Verified {
        match space {
            Space::Generic | Space::Shared => self.address(address, space, 8),
            _ => self.error("a barrier object lies in shared memory"),
        }
    }

    pub(super) fn async_copy(&self, op: &Op) -> Verified {
        let Op::AsyncCopy { dst, src, size, source_size, ignore_source } = op else {
            return Ok(());
        };
        if ![4, 8, 16].contains(size) {
            return self.error(format!("asynchronous copies have 4, 8 or 16 bytes, not {size}"));
        }
        if let Some(source_size) = source_size {
            self.word(*source_size)?;
        }
        if let Some(predicate) = ignore_source {
            self.predicate(*predicate)?;
        }
        self.address(*dst, Space::Shared, *size)?;
        self.address(*src, Space::Global, *size)
    }

    pub(super) fn call(&self, call: &Call) -> Verified {
        let blocks = match &call.target {
            CallTarget::Direct(id) => {
                let Some(callee) = self.module.functions.get(id.0 as usize) else {
                    return self.error("there is no such function");
                };
                if callee.kind == FunctionKind::Kernel {
                    return self.error(format!("`{}` is a kernel, which cannot be called", callee.name));
                }
                Some((callee.param_bytes, callee.return_bytes))
            }
            CallTarget::Intrinsic(intrinsic) => Some(match intrinsic {
                Intrinsic::Vprintf => (16, 4),
                Intrinsic::AssertFail => (40, 0),
                Intrinsic::Malloc => (8, 8),
                Intrinsic::Free => (8, 0),
            }),
            CallTarget::Indirect { pointer, candidates } => {
                if let Operand::Reg(reg) = pointer
                    && !matches!(reg.width, Width::B32 | Width::B64)
                {
                    return self.error(format!("`{}` cannot hold a function", self.name(*reg)));
                }
                if let Operand::Reg(reg) = pointer {
                    self.exists(*reg)?;
                }
                for id in candidates.iter().flatten() {
                    self.symbol(Symbol::Function(*id))?;
                }
                None
            }
        };
        let (into, from) = blocks.unwrap_or((u32::MAX, u32::MAX));
        for (copies, limit) in [(&call.args[..], into), (&call.rets[..], from)] {
            for copy in copies {
                let known = self.param(ParamBlock::Call, copy.call_param).is_some();
                if !known
                    || !inside(copy.caller_offset, copy.size, self.function.call_bytes)
                    || !inside(copy.callee_offset, copy.size, limit)
                {
                    return self.error("an argument or result lies outside of its block");
                }
            }
        }
        Ok(())
    }
}
