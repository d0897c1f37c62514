//! What the registers of one trace hold: sums over what is known where the trace begins, and for each instruction
//! which earlier one made what it reads. Where a jump over a part of the trace arrives, what that part may have written
//! is something new. Sums are right modulo two to the width of the register, so that
//! two addresses with the same terms differ by the difference of their constants, whatever wraps around.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::pointers::{self, Pointers};
use super::traces::Jumps;
use crate::ptx::ir::{
    AddressBase, Function, Inst, IntegerOp, IntegerUnaryOp, MulPart, Op, Operand, Reg, RegClass, Space, Type,
    Width,
};

/// Something that a sum does not look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    /// The address that the kernel's parameter with this index holds.
    Pointer(usize),
    /// What a register held when the trace began.
    Entry(Reg),
    /// A 32-bit value made 64 bits wide: an index into the trace's extensions.
    Extended(usize),
    /// What the instruction at this place put in a register.
    Made(usize, Reg),
    /// What a register holds where jumps arrive.
    Joined(usize, Reg),
}

/// Σ factor × atom + constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) terms: SmallVec<[(Atom, u64); 4]>,
    pub(super) constant: u64,
}

/// A 32-bit value that was made 64 bits wide.
#[derive(Clone, Debug)]
pub(super) struct Extension {
    pub(super) signed: bool,
    sum: Sum,
    /// A register that held it, and where that was written.
    pub(super) reg: Reg,
    pub(super) made: Made,
}

/// What gave a register its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write {
    /// The instruction behind which it has the value.
    pub(super) pc: usize,
    /// Did jumps arrive there, so that there are several values?
    pub(super) joined: bool,
}

/// What wrote a register; `None`: it was written before the trace.
pub(super) type Made = Option<Write>;

/// Terms beyond which a sum is an atom.
const MOST_TERMS: usize = 8;

impl Sum {
    fn constant(constant: u64) -> Self {
        Self { terms: SmallVec::new(), constant }
    }

    fn atom(atom: Atom) -> Self {
        Self { terms: smallvec::smallvec![(atom, 1)], constant: 0 }
    }

    fn scaled(&self, factor: u64, width: Width) -> Self {
        let term = |(atom, times): &(Atom, u64)| (*atom, wrapped(times.wrapping_mul(factor), width));
        let terms = self.terms.iter().map(term).filter(|(_, times)| *times != 0).collect();
        Self { terms, constant: wrapped(self.constant.wrapping_mul(factor), width) }
    }

    fn plus(&self, other: &Self, width: Width) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (atom, times) in &other.terms {
            match terms.iter_mut().find(|(known, _)| known == atom) {
                Some((_, sum)) => *sum = wrapped(sum.wrapping_add(*times), width),
                None => terms.push((*atom, *times)),
            }
        }
        terms.retain(|(_, times)| *times != 0);
        terms.sort_unstable();
        let constant = wrapped(self.constant.wrapping_add(other.constant), width);
        (terms.len() <= MOST_TERMS).then_some(Self { terms, constant })
    }

    /// The sum with `constant` added.
    pub(super) fn and(&self, constant: u64, width: Width) -> Self {
        Self { constant: wrapped(self.constant.wrapping_add(constant), width), ..self.clone() }
    }

    fn is_constant(&self) -> Option<u64> {
        self.terms.is_empty().then_some(self.constant)
    }
}

fn wrapped(value: u64, width: Width) -> u64 {
    if width == Width::B64 { value } else { value & 0xffff_ffff }
}

fn key(reg: Reg) -> (u8, u32) {
    let class = match reg.class() {
        RegClass::Predicate => 0,
        RegClass::Slot32 => 1,
        RegClass::Slot64 => 2,
        RegClass::Slot128 => 3,
    };
    (class, reg.index)
}

/// One trace.
pub(super) struct Block<'a> {
    function: &'a Function,
    buffers: &'a [usize],
    pointers: &'a Pointers,
    pub(super) jumps: &'a Jumps,
    begin: usize,
    held: HashMap<(u8, u32), Sum>,
    written: HashMap<(u8, u32), Vec<Write>>,
    pub(super) extensions: Vec<Extension>,
    /// What each instruction reads, and what wrote that.
    uses: Vec<SmallVec<[(Reg, Made); 4]>>,
    /// What each instruction writes, with what is new where jumps arrive at it.
    defs: Vec<SmallVec<[Reg; 2]>>,
    /// What the address registers of each instruction hold, offset not counted.
    addresses: HashMap<(usize, usize), Sum>,
}

impl<'a> Block<'a> {
    /// The trace of `function` from `begin` to `end`.
    pub(super) fn of(
        function: &'a Function,
        buffers: &'a [usize],
        pointers: &'a Pointers,
        jumps: &'a Jumps,
        (begin, end): (usize, usize),
    ) -> Self {
        let mut this = Self {
            function,
            buffers,
            pointers,
            jumps,
            begin,
            held: HashMap::new(),
            written: HashMap::new(),
            extensions: Vec::new(),
            uses: Vec::new(),
            defs: Vec::new(),
            addresses: HashMap::new(),
        };
        for pc in begin..end {
            let arriving = if pc > begin { jumps.first_to(pc) } else { None };
            let joined = arriving.map_or(SmallVec::new(), |source| this.join(source, pc));
            this.defs.push(joined);
            this.step(pc, &function.code[pc]);
        }
        this
    }

    /// Jumps from `source` on arrive at `pc`: gives what may have been written since.
    fn join(&mut self, source: usize, pc: usize) -> SmallVec<[Reg; 2]> {
        let mut joined: SmallVec<[Reg; 2]> = SmallVec::new();
        for defs in self.defs.iter().skip(source + 1 - self.begin) {
            joined.extend(defs.iter().copied());
        }
        joined.sort_unstable();
        joined.dedup();
        for reg in &joined {
            self.held.insert(key(*reg), Sum::atom(Atom::Joined(pc, *reg)));
            let write = Write { pc: pc - 1, joined: true };
            self.written.entry(key(*reg)).or_default().push(write);
        }
        joined
    }

    /// What the instruction at `pc` reads, and what wrote that.
    pub(super) fn uses(&self, pc: usize) -> &[(Reg, Made)] {
        pc.checked_sub(self.begin).and_then(|at| self.uses.get(at)).map_or(&[], |uses| uses)
    }

    /// What wrote what `reg` holds before the instruction at `pc`.
    pub(super) fn made(&self, reg: Reg, pc: usize) -> Made {
        let written = self.written.get(&key(reg))?;
        written[..written.partition_point(|write| write.pc < pc)].last().copied()
    }

    /// What the address register of the access number `number` at `pc` holds.
    pub(super) fn address(&self, pc: usize, number: usize) -> Option<&Sum> {
        self.addresses.get(&(pc, number))
    }

    fn value(&self, reg: Reg) -> Sum {
        self.held.get(&key(reg)).cloned().unwrap_or_else(|| {
            let pointer = match reg.width {
                Width::B64 => self.pointers.get(self.begin, reg.index),
                _ => None,
            };
            Sum::atom(pointer.map_or(Atom::Entry(reg), Atom::Pointer))
        })
    }

    fn operand(&self, operand: &Operand, width: Width) -> Option<Sum> {
        match operand {
            Operand::Reg(reg) => (reg.width == width).then(|| self.value(*reg)),
            Operand::Imm(bits) => Some(Sum::constant(wrapped(*bits, width))),
        }
    }

    fn step(&mut self, pc: usize, inst: &Inst) {
        let mut uses = SmallVec::new();
        inst.for_each_use(|reg| uses.push((reg, self.made(reg, pc))));
        self.uses.push(uses);
        for (number, access) in inst.op.memory_accesses().iter().enumerate() {
            if let AddressBase::Reg(reg) = access.address.base {
                let sum = self.value(reg);
                self.addresses.insert((pc, number), sum);
            }
        }
        let sum = match inst.guard {
            None => self.sum(pc, inst),
            Some(_) => None,
        };
        let mut defs: SmallVec<[Reg; 4]> = SmallVec::new();
        inst.for_each_def(|reg| defs.push(reg));
        for reg in defs {
            let sum = sum.clone().filter(|(_, width)| *width == reg.width);
            self.held.insert(key(reg), sum.map_or(Sum::atom(Atom::Made(pc, reg)), |(sum, _)| sum));
            self.written.entry(key(reg)).or_default().push(Write { pc, joined: false });
            if let Some(defs) = self.defs.last_mut() {
                defs.push(reg);
            }
        }
    }

    /// What `inst` puts in its one destination, of this width.
    fn sum(&mut self, pc: usize, inst: &Inst) -> Option<(Sum, Width)> {
        match &inst.op {
            Op::Mov { dst, src } if matches!(dst.width, Width::B32 | Width::B64) => {
                Some((self.operand(src, dst.width)?, dst.width))
            }
            Op::ConvertAddress { space: Space::Global, src, .. } => {
                Some((self.operand(src, Width::B64)?, Width::B64))
            }
            Op::Load(_) => {
                let parameter = pointers::loaded(self.function, self.buffers, inst)?;
                Some((Sum::atom(Atom::Pointer(parameter)), Width::B64))
            }
            Op::Integer { op, ty, saturate: false, a, b, .. } => {
                let width = integer_width(*ty)?;
                match op {
                    IntegerOp::Add => {
                        Some((self.operand(a, width)?.plus(&self.operand(b, width)?, width)?, width))
                    }
                    IntegerOp::Sub => {
                        let b = self.operand(b, width)?.scaled(u64::MAX, width);
                        Some((self.operand(a, width)?.plus(&b, width)?, width))
                    }
                    IntegerOp::MulLo => Some((self.product(a, b, width)?, width)),
                    IntegerOp::MulWide => Some((self.wide(pc, *ty, a, b)?, Width::B64)),
                    _ => None,
                }
            }
            Op::MultiplyAdd { part, ty, saturate: false, a, b, c, .. } => {
                let width = integer_width(*ty)?;
                match part {
                    MulPart::Lo => {
                        Some((self.product(a, b, width)?.plus(&self.operand(c, width)?, width)?, width))
                    }
                    MulPart::Wide => {
                        let product = self.wide(pc, *ty, a, b)?;
                        let sum = product.plus(&self.operand(c, Width::B64)?, Width::B64)?;
                        Some((sum, Width::B64))
                    }
                    _ => None,
                }
            }
            Op::Shift { left: true, ty, a, b, .. } => {
                let width = integer_width(*ty)?;
                let by = b.imm().filter(|&by| by < u64::from(width.bits()))?;
                Some((self.operand(a, width)?.scaled(1 << by, width), width))
            }
            Op::IntegerUnary { op: IntegerUnaryOp::Neg, ty, a, .. } => {
                let width = integer_width(*ty)?;
                Some((self.operand(a, width)?.scaled(u64::MAX, width), width))
            }
            Op::Convert(convert) if convert.dst_ty.bits() == 64 && !convert.dst_ty.is_float() => {
                if convert.saturate || convert.src_ty.is_float() {
                    return None;
                }
                match convert.src_ty.bits() {
                    64 => Some((self.operand(&convert.src, Width::B64)?, Width::B64)),
                    32 => {
                        let sum = self.extended(pc, convert.src_ty.is_signed(), &convert.src)?;
                        Some((sum, Width::B64))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn product(&self, a: &Operand, b: &Operand, width: Width) -> Option<Sum> {
        let (a, b) = (self.operand(a, width)?, self.operand(b, width)?);
        match (a.is_constant(), b.is_constant()) {
            (_, Some(factor)) => Some(a.scaled(factor, width)),
            (Some(factor), None) => Some(b.scaled(factor, width)),
            (None, None) => None,
        }
    }

    /// `mul.wide` by a constant.
    fn wide(&mut self, pc: usize, ty: Type, a: &Operand, b: &Operand) -> Option<Sum> {
        if ty.bits() != 32 {
            return None;
        }
        let (value, factor) = match (a, b) {
            (value, Operand::Imm(factor)) | (Operand::Imm(factor), value) => (value, *factor as u32),
            _ => return None,
        };
        let factor = if ty.is_signed() { i64::from(factor as i32) as u64 } else { u64::from(factor) };
        Some(self.extended(pc, ty.is_signed(), value)?.scaled(factor, Width::B64))
    }

    fn extended(&mut self, pc: usize, signed: bool, operand: &Operand) -> Option<Sum> {
        let Operand::Reg(reg) = *operand else { return None };
        let sum = self.operand(operand, Width::B32)?;
        let known = self.extensions.iter().position(|known| known.signed == signed && known.sum == sum);
        let index = known.unwrap_or_else(|| {
            let made = self.made(reg, pc);
            self.extensions.push(Extension { signed, sum, reg, made });
            self.extensions.len() - 1
        });
        Some(Sum::atom(Atom::Extended(index)))
    }
}

/// The width of registers of an integer type, if it is one that sums are kept of.
fn integer_width(ty: Type) -> Option<Width> {
    match ty {
        Type::B32 | Type::U32 | Type::S32 => Some(Width::B32),
        Type::B64 | Type::U64 | Type::S64 => Some(Width::B64),
        _ => None,
    }
}
