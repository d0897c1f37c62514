//! What an instruction does to a state: moves, arithmetic, comparison, selection, conversion, loads. Bit operations
//! are in `bits`, the check of an access in `access`. What is not understood gives any value of its type.

use super::Region;
use super::atoms::{AtomKey, INFINITY, Known};
use super::engine::Engine;
use super::linear::{Lin, residue};
use super::predicate::{Compare, Condition, Form, Relation};
use super::state::{Base, Content, State, Value};
use crate::ptx::ir::*;

/// Where an instruction stands, for the atoms that it makes.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) pc: u32,
}

impl Engine<'_> {
    /// Executes an instruction whose guard holds.
    pub(super) fn step(&mut self, state: &mut State, inst: &Inst, pc: u32) {
        let op = &inst.op;
        let proved = self.check_sites(state, op, pc);
        if !self.analysis.matters[pc as usize] {
            return;
        }
        let at = At { pc };
        match op {
            Op::Load(load) => self.load(state, load, at, proved),
            Op::Store(store) => self.store(state, store, proved, at),
            Op::Atomic(atomic) => {
                if matches!(atomic.space, Space::Generic | Space::Local) {
                    self.forget_slots(state);
                }
                self.any_results(state, op, at, Some(atomic.ty));
            }
            Op::Call(_) => self.forget_slots(state),
            Op::SetPredicate { comparison, ty, combine, dst, other, a, b, .. } => {
                let form = self.comparison(state, *comparison, *ty, (*a, *b), at);
                let negated = self.forms.make(Condition::Not(form));
                let [form, negated] = [form, negated].map(|form| match combine {
                    None => form,
                    Some((op, with)) => {
                        let with = self.predicate(state, *with);
                        self.combined(*op, form, with)
                    }
                });
                for (reg, form) in [(dst, form), (other, negated)] {
                    if let Some(reg) = reg {
                        self.set(state, *reg, Content::Predicate(form));
                    }
                }
            }
            _ if self.predicate_step(state, op) => {}
            Op::Unpack { dsts, src } => self.unpack(state, dsts, *src, at),
            _ => {
                let mut dst = None;
                op.for_each_def(|reg| dst = Some(reg));
                let Some(dst) = dst.filter(|dst| dst.width != Width::Predicate) else {
                    self.any_results(state, op, at, None);
                    return;
                };
                match self.result(state, op, at) {
                    Some(value) => self.set(state, dst, Content::Integer(value)),
                    None => self.any_results(state, op, at, result_type(op)),
                }
            }
        }
    }

    /// Moves and logic of predicates.
    fn predicate_step(&mut self, state: &mut State, op: &Op) -> bool {
        let of = |engine: &mut Self, state: &State, value| {
            engine.predicate(state, PredicateOperand { value, negated: false })
        };
        let (dst, form) = match op {
            Op::Mov { dst, src } if dst.width == Width::Predicate => (dst, of(self, state, *src)),
            Op::IntegerUnary { op: IntegerUnaryOp::Not, ty: Type::Pred, dst, a } => {
                let form = of(self, state, *a);
                (dst, self.forms.make(Condition::Not(form)))
            }
            Op::Logic { op, ty: Type::Pred, dst, a, b } => {
                let (a, b) = (of(self, state, *a), of(self, state, *b));
                (dst, self.combined(*op, a, b))
            }
            _ => return false,
        };
        self.set(state, *dst, Content::Predicate(form));
        true
    }

    fn combined(&mut self, op: BoolOp, a: Form, b: Form) -> Form {
        self.forms.make(match op {
            BoolOp::And => Condition::And(a, b),
            BoolOp::Or => Condition::Or(a, b),
            BoolOp::Xor => Condition::Xor(a, b),
        })
    }

    /// What a predicate operand holds.
    pub(super) fn predicate(&mut self, state: &State, operand: PredicateOperand) -> Form {
        match operand.value {
            Operand::Imm(value) => match (value != 0) != operand.negated {
                true => Form::TRUE,
                false => Form::FALSE,
            },
            Operand::Reg(reg) => {
                let form = self.predicate_register(state, reg);
                self.forms.negated_if(form, operand.negated)
            }
        }
    }

    pub(super) fn set(&mut self, state: &mut State, reg: Reg, content: Content) {
        if let Some(place) = self.analysis.slice.place(reg) {
            state.set(place, content);
        }
    }

    /// The value of an operand of `width` bits.
    pub(super) fn value(
        &mut self,
        state: &State,
        operand: Operand,
        width: u32,
        at: At,
        position: u32,
    ) -> Value {
        match operand {
            Operand::Imm(bits) => Value::number(Lin::constant(residue(i128::from(bits), width, true))),
            Operand::Reg(reg) => match self.analysis.slice.place(reg).map(|place| state.get(place)) {
                Some(Content::Integer(value)) => value,
                _ => {
                    let loops = self.graph.loops_at(at.pc);
                    let key = AtomKey::Operand(at.pc, position);
                    let atom = self.atoms.make(key, Known::ANYTHING, loops);
                    Value::number(self.linear.atom(atom))
                }
            },
        }
    }

    /// The value of an operand that is no address.
    pub(super) fn number(
        &mut self,
        state: &State,
        operand: Operand,
        width: u32,
        at: At,
        position: u32,
    ) -> Option<Lin> {
        let value = self.value(state, operand, width, at, position);
        value.base.is_none().then_some(value.lin)
    }

    /// A fresh integer for a result.
    pub(super) fn fresh(&mut self, state: &mut State, at: At, result: u32, known: Known) -> Lin {
        let loops = self.graph.loops_at(at.pc);
        let atom = self.atoms.make(AtomKey::Result(at.pc, result), Known::ANYTHING, loops);
        state.facts.retain(|fact| self.linear.coefficient(fact.terms, atom) == 0);
        state.set_known(&self.atoms, atom, known);
        self.touch(state);
        self.linear.atom(atom)
    }

    /// Each register that is written gets some value of `ty`, or of its width.
    fn any_results(&mut self, state: &mut State, op: &Op, at: At, ty: Option<Type>) {
        let mut index = 0;
        op.for_each_def(|reg| {
            self.any_value(state, reg, at, index, ty);
            index += 1;
        });
    }

    fn any_value(&mut self, state: &mut State, reg: Reg, at: At, index: u32, ty: Option<Type>) {
        if self.analysis.slice.place(reg).is_none() {
            return;
        }
        if reg.width == Width::Predicate {
            self.set(state, reg, Content::Predicate(Form::UNKNOWN));
            return;
        }
        let whole = Known::of_width(reg.width.bits(), false);
        let known = match ty {
            Some(ty) if !ty.is_float() && ty.bits() <= reg.width.bits() && ty.width().is_some() => {
                Known::of_width(ty.bits(), ty.is_signed())
            }
            _ => whole,
        };
        let lin = self.fresh(state, at, index, known);
        self.set(state, reg, Content::Integer(Value::number(lin)));
    }

    fn comparison(
        &mut self,
        state: &State,
        comparison: Comparison,
        ty: Type,
        (a, b): (Operand, Operand),
        at: At,
    ) -> Form {
        let relation = match comparison {
            Comparison::Eq => Relation::Equal,
            Comparison::Ne => Relation::NotEqual,
            Comparison::Lt | Comparison::Lo => Relation::Less,
            Comparison::Le | Comparison::Ls => Relation::AtMost,
            Comparison::Gt | Comparison::Hi => Relation::Greater,
            Comparison::Ge | Comparison::Hs => Relation::AtLeast,
            _ => return Form::UNKNOWN,
        };
        if !is_plain(ty) {
            return Form::UNKNOWN;
        }
        let unsigned =
            matches!(comparison, Comparison::Lo | Comparison::Ls | Comparison::Hi | Comparison::Hs);
        let width = ty.bits();
        let (a, b) = (self.value(state, a, width, at, 0), self.value(state, b, width, at, 1));
        let signed = ty.is_signed() && !unsigned;
        self.forms.make(Condition::Compare(Compare { relation, signed, width, a, b }))
    }

    /// The value of the one result, where it is followed.
    fn result(&mut self, state: &mut State, op: &Op, at: At) -> Option<Value> {
        match op {
            Op::Mov { dst, src } => Some(self.value(state, *src, dst.width.bits(), at, 0)),
            Op::ReadSpecial { special, .. } => self.special(*special).map(Value::number),
            Op::AddressOf { dst, symbol, offset } => {
                let region = self.region_of(*symbol)?;
                let is_shared = self.space_of(region) == Space::Shared;
                let fits = dst.width == Width::B64 || (is_shared && dst.width == Width::B32);
                let base = Base { region, generic: false };
                fits.then(|| Value { base: Some(base), lin: Lin::constant(i128::from(*offset)) })
            }
            Op::ConvertAddress { to_generic, space, dst, src } => {
                let value = self.value(state, *src, dst.width.bits(), at, 0);
                let base = value.base.filter(|_| dst.width == Width::B64)?;
                let own = self.space_of(base.region);
                let generic = match own {
                    // one and the same number in both
                    Space::Global => false,
                    _ if base.generic == *to_generic => return None,
                    _ => *to_generic,
                };
                (own == *space).then_some(Value { base: Some(Base { generic, ..base }), ..value })
            }
            Op::Integer { op, ty, saturate: false, a, b, .. } if is_plain(*ty) => {
                self.arithmetic(state, *op, *ty, (*a, *b), at)
            }
            Op::MultiplyAdd { part, ty, saturate: false, a, b, c, .. } if is_plain(*ty) => {
                let (op, width) = match part {
                    MulPart::Lo => (IntegerOp::MulLo, ty.bits()),
                    MulPart::Hi => (IntegerOp::MulHi, ty.bits()),
                    MulPart::Wide => (IntegerOp::MulWide, 2 * ty.bits()),
                    MulPart::Lo24 | MulPart::Hi24 => return None,
                };
                let product = self.arithmetic(state, op, *ty, (*a, *b), at)?;
                let c = self.value(state, *c, width, at, 2);
                Some(Value { base: c.base, lin: self.linear.add(c.lin, product.lin) })
            }
            Op::IntegerUnary { op, ty, a, .. } if is_plain(*ty) => self.unary(state, *op, *ty, *a, at),
            Op::Logic { op, ty, a, b, .. } if is_plain(*ty) => {
                let a = self.number(state, *a, ty.bits(), at, 0)?;
                let b = self.number(state, *b, ty.bits(), at, 1)?;
                self.logic(state, *op, ty.bits(), (a, b), at).map(Value::number)
            }
            Op::Shift { left, ty, a, b, .. } if is_plain(*ty) => {
                let a = self.number(state, *a, ty.bits(), at, 0)?;
                let b = self.number(state, *b, 32, at, 1)?;
                self.shift(state, *left, *ty, (a, b), at).map(Value::number)
            }
            Op::BitFieldExtract {
                ty, a, position: Operand::Imm(from), length: Operand::Imm(length), ..
            } if !ty.is_signed() && *from < u64::from(ty.bits()) && *length <= u64::from(ty.bits()) => {
                let a = self.number(state, *a, ty.bits(), at, 0)?;
                let a = self.integer(state, a, ty.bits(), false);
                let high = self.floor_divide(state, a, 1 << from);
                Some(Value::number(self.low_bits(state, high, *length as u32)))
            }
            Op::Select { dst, a, b, predicate } => self.select(state, *dst, (*a, *b), *predicate, at),
            Op::Convert(convert) => self.convert(state, convert, at),
            Op::Pack { parts, dst } => {
                let part = dst.width.bits() / parts.len() as u32;
                let mut sum = Lin::ZERO;
                for (index, operand) in parts.iter().enumerate() {
                    let mut lin = self.number(state, *operand, part, at, index as u32)?;
                    if index + 1 < parts.len() {
                        lin = self.integer(state, lin, part, false);
                    }
                    sum = self.linear.add_scaled(sum, lin, 1 << (part * index as u32));
                }
                Some(Value::number(sum))
            }
            _ => None,
        }
    }

    fn unpack(&mut self, state: &mut State, dsts: &[Option<Reg>], src: Reg, at: At) {
        let width = src.width.bits();
        let part = width / dsts.len() as u32;
        let whole = match width <= 64 {
            true => self.number(state, Operand::Reg(src), width, at, 0),
            false => None,
        };
        let whole = whole.map(|lin| self.integer(state, lin, width, false));
        for (index, dst) in dsts.iter().enumerate() {
            let Some(dst) = dst.filter(|dst| self.analysis.slice.place(*dst).is_some()) else { continue };
            match whole {
                Some(lin) => {
                    let lin = self.floor_divide(state, lin, 1 << (part * index as u32));
                    self.set(state, dst, Content::Integer(Value::number(lin)));
                }
                None => self.any_value(state, dst, at, index as u32, None),
            }
        }
    }

    fn special(&mut self, special: SpecialReg) -> Option<Lin> {
        let extent = |of: crate::dim::Dim3, axis: Axis| match axis {
            Axis::X => of.x,
            Axis::Y => of.y,
            Axis::Z => of.z,
        };
        let (block, grid) = (self.launch.block, self.launch.grid);
        let (key, count) = match special {
            SpecialReg::NTid(axis) => return Some(Lin::constant(i128::from(extent(block, axis)))),
            SpecialReg::NCtaId(axis) => return Some(Lin::constant(i128::from(extent(grid, axis)))),
            SpecialReg::Tid(axis) => (AtomKey::Thread(axis), extent(block, axis)),
            SpecialReg::CtaId(axis) => (AtomKey::Block(axis), extent(grid, axis)),
            SpecialReg::LaneId => (AtomKey::Lane, 32),
            _ => return None,
        };
        if count <= 1 {
            return Some(Lin::ZERO);
        }
        let atom = self.atoms.make(key, Known::between(0, i128::from(count) - 1), 0);
        Some(self.linear.atom(atom))
    }

    fn select(
        &mut self,
        state: &mut State,
        dst: Reg,
        (a, b): (Operand, Operand),
        predicate: PredicateOperand,
        at: At,
    ) -> Option<Value> {
        let width = dst.width.bits();
        let form = self.predicate(state, predicate);
        let (a, b) = (self.value(state, a, width, at, 0), self.value(state, b, width, at, 1));
        match self.decide(state, form) {
            Some(true) => return Some(a),
            Some(false) => return Some(b),
            None if a == b => return Some(a),
            None if a.base != b.base => return None,
            None => {}
        }
        let (mut with, mut without) = (state.clone(), state.clone());
        if !self.assume(&mut with, form, true) {
            return Some(b);
        }
        if !self.assume(&mut without, form, false) {
            return Some(a);
        }
        let key = (AtomKey::Result(at.pc, 0), self.graph.loops_at(at.pc));
        let (lin, _) = self.hull(state, key, &[(&with, a.lin), (&without, b.lin)], width);
        Some(Value { base: a.base, lin })
    }

    fn convert(&mut self, state: &mut State, convert: &Convert, at: At) -> Option<Value> {
        let Convert { dst_ty, src_ty, saturate, dst, src, .. } = *convert;
        if saturate || !is_plain(dst_ty) || !is_plain(src_ty) {
            return None;
        }
        let (from, to, kept) = (src_ty.bits(), dst_ty.bits(), dst.width.bits());
        let width = src.reg().map_or(from, |reg| reg.width.bits());
        let value = self.value(state, src, width, at, 0);
        if let Some(base) = value.base {
            return self.convert_address(state, base, value.lin, (width, from, to, kept));
        }
        let mut lin = value.lin;
        if to > from {
            lin = self.integer(state, lin, from, src_ty.is_signed());
        }
        if kept > to {
            lin = self.integer(state, lin, to, dst_ty.is_signed());
        }
        Some(Value::number(lin))
    }

    /// An address survives a conversion where it stays as it is, and in shared memory, whose addresses have 32
    /// bits at most, also between 32 and 64 bits.
    fn convert_address(
        &mut self,
        state: &State,
        base: Base,
        lin: Lin,
        (width, from, to, kept): (u32, u32, u32, u32),
    ) -> Option<Value> {
        let same = Value { base: Some(base), lin };
        if width == 64 && from == 64 && to == 64 {
            return Some(same);
        }
        if base.generic || self.space_of(base.region) != Space::Shared || from < 32 || to < 32 {
            return None;
        }
        let narrowed = from.min(to) == 32;
        if kept == 32 || !narrowed {
            return Some(same);
        }
        // widened: the address must not have wrapped around in 32 bits
        let lin = self.fit(state, lin, 32, true)?;
        let (inf, sup) = self.bounds(state, lin);
        let (bytes, _) = self.extent_of(base.region);
        (inf >= 0 && sup <= i128::from(bytes)).then_some(Value { base: Some(base), lin })
    }

    fn load(&mut self, state: &mut State, load: &Load, at: At, proved: Option<Region>) {
        if load.space == Space::Param {
            self.load_parameter(state, load, at);
            return;
        }
        if let Some(index) = self.slot_of(state, load.address, load.space, load.ty, load.dsts.len(), at)
            && let [Some(dst)] = load.dsts[..]
            && dst.width.bits() == load.ty.bits()
            && let content @ Content::Integer(_) = state.get(index)
        {
            self.set(state, dst, content);
            return;
        }
        let contents = match proved {
            Some(Region::Buffer(index)) => self.launch.buffers.get(index as usize).and_then(|b| b.contents),
            _ => None,
        };
        let window = Known::of_width(load.ty.bits().min(64), load.ty.is_signed());
        let known = contents.filter(|contents| {
            let holds = contents.ty.bytes() == load.ty.bytes() && is_plain(load.ty);
            holds && window.low <= contents.min && contents.max <= window.high && contents.min <= contents.max
        });
        for (index, dst) in load.dsts.iter().enumerate() {
            let Some(dst) = *dst else { continue };
            match known {
                Some(known) if self.analysis.slice.place(dst).is_some() => {
                    let range = Known::between(known.min, known.max);
                    let lin = self.fresh(state, at, index as u32, range);
                    self.set(state, dst, Content::Integer(Value::number(lin)));
                }
                _ => self.any_value(state, dst, at, index as u32, Some(load.ty)),
            }
        }
    }

    /// A load from the parameters: a number that is known, or a buffer's address.
    fn load_parameter(&mut self, state: &mut State, load: &Load, at: At) {
        let op = Op::Load(Box::new(load.clone()));
        let read = super::slice::parameter_read(self.function, &op);
        let bytes = load.ty.bytes();
        for (index, dst) in load.dsts.iter().enumerate() {
            let Some(dst) = dst.filter(|dst| self.analysis.slice.place(*dst).is_some()) else { continue };
            let value = read.and_then(|(offset, _)| {
                let offset = offset + index as u32 * bytes;
                self.parameter(offset, load.ty, dst.width.bits())
            });
            match value {
                Some(value) => self.set(state, dst, Content::Integer(value)),
                None => self.any_value(state, dst, at, index as u32, Some(load.ty)),
            }
        }
    }

    fn parameter(&mut self, offset: u32, ty: Type, width: u32) -> Option<Value> {
        let size = ty.bytes();
        let end = offset.checked_add(size)?;
        for (index, buffer) in self.launch.buffers.iter().enumerate() {
            let start = self.function.params.get(buffer.param)?.offset.checked_add(buffer.offset)?;
            if (start, size, width) == (offset, 8, 64) {
                let base = Base { region: Region::Buffer(index as u32), generic: false };
                return Some(Value { base: Some(base), lin: Lin::ZERO });
            }
            if start < end && offset < start.checked_add(8)? {
                return None;
            }
        }
        if size > 8 {
            return None;
        }
        let bytes = self.launch.params.get(offset as usize..end as usize)?;
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let number = i128::from(u64::from_le_bytes(word));
        let signed = ty.is_signed() && width > ty.bits() || width == ty.bits();
        Some(Value::number(Lin::constant(residue(number, ty.bits(), signed))))
    }

    /// Whether both ends of a range are known.
    pub(super) fn is_finite((low, high): (i128, i128)) -> bool {
        low != -INFINITY && high != INFINITY
    }
}

/// An integer type of a register's width, not packed.
pub(super) fn is_plain(ty: Type) -> bool {
    use Type::*;
    matches!(ty, B8 | B16 | B32 | B64 | U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
}

/// The type of a result that is not followed, where it is narrower than its register may be.
fn result_type(op: &Op) -> Option<Type> {
    match op {
        Op::Convert(convert) => Some(convert.dst_ty),
        _ => None,
    }
}
