//! The register file of one warp: a row of 32 lanes for each register, and how rows are read and written. Which
//! rows belong to which activation is in [`Frame`]; what is computed on them is elsewhere.

use crate::ptx::ir::{Operand, PredicateOperand, Reg, RegClass, RegisterFile, Width};

/// Threads of a warp.
pub(super) const LANES: usize = 32;
/// The mask of all lanes.
pub(super) const FULL: u32 = u32::MAX;

/// 32 lanes of 32 bits, in chunks of one vector register.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Row32(pub(super) [[u32; 8]; 4]);

/// 32 lanes of 64 bits, in chunks of one vector register.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Row64(pub(super) [[u64; 4]; 8]);

impl Row32 {
    #[inline(always)]
    pub(super) fn splat(value: u32) -> Self {
        Self([[value; 8]; 4])
    }

    #[inline(always)]
    pub(super) fn lane(&self, lane: usize) -> u32 {
        self.0[lane / 8 % 4][lane % 8]
    }

    #[inline(always)]
    pub(super) fn lane_mut(&mut self, lane: usize) -> &mut u32 {
        &mut self.0[lane / 8 % 4][lane % 8]
    }
}

impl Row64 {
    #[inline(always)]
    pub(super) fn splat(value: u64) -> Self {
        Self([[value; 4]; 8])
    }

    #[inline(always)]
    pub(super) fn lane(&self, lane: usize) -> u64 {
        self.0[lane / 4 % 8][lane % 4]
    }

    #[inline(always)]
    pub(super) fn lane_mut(&mut self, lane: usize) -> &mut u64 {
        &mut self.0[lane / 4 % 8][lane % 4]
    }
}

/// The numbers of the lanes in `mask`, lowest first.
#[inline]
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        (rest != 0).then(|| {
            rest &= rest - 1;
            lane as usize
        })
    })
}

/// An activation of a function: where its registers begin in the files of the warp, and its bytes in the
/// local memory of each lane.
///
/// Lanes may be at different depths of calls. Each lane has a column of its own, so two activations may share
/// rows as long as no lane is in both; lanes run together exactly when program counter and frame are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Frame {
    /// Index of the function in the module.
    pub(super) function: u32,
    /// Calls below this activation.
    pub(super) depth: u32,
    pub(super) predicates: u32,
    pub(super) slots32: u32,
    pub(super) slots64: u32,
    pub(super) slots128: u32,
    /// Byte in local memory.
    pub(super) local: u32,
}

/// The registers of one warp.
#[derive(Default)]
pub(super) struct Registers {
    pub(super) predicates: Vec<u32>,
    pub(super) slots32: Vec<Row32>,
    pub(super) slots64: Vec<Row64>,
    slots128: Vec<[u128; LANES]>,
    /// The hidden carry of each lane.
    pub(super) carry: u32,
}

impl Registers {
    /// Makes room for an activation and sets its rows to zero in the lanes of `mask`. A register nobody wrote
    /// reads as zero, so that a launch gives the same result whatever ran before it.
    pub(super) fn enter(&mut self, frame: &Frame, file: &RegisterFile, mask: u32) {
        let end = |base: u32, count: u32| base as usize + count as usize;
        grow(&mut self.predicates, end(frame.predicates, file.predicates), 0);
        grow(&mut self.slots32, end(frame.slots32, file.slots32), Row32::splat(0));
        grow(&mut self.slots64, end(frame.slots64, file.slots64), Row64::splat(0));
        grow(&mut self.slots128, end(frame.slots128, file.slots128), [0; LANES]);
        for row in &mut self.predicates[frame.predicates as usize..][..file.predicates as usize] {
            *row &= !mask;
        }
        let rows32 = &mut self.slots32[frame.slots32 as usize..][..file.slots32 as usize];
        let rows64 = &mut self.slots64[frame.slots64 as usize..][..file.slots64 as usize];
        if mask == FULL {
            rows32.fill(Row32::splat(0));
            rows64.fill(Row64::splat(0));
        } else {
            for lane in lanes(mask) {
                rows32.iter_mut().for_each(|row| *row.lane_mut(lane) = 0);
                rows64.iter_mut().for_each(|row| *row.lane_mut(lane) = 0);
            }
        }
        for row in &mut self.slots128[frame.slots128 as usize..][..file.slots128 as usize] {
            lanes(mask).for_each(|lane| row[lane] = 0);
        }
    }

    /// Sets single rows of an activation at the bottom of the file to zero in all lanes.
    pub(super) fn clear(&mut self, rows: &[(RegClass, u32)]) {
        for &(class, row) in rows {
            let row = row as usize;
            match class {
                RegClass::Predicate => self.predicates.get_mut(row).into_iter().for_each(|r| *r = 0),
                RegClass::Slot32 => {
                    self.slots32.get_mut(row).into_iter().for_each(|r| *r = Row32::splat(0));
                }
                RegClass::Slot64 => {
                    self.slots64.get_mut(row).into_iter().for_each(|r| *r = Row64::splat(0));
                }
                RegClass::Slot128 => self.slots128.get_mut(row).into_iter().for_each(|r| *r = [0; LANES]),
            }
        }
    }

    /// The mask of a predicate register.
    #[inline]
    pub(super) fn predicate(&self, frame: &Frame, index: u32) -> u32 {
        self.predicates.get((frame.predicates + index) as usize).copied().unwrap_or(0)
    }

    /// The lanes in which `operand` holds.
    pub(super) fn holds(&self, frame: &Frame, operand: PredicateOperand) -> u32 {
        let value = match operand.value {
            Operand::Imm(bits) => 0_u32.wrapping_sub((bits & 1) as u32),
            Operand::Reg(reg) => self.predicate(frame, reg.index),
        };
        if operand.negated { !value } else { value }
    }

    /// Sets a predicate register in the lanes of `mask`.
    pub(super) fn set_predicate(&mut self, frame: &Frame, reg: Reg, mask: u32, value: u32) {
        if let Some(row) = self.predicates.get_mut((frame.predicates + reg.index) as usize) {
            *row = *row & !mask | value & mask;
        }
    }

    /// All lanes of an operand of at most 64 bits; predicates read as 0 and 1.
    pub(super) fn row(&self, frame: &Frame, operand: Operand) -> [u64; LANES] {
        let reg = match operand {
            Operand::Imm(bits) => return [bits; LANES],
            Operand::Reg(reg) => reg,
        };
        match reg.class() {
            RegClass::Predicate => {
                let mask = self.predicate(frame, reg.index);
                std::array::from_fn(|lane| u64::from(mask >> lane & 1))
            }
            RegClass::Slot32 => match self.slots32.get((frame.slots32 + reg.index) as usize) {
                Some(row) => std::array::from_fn(|lane| u64::from(row.lane(lane))),
                None => [0; LANES],
            },
            RegClass::Slot64 => match self.slots64.get((frame.slots64 + reg.index) as usize) {
                Some(row) => std::array::from_fn(|lane| row.lane(lane)),
                None => [0; LANES],
            },
            RegClass::Slot128 => self.row128(frame, reg).map(|v| v as u64),
        }
    }

    /// One lane of an operand of at most 64 bits.
    pub(super) fn lane(&self, frame: &Frame, operand: Operand, lane: usize) -> u64 {
        let reg = match operand {
            Operand::Imm(bits) => return bits,
            Operand::Reg(reg) => reg,
        };
        match reg.class() {
            RegClass::Predicate => u64::from(self.predicate(frame, reg.index) >> lane & 1),
            RegClass::Slot32 => self
                .slots32
                .get((frame.slots32 + reg.index) as usize)
                .map_or(0, |row| u64::from(row.lane(lane))),
            RegClass::Slot64 => {
                self.slots64.get((frame.slots64 + reg.index) as usize).map_or(0, |row| row.lane(lane))
            }
            RegClass::Slot128 => self.row128(frame, reg)[lane % LANES] as u64,
        }
    }

    /// Writes the lanes of `mask`, truncated to the register's width (rule 3 of the IR).
    pub(super) fn set(&mut self, frame: &Frame, reg: Reg, mask: u32, values: &[u64; LANES]) {
        match reg.class() {
            RegClass::Predicate => {
                let bits = (0..LANES).fold(0, |bits, lane| bits | ((values[lane] & 1) as u32) << lane);
                self.set_predicate(frame, reg, mask, bits);
            }
            RegClass::Slot32 => {
                let keep = match reg.width {
                    Width::B8 => 0xff,
                    Width::B16 => 0xffff,
                    _ => u32::MAX,
                };
                if let Some(row) = self.slots32.get_mut((frame.slots32 + reg.index) as usize) {
                    lanes(mask).for_each(|lane| *row.lane_mut(lane) = values[lane] as u32 & keep);
                }
            }
            RegClass::Slot64 => {
                if let Some(row) = self.slots64.get_mut((frame.slots64 + reg.index) as usize) {
                    lanes(mask).for_each(|lane| *row.lane_mut(lane) = values[lane]);
                }
            }
            RegClass::Slot128 => {
                self.set128(frame, reg, mask, &values.map(u128::from));
            }
        }
    }

    /// All lanes of a 128-bit register.
    pub(super) fn row128(&self, frame: &Frame, reg: Reg) -> [u128; LANES] {
        self.slots128.get((frame.slots128 + reg.index) as usize).copied().unwrap_or([0; LANES])
    }

    /// Writes the lanes of `mask` of a 128-bit register.
    pub(super) fn set128(&mut self, frame: &Frame, reg: Reg, mask: u32, values: &[u128; LANES]) {
        if let Some(row) = self.slots128.get_mut((frame.slots128 + reg.index) as usize) {
            lanes(mask).for_each(|lane| row[lane] = values[lane]);
        }
    }

    /// All lanes of an operand of any width.
    pub(super) fn wide_row(&self, frame: &Frame, operand: Operand) -> [u128; LANES] {
        match operand {
            Operand::Reg(reg) if reg.class() == RegClass::Slot128 => self.row128(frame, reg),
            _ => self.row(frame, operand).map(u128::from),
        }
    }

    /// Writes the lanes of `mask` of a register of any width.
    pub(super) fn set_wide(&mut self, frame: &Frame, reg: Reg, mask: u32, values: &[u128; LANES]) {
        match reg.class() {
            RegClass::Slot128 => self.set128(frame, reg, mask, values),
            _ => self.set(frame, reg, mask, &values.map(|v| v as u64)),
        }
    }
}

fn grow<T: Clone>(rows: &mut Vec<T>, len: usize, value: T) {
    if rows.len() < len {
        rows.resize(len, value);
    }
}
