//! Where addresses come from: a forward dataflow from parameters and declarations to the registers that loads and
//! stores use.
//!
//! Nothing here decides whether an access is safe, only which memory it is compared with: an access that is compared
//! with the wrong buffer is reported, never let through. So what is not understood may be any origin.

use super::pointers::leaders;
use crate::ptx::ir::{
    Address, AddressBase, BoolOp, Function, FunctionKind, IntegerOp, Module, MulPart, Op, Operand,
    ParamBlock, Reg, RegClass, Space, Symbol, VariableId,
};

/// A set of origins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origins(u64);

/// Buffers that are told apart; an address from a later one may be any.
const BUFFERS: u32 = 40;
/// Variables that are told apart.
const VARIABLES: u32 = 16;

/// Values kept at once, 16 bytes each. In a function that needs more, every address may lead anywhere.
const MOST_VALUES: usize = 1 << 24;

impl Origins {
    const NONE: Self = Self(0);
    /// Loaded from memory, or not understood.
    const UNKNOWN: Self = Self(1 << 63);
    const SHARED: Self = Self(1 << 62);
    const LOCAL: Self = Self(1 << 61);
    const PARAM: Self = Self(1 << 60);

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The one memory that an address leads into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// What the kernel's parameter with this index points to.
    Buffer(usize),
    Variable(VariableId),
    Shared,
    Local,
    /// The kernel's own parameters.
    Param,
    /// Anything.
    Any,
}

/// What a call passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// An address in what the caller's parameter with this index points to.
    Buffer(usize),
    /// No address.
    Number,
    Unknown,
}

/// What is known of a register: what it may point into, and that it is a multiple of 2^`zeros` from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    origins: Origins,
    zeros: u8,
}

impl Value {
    /// No address, and nothing known of it: so is what nobody has written.
    const NUMBER: Self = Self { origins: Origins::NONE, zeros: 0 };
    const UNKNOWN: Self = Self { origins: Origins::UNKNOWN, zeros: 0 };

    fn join(self, other: Self) -> Self {
        Self { origins: self.origins.with(other.origins), zeros: self.zeros.min(other.zeros) }
    }

    fn number(zeros: u8) -> Self {
        Self { origins: Origins::NONE, zeros: zeros.min(63) }
    }

    fn constant(value: u64) -> Self {
        Self::number(value.trailing_zeros() as u8)
    }

    /// The same origins, at an unknown distance.
    fn anywhere(self) -> Self {
        Self { zeros: 0, ..self }
    }
}

/// What is known of each register at one place.
#[derive(Clone, Debug, PartialEq)]
struct State {
    narrow: Vec<Value>,
    wide: Vec<Value>,
}

impl State {
    fn new(function: &Function) -> Self {
        Self {
            narrow: vec![Value::NUMBER; function.registers.slots32 as usize],
            wide: vec![Value::NUMBER; function.registers.slots64 as usize],
        }
    }

    fn get(&self, reg: Reg) -> Value {
        match reg.class() {
            RegClass::Slot32 => self.narrow.get(reg.index as usize),
            RegClass::Slot64 => self.wide.get(reg.index as usize),
            RegClass::Predicate | RegClass::Slot128 => None,
        }
        .copied()
        .unwrap_or(Value::UNKNOWN)
    }

    fn set(&mut self, reg: Reg, value: Value, keep: bool) {
        let slot = match reg.class() {
            RegClass::Slot32 => self.narrow.get_mut(reg.index as usize),
            RegClass::Slot64 => self.wide.get_mut(reg.index as usize),
            RegClass::Predicate | RegClass::Slot128 => None,
        };
        if let Some(slot) = slot {
            *slot = if keep { slot.join(value) } else { value };
        }
    }

    /// Takes `other` in; has anything changed?
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        let pairs = self.narrow.iter_mut().zip(&other.narrow).chain(self.wide.iter_mut().zip(&other.wide));
        for (mine, theirs) in pairs {
            let joined = mine.join(*theirs);
            changed |= joined != *mine;
            *mine = joined;
        }
        changed
    }
}

/// The origins of every address operand of one function.
pub(super) struct Provenance<'a> {
    module: &'a Module,
    function: &'a Function,
    /// Parameters that are buffers; in a device function, those that the call in question passes one for.
    buffers: &'a [usize],
    /// Parameters of a device function that are known to hold no address.
    numbers: &'a [usize],
    variables: Vec<VariableId>,
    /// Instructions that a straight line of code begins with.
    leader: Vec<bool>,
    /// State before each instruction that touches memory, by its index: the value of its address registers.
    addresses: Vec<[Option<Value>; 2]>,
    /// Is the first buffer's address cast to another space?
    cast: bool,
}

impl<'a> Provenance<'a> {
    /// Follows the addresses of `function`, whose parameters with the indices `buffers` are buffers.
    pub(super) fn of(module: &'a Module, function: &'a Function, buffers: &'a [usize]) -> Self {
        Self::of_parameters(module, function, buffers, &[])
    }

    /// The same for a call of a device function of which is known that the parameters `numbers` hold no address.
    pub(super) fn of_parameters(
        module: &'a Module,
        function: &'a Function,
        buffers: &'a [usize],
        numbers: &'a [usize],
    ) -> Self {
        let addresses = vec![[None; 2]; function.code.len()];
        let mut this = Self {
            module,
            function,
            buffers,
            numbers,
            variables: Vec::new(),
            leader: Vec::new(),
            addresses,
            cast: false,
        };
        this.solve();
        this
    }

    /// What the access number `number` (of an instruction that has several) at `pc` leads into, and the power of two
    /// that its distance from there is surely a multiple of.
    pub(super) fn origin(&self, pc: usize, number: usize, address: &Address) -> (Origin, u32) {
        let value = match address.base {
            AddressBase::Symbol(symbol) => self.symbol_value(symbol).unwrap_or(Value::UNKNOWN),
            AddressBase::Absolute => Value::UNKNOWN,
            AddressBase::Reg(_) => {
                let known = self.addresses.get(pc).and_then(|values| values.get(number));
                known.copied().flatten().unwrap_or(Value::UNKNOWN)
            }
        };
        let zeros = u32::from(value.zeros).min(address.offset.trailing_zeros()).min(31);
        (self.single(value.origins), 1 << zeros)
    }

    /// Does the first buffer, alone or among others, reach an address operand or a cast between spaces?
    pub(super) fn reaches_an_address(&self) -> bool {
        self.cast || self.addresses.iter().flatten().flatten().any(|value| value.origins.0 & 1 != 0)
    }

    /// Is what the store at `pc` puts in a call's argument the address of a variable, or no address at all?
    pub(super) fn passes_a_variable(&self, pc: usize) -> bool {
        match self.function.code.get(pc).map(|inst| &inst.op) {
            Some(Op::Store(store)) if matches!(store.srcs.as_slice(), [Operand::Imm(_)]) => true,
            _ => {
                let value = self.addresses.get(pc).and_then(|values| values[1]);
                let origin = value.map(|value| self.single(value.origins));
                matches!(origin, Some(Origin::Variable(_) | Origin::Local))
            }
        }
    }

    /// What the call at `pc` is given in the part `slot` of the `Call` block. Compilers store an argument right before
    /// its call, so only the straight line before it is looked at.
    pub(super) fn argument(&self, pc: usize, slot: u32) -> Argument {
        for at in (0..pc).rev() {
            let Some(inst) = self.function.code.get(at) else { break };
            if matches!(inst.op, Op::Call(_)) || self.leader.get(at + 1) != Some(&false) {
                break;
            }
            if let Op::Store(store) = &inst.op
                && store.address.base == AddressBase::Symbol(Symbol::Param(ParamBlock::Call, slot))
            {
                let whole = store.address.offset == 0 && inst.guard.is_none();
                return match (store.srcs.as_slice(), self.addresses[at][1]) {
                    ([Operand::Imm(_)], _) if whole => Argument::Number,
                    ([Operand::Reg(_)], Some(value)) if whole => self.passed(value.origins),
                    _ => Argument::Unknown,
                };
            }
        }
        Argument::Unknown
    }

    fn passed(&self, origins: Origins) -> Argument {
        match self.single(origins) {
            Origin::Buffer(index) => Argument::Buffer(index),
            _ if origins == Origins::NONE => Argument::Number,
            _ => Argument::Unknown,
        }
    }

    fn single(&self, origins: Origins) -> Origin {
        match origins {
            Origins::SHARED => Origin::Shared,
            Origins::LOCAL => Origin::Local,
            Origins::PARAM => Origin::Param,
            Origins(bits) if bits.is_power_of_two() => {
                let bit = bits.trailing_zeros();
                if let Some(buffer) = self.buffers.get(bit as usize)
                    && bit < BUFFERS
                {
                    return Origin::Buffer(*buffer);
                }
                let variable = bit.checked_sub(BUFFERS).and_then(|i| self.variables.get(i as usize));
                variable.map_or(Origin::Any, |id| Origin::Variable(*id))
            }
            _ => Origin::Any,
        }
    }

    fn solve(&mut self) {
        let code = &self.function.code;
        let leader = leaders(code);
        let registers = self.function.registers.slots32 as usize + self.function.registers.slots64 as usize;
        let blocks = leader.iter().filter(|&&begins| begins).count();
        self.leader.clone_from(&leader);
        if blocks.saturating_mul(registers) > MOST_VALUES {
            return;
        }
        let mut states: Vec<Option<State>> = vec![None; code.len()];
        let mut work = vec![0];
        if let Some(first) = states.first_mut() {
            *first = Some(State::new(self.function));
        }
        while let Some(start) = work.pop() {
            let Some(mut state) = states.get(start).cloned().flatten() else { continue };
            let mut pc = start;
            while let Some(inst) = code.get(pc) {
                self.note(pc, &state);
                self.transfer(pc, &mut state);
                let next = inst.successors();
                let ends = leader.get(pc + 1).copied().unwrap_or(true);
                let falls = (next.falls_through && ends).then_some(pc as u32 + 1);
                for target in next.targets.iter().copied().chain(falls) {
                    let Some(there) = states.get_mut(target as usize) else { continue };
                    let changed = match there {
                        Some(there) => there.join(&state),
                        None => {
                            *there = Some(state.clone());
                            true
                        }
                    };
                    if changed && !work.contains(&(target as usize)) {
                        work.push(target as usize);
                    }
                }
                if ends || !next.falls_through {
                    break;
                }
                pc += 1;
            }
        }
    }

    fn note(&mut self, pc: usize, state: &State) {
        let accesses = self.function.code[pc].op.memory_accesses();
        for (slot, access) in self.addresses[pc].iter_mut().zip(&accesses) {
            if let AddressBase::Reg(reg) = access.address.base {
                let value = state.get(reg);
                *slot = Some(slot.map_or(value, |old| old.join(value)));
            }
        }
        // arguments of calls
        if let Op::Store(store) = &self.function.code[pc].op
            && store.space == Space::Param
            && let [Operand::Reg(reg)] = store.srcs.as_slice()
        {
            let value = state.get(*reg);
            let slot = &mut self.addresses[pc][1];
            *slot = Some(slot.map_or(value, |old| old.join(value)));
        }
    }

    fn symbol_value(&self, symbol: Symbol) -> Option<Value> {
        let aligned =
            |origins, align: u32| Some(Value { origins, zeros: align.trailing_zeros().min(63) as u8 });
        match symbol {
            Symbol::Variable(id) => {
                let index = self.variables.iter().position(|known| *known == id)? as u32;
                let align = self.module.variables.get(id.0 as usize)?.align;
                aligned(Origins(1 << (BUFFERS + index)), align)
            }
            Symbol::Shared(id) | Symbol::DynamicShared(id) => {
                aligned(Origins::SHARED, self.module.variables.get(id.0 as usize)?.align)
            }
            Symbol::Local(index) => aligned(Origins::LOCAL, self.function.locals.get(index as usize)?.align),
            Symbol::Param(ParamBlock::In, index) => {
                aligned(Origins::PARAM, self.function.params.get(index as usize)?.align)
            }
            Symbol::Param(..) => aligned(Origins::LOCAL, 1),
            Symbol::Function(_) => None,
        }
    }

    fn transfer(&mut self, pc: usize, state: &mut State) {
        let inst = &self.function.code[pc];
        let value = |operand: &Operand| match operand {
            Operand::Reg(reg) => state.get(*reg),
            Operand::Imm(bits) => Value::constant(*bits),
        };
        let new = match &inst.op {
            Op::Mov { src, .. } => value(src),
            Op::ConvertAddress { src, .. } => {
                self.cast |= value(src).origins.0 & 1 != 0;
                value(src)
            }
            Op::AddressOf { symbol, offset, .. } => {
                if let Symbol::Variable(id) = symbol
                    && !self.variables.contains(id)
                    && self.variables.len() < VARIABLES as usize
                {
                    self.variables.push(*id);
                }
                let base = self.symbol_value(*symbol).unwrap_or(Value::UNKNOWN);
                Value { zeros: base.zeros.min(offset.trailing_zeros() as u8), ..base }
            }
            Op::ReadSpecial { .. } => Value::NUMBER,
            Op::Integer { op, a, b, saturate: false, .. } => integer(*op, value(a), value(b)),
            Op::MultiplyAdd { part: MulPart::Lo | MulPart::Wide, a, b, c, saturate: false, .. } => {
                let product = product(value(a), value(b));
                value(c).join(product)
            }
            Op::Shift { left, a, b, .. } => {
                let a = value(a);
                match (left, b.imm()) {
                    // a pointer that was multiplied is none any more
                    (true, Some(by)) => Value::number(a.zeros.saturating_add(by.min(63) as u8)),
                    (true, None) => Value::number(a.zeros),
                    (false, Some(by)) if a.origins == Origins::NONE => {
                        Value::number(a.zeros.saturating_sub(by.min(63) as u8))
                    }
                    (false, _) => a.anywhere(),
                }
            }
            Op::Logic { op, a, b, .. } => {
                let (a, b) = (value(a), value(b));
                let origins = a.origins.with(b.origins);
                let zeros = match op {
                    _ if origins != Origins::NONE => 0,
                    BoolOp::And => a.zeros.max(b.zeros),
                    BoolOp::Or | BoolOp::Xor => a.zeros.min(b.zeros),
                };
                Value { origins, zeros }
            }
            Op::Select { a, b, .. } | Op::SelectBySign { a, b, .. } => value(a).join(value(b)),
            Op::Convert(convert) if !convert.dst_ty.is_float() && !convert.src_ty.is_float() => {
                match convert.saturate {
                    false => value(&convert.src),
                    true => value(&convert.src).anywhere(),
                }
            }
            Op::Load(load) => match (load.space, load.address.base) {
                (Space::Param, AddressBase::Symbol(Symbol::Param(ParamBlock::In, index))) => {
                    self.parameter(index, load.address.offset, load.ty.bytes())
                }
                _ if load.ty.bytes() < 8 => Value::NUMBER,
                _ => Value::UNKNOWN,
            },
            Op::Atomic(atomic) if atomic.ty.bytes() < 8 => Value::NUMBER,
            Op::Atomic(_) => Value::UNKNOWN,
            op => {
                let mut joined = Value::NUMBER;
                op.for_each_use(|reg| joined = joined.join(state.get(reg).anywhere()));
                joined
            }
        };
        let keep = inst.guard.is_some();
        let mut defs: smallvec::SmallVec<[Reg; 4]> = smallvec::SmallVec::new();
        inst.op.for_each_def(|reg| defs.push(reg));
        defs.into_iter().for_each(|reg| state.set(reg, new, keep));
    }

    fn parameter(&self, index: u32, offset: i64, bytes: u32) -> Value {
        let position = self.buffers.iter().position(|buffer| *buffer == index as usize);
        let is_number = bytes < 8 || self.numbers.contains(&(index as usize));
        if self.function.kind == FunctionKind::Device && position.is_none() {
            return if is_number { Value::NUMBER } else { Value::UNKNOWN };
        }
        let in_a_structure =
            self.function.params.get(index as usize).is_none_or(|param| param.array.is_some());
        match position {
            Some(position) if position < BUFFERS as usize && offset == 0 && bytes == 8 => {
                Value { origins: Origins(1 << position), zeros: 63 }
            }
            None if bytes < 8 || !in_a_structure => Value::NUMBER,
            _ => Value::UNKNOWN,
        }
    }
}

fn product(a: Value, b: Value) -> Value {
    Value::number(a.zeros.saturating_add(b.zeros))
}

fn integer(op: IntegerOp, a: Value, b: Value) -> Value {
    match op {
        IntegerOp::Add | IntegerOp::Min | IntegerOp::Max => a.join(b),
        IntegerOp::Sub if b.origins == Origins::NONE => a.join(b),
        IntegerOp::MulLo | IntegerOp::MulWide => product(a, b),
        IntegerOp::Sub => a.join(b).anywhere(),
        _ => Value::NUMBER,
    }
}
