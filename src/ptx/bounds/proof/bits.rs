//! Arithmetic of two numbers, logic and shifts, as linear expressions where they are.

use super::atoms::{INFINITY, Known};
use super::engine::Engine;
use super::linear::{Lin, gcd, residue};
use super::state::{State, Value};
use super::transfer::At;
use crate::ptx::ir::{BoolOp, IntegerOp, IntegerUnaryOp, Operand, Type};

impl Engine<'_> {
    pub(super) fn arithmetic(
        &mut self,
        state: &mut State,
        op: IntegerOp,
        ty: Type,
        (a, b): (Operand, Operand),
        at: At,
    ) -> Option<Value> {
        let (width, signed) = (ty.bits(), ty.is_signed());
        let (left, right) = (self.value(state, a, width, at, 0), self.value(state, b, width, at, 1));
        match op {
            IntegerOp::Add => {
                if left.base.is_some() && right.base.is_some() {
                    return None;
                }
                let lin = self.linear.add(left.lin, right.lin);
                return Some(Value { base: left.base.or(right.base), lin });
            }
            IntegerOp::Sub => {
                let base = match (left.base, right.base) {
                    (base, None) => base,
                    (left, right) if left == right => None,
                    _ => return None,
                };
                return Some(Value { base, lin: self.linear.sub(left.lin, right.lin) });
            }
            _ => {}
        }
        if left.base.is_some() || right.base.is_some() {
            return None;
        }
        let (a, b) = (left.lin, right.lin);
        let lin = match op {
            IntegerOp::MulLo => self.product(state, (a, b), width, at)?,
            IntegerOp::MulWide => {
                let a = self.integer(state, a, width, signed);
                let b = self.integer(state, b, width, signed);
                self.product(state, (a, b), 2 * width, at)?
            }
            IntegerOp::MulHi => {
                let a = self.integer(state, a, width, signed);
                let b = self.integer(state, b, width, signed);
                let (low, high) = corners(self.bounds(state, a), self.bounds(state, b))?;
                self.fresh(state, at, 0, Known::between(low >> width, high >> width))
            }
            IntegerOp::Div | IntegerOp::Rem => {
                let a = self.integer(state, a, width, signed);
                let b = self.integer(state, b, width, signed);
                self.quotient(state, op == IntegerOp::Div, (a, b), at)?
            }
            IntegerOp::Min | IntegerOp::Max => {
                let a = self.integer(state, a, width, signed);
                let b = self.integer(state, b, width, signed);
                self.extreme(state, op == IntegerOp::Max, (a, b), at)?
            }
            _ => return None,
        };
        Some(Value::number(lin))
    }

    /// `a × b` modulo `2^width`.
    fn product(&mut self, state: &mut State, (a, b): (Lin, Lin), width: u32, at: At) -> Option<Lin> {
        let (a, b) = (self.simplified(state, a), self.simplified(state, b));
        for (constant, other) in [(b, a), (a, b)] {
            if let Some(constant) = constant.as_constant() {
                return Some(self.scaled(other, residue(constant, width, true), width));
            }
        }
        let (low, high) = corners(self.bounds(state, a), self.bounds(state, b))?;
        let modulus_of = |(modulus, remainder): (i128, i128)| if remainder == 0 { modulus } else { 1 };
        let (m, n) = (modulus_of(self.congruence(state, a)), modulus_of(self.congruence(state, b)));
        let modulus = m.max(1).checked_mul(n.max(1)).unwrap_or(1);
        Some(self.fresh(state, at, 0, Known { low, high, modulus, remainder: 0 }))
    }

    /// `k·lin`; numbers that outgrow the width are reduced, which changes nothing modulo `2^width`.
    fn scaled(&mut self, lin: Lin, k: i128, width: u32) -> Lin {
        let bound = 1_i128 << width;
        let fits = |c: i128| c.checked_mul(k).is_some_and(|product| -bound < product && product < bound);
        let terms = self.linear.terms(lin.terms);
        if fits(lin.constant) && terms.iter().all(|term| fits(term.1)) {
            return self.linear.scale(lin, k);
        }
        let reduced = |c: i128| {
            // both below 2^width in size, so the product of residues fits
            let (c, k) = (residue(c, width, false) as u128, residue(k, width, false) as u128);
            let product = c.wrapping_mul(k) & (u128::MAX >> (128 - width));
            residue(product as i128, width, true)
        };
        let mut sum = Lin::constant(reduced(lin.constant));
        for &(atom, c) in terms.iter() {
            let atom = self.linear.atom(atom);
            sum = self.linear.add_scaled(sum, atom, reduced(c));
        }
        sum
    }

    fn quotient(&mut self, state: &mut State, divide: bool, (a, b): (Lin, Lin), at: At) -> Option<Lin> {
        let b = self.simplified(state, b);
        let (low, high) = self.bounds(state, a);
        if low < 0 {
            return None;
        }
        if let Some(divisor) = b.as_constant().filter(|divisor| *divisor > 0) {
            let quotient = self.floor_divide(state, a, divisor);
            return Some(match divide {
                true => quotient,
                false => self.linear.add_scaled(a, quotient, -divisor),
            });
        }
        let (least, most) = self.bounds(state, b);
        if least <= 0 || !Self::is_finite((low, high)) || most == INFINITY {
            return None;
        }
        let known = match divide {
            true => Known::between(low / most, high / least),
            false => Known::between(0, high.min(most - 1)),
        };
        Some(self.fresh(state, at, 0, known))
    }

    fn extreme(&mut self, state: &mut State, max: bool, (a, b): (Lin, Lin), at: At) -> Option<Lin> {
        // the larger of two is the smaller of their negatives
        let sign = if max { -1 } else { 1 };
        let (a, b) = (self.linear.scale(a, sign), self.linear.scale(b, sign));
        let difference = self.linear.sub(a, b);
        let least = if self.sup(state, difference) <= 0 {
            a
        } else if self.inf(state, difference) >= 0 {
            b
        } else {
            let (one, two) = (self.bounds(state, a), self.bounds(state, b));
            if !Self::is_finite(one) || !Self::is_finite(two) {
                return None;
            }
            let known = Known::between(one.0.min(two.0), one.1.min(two.1));
            let least = self.fresh(state, at, 0, known);
            for operand in [a, b] {
                let below = self.linear.sub(least, operand);
                // contradictions come only where this point is not reached
                let _ = self.assume_not_positive(state, below);
            }
            least
        };
        Some(self.linear.scale(least, sign))
    }

    pub(super) fn unary(
        &mut self,
        state: &mut State,
        op: IntegerUnaryOp,
        ty: Type,
        a: Operand,
        at: At,
    ) -> Option<Value> {
        let width = ty.bits();
        let lin = match op {
            IntegerUnaryOp::Popc | IntegerUnaryOp::Clz => {
                self.fresh(state, at, 0, Known::between(0, i128::from(width)))
            }
            IntegerUnaryOp::CNot => self.fresh(state, at, 0, Known::between(0, 1)),
            IntegerUnaryOp::Neg => {
                let a = self.number(state, a, width, at, 0)?;
                self.linear.scale(a, -1)
            }
            IntegerUnaryOp::Not => {
                let a = self.number(state, a, width, at, 0)?;
                let negated = self.linear.scale(a, -1);
                self.linear.plus(negated, -1)
            }
            IntegerUnaryOp::Abs => {
                let a = self.number(state, a, width, at, 0)?;
                let a = self.integer(state, a, width, true);
                match self.bounds(state, a) {
                    (low, _) if low >= 0 => a,
                    (_, high) if high <= 0 => self.linear.scale(a, -1),
                    (low, high) if Self::is_finite((low, high)) => {
                        self.fresh(state, at, 0, Known::between(0, high.max(-low)))
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(Value::number(lin))
    }

    pub(super) fn shift(
        &mut self,
        state: &mut State,
        left: bool,
        ty: Type,
        (a, by): (Lin, Lin),
        at: At,
    ) -> Option<Lin> {
        let (width, signed) = (ty.bits(), ty.is_signed() && !left);
        let by = self.integer(state, by, 32, false);
        let by = self.simplified(state, by);
        if let Some(by) = by.as_constant() {
            let beyond = by >= i128::from(width);
            if left {
                return Some(if beyond { Lin::ZERO } else { self.scaled(a, 1 << by, width) });
            }
            if beyond && !signed {
                return Some(Lin::ZERO);
            }
            let a = self.integer(state, a, width, signed);
            let by = by.min(i128::from(width) - 1);
            return Some(self.floor_divide(state, a, 1 << by));
        }
        let a = self.integer(state, a, width, signed);
        let (amounts, values) = (self.bounds(state, by), self.bounds(state, a));
        if !Self::is_finite(amounts) || !Self::is_finite(values) {
            return None;
        }
        // amounts are not negative, as they were read unsigned
        let width = i128::from(width);
        let (least, most) = (amounts.0.clamp(0, width), amounts.1.clamp(0, width));
        let known = if left {
            let fits = most < width && values.0 >= 0 && values.1 < 1 << (width - most);
            fits.then(|| Known::between(values.0 << least, values.1 << most))?
        } else if values.0 >= 0 {
            Known::between(values.0 >> most, values.1 >> least)
        } else {
            Known::between(values.0.min(-1), values.1.max(0))
        };
        Some(self.fresh(state, at, 0, known))
    }

    pub(super) fn logic(
        &mut self,
        state: &mut State,
        op: BoolOp,
        width: u32,
        (a, b): (Lin, Lin),
        at: At,
    ) -> Option<Lin> {
        let (mut a, mut b) = (self.simplified(state, a), self.simplified(state, b));
        if a.is_constant() {
            std::mem::swap(&mut a, &mut b);
        }
        if let Some(mask) = b.as_constant() {
            let mask = residue(mask, width, false);
            if let Some(a) = a.as_constant() {
                let a = residue(a, width, false);
                return Some(Lin::constant(match op {
                    BoolOp::And => a & mask,
                    BoolOp::Or => a | mask,
                    BoolOp::Xor => a ^ mask,
                }));
            }
            let done = match op {
                BoolOp::And => return Some(self.masked(state, a, mask, width, at)),
                _ => self.with_bits(state, op, (a, mask), width),
            };
            if done.is_some() {
                return done;
            }
        }
        if let Some(done) = self.disjoint(state, op, (a, b), width) {
            return Some(done);
        }
        let a = self.integer(state, a, width, false);
        let b = self.integer(state, b, width, false);
        let (first, second) = (self.bounds(state, a), self.bounds(state, b));
        if !Self::is_finite(first) || !Self::is_finite(second) || first.0 < 0 || second.0 < 0 {
            return None;
        }
        let (m, n) = (self.trailing_zeros(state, a, width), self.trailing_zeros(state, b, width));
        let all_ones = (1 << (128 - first.1.max(second.1).leading_zeros())) - 1;
        let (low, high, zeros) = match op {
            BoolOp::And => (0, first.1.min(second.1), m.max(n)),
            BoolOp::Or => (first.0.max(second.0), all_ones, m.min(n)),
            BoolOp::Xor => (0, all_ones, m.min(n)),
        };
        Some(self.fresh(state, at, 0, Known { low, high, modulus: 1 << zeros, remainder: 0 }))
    }

    /// `lin & mask`
    fn masked(&mut self, state: &mut State, lin: Lin, mask: i128, width: u32, at: At) -> Lin {
        if mask == 0 {
            return Lin::ZERO;
        }
        if mask == (1 << width) - 1 {
            return lin;
        }
        let (from, to) = (mask.trailing_zeros(), 128 - mask.leading_zeros());
        if mask == (1 << to) - (1 << from) {
            if from == 0 {
                return self.low_bits(state, lin, to);
            }
            let high = self.floor_divide(state, lin, 1 << from);
            let field = self.low_bits(state, high, to - from);
            return self.linear.scale(field, 1 << from);
        }
        let (low, high) = self.bounds(state, lin);
        let high = if low >= 0 && high < mask { high } else { mask };
        let modulus = 1 << from;
        self.fresh(
            state,
            at,
            0,
            Known { low: 0, high: high - high.rem_euclid(modulus), modulus, remainder: 0 },
        )
    }

    /// `lin | mask` or `lin ^ mask`, where `lin` has none of the mask's bits, or the mask is nothing or all.
    fn with_bits(&mut self, state: &State, op: BoolOp, (lin, mask): (Lin, i128), width: u32) -> Option<Lin> {
        if mask == 0 {
            return Some(lin);
        }
        if op == BoolOp::Xor && mask == (1 << width) - 1 {
            let negated = self.linear.scale(lin, -1);
            return Some(self.linear.plus(negated, -1));
        }
        let (from, to) = (mask.trailing_zeros(), 128 - mask.leading_zeros());
        let (_, low) = self.split(state, lin, 1 << to)?;
        (self.sup(state, low) < 1 << from).then(|| self.linear.plus(lin, mask))
    }

    /// One operand is a multiple of a power of two that the other lies below: no bit is in both.
    fn disjoint(&mut self, state: &State, op: BoolOp, (a, b): (Lin, Lin), width: u32) -> Option<Lin> {
        for (multiple, below) in [(a, b), (b, a)] {
            let (low, high) = self.bounds(state, below);
            if low < 0 || high == INFINITY {
                continue;
            }
            let bits = 128 - high.leading_zeros();
            if bits >= width {
                continue;
            }
            let zero = self.remainder_by_congruence(state, multiple, 1 << bits) == Some(0)
                || self.split(state, multiple, 1 << bits).is_some_and(|(_, rest)| rest == Lin::ZERO);
            if zero {
                return Some(match op {
                    BoolOp::And => Lin::ZERO,
                    _ => self.linear.add(multiple, below),
                });
            }
        }
        None
    }

    /// How many low bits of `lin` are zero for certain.
    fn trailing_zeros(&self, state: &State, lin: Lin, width: u32) -> u32 {
        let (modulus, remainder) = self.congruence(state, lin);
        match gcd(modulus, remainder) {
            0 => width,
            common => common.trailing_zeros().min(width),
        }
    }
}

/// The range of a product, where both factors have one.
fn corners(a: (i128, i128), b: (i128, i128)) -> Option<(i128, i128)> {
    if a.0 == -INFINITY || a.1 == INFINITY || b.0 == -INFINITY || b.1 == INFINITY {
        return None;
    }
    let products = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)].map(|(x, y)| x.checked_mul(y));
    let [Some(p), Some(q), Some(r), Some(s)] = products else { return None };
    let (low, high) = (p.min(q).min(r).min(s), p.max(q).max(r).max(s));
    (-super::linear::LIMIT < low && high < super::linear::LIMIT).then_some((low, high))
}
