//! The loop that runs a group of lanes until it has to stop: decoded operations on whole rows. What has no fast
//! form, and whatever a fast form cannot decide, goes to [`Context::execute`], which runs the same instruction
//! from the IR. No meaning stands here that is not also there; tests run kernels both ways.

use super::access::Raise;
use super::context::Context;
use super::global::GlobalMemory;
use super::op::{Inst, Op, Special};
use super::other::Flow;
use super::registers::{FULL, LANES, Row32, Row64};
use super::rows::{
    map1_32, map1_64, map2_32, map2_64, map3_32, map3_64, narrow, put32, put64, select32, select64, shift64,
    test32, test64, widen2, widen3,
};
use super::shared::Shared;
use super::transfer::Global;
use super::warp::{Group, Warp};

/// Why the loop stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The group is parked, waits, or has exited; others may run.
    Parked,
    /// Its share of branches is used up.
    Spent,
}

/// What ends a stretch of fast instructions.
enum Leave {
    /// The instruction at the program counter runs from the IR, in these lanes.
    Slow(u32),
    /// A branch that only some lanes take.
    Split {
        taken: u32,
        target: u32,
    },
    /// The program counter reached that of another group.
    Horizon,
    Spent,
}

fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// The bits of a result, with PTX's canonical NaN.
#[inline(always)]
fn canonical(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

#[inline(always)]
fn shift_left(a: u32, by: u32) -> u32 {
    if by > 31 { 0 } else { a << (by & 31) }
}

#[inline(always)]
fn shift_right(a: u32, by: u32) -> u32 {
    if by > 31 { 0 } else { a >> (by & 31) }
}

/// Numbers win over NaN, −0 is less than +0.
#[inline(always)]
fn minimum(x: f32, y: f32) -> u32 {
    let (a, b) = (x.to_bits(), y.to_bits());
    let ordered = if x < y {
        a
    } else if y < x {
        b
    } else {
        a | b
    };
    if x.is_nan() {
        canonical(y)
    } else if y.is_nan() {
        a
    } else {
        ordered
    }
}

#[inline(always)]
fn maximum(x: f32, y: f32) -> u32 {
    let (a, b) = (x.to_bits(), y.to_bits());
    let ordered = if x > y {
        a
    } else if y > x {
        b
    } else {
        a & b
    };
    if x.is_nan() {
        canonical(y)
    } else if y.is_nan() {
        a
    } else {
        ordered
    }
}

impl<M: GlobalMemory> Context<'_, M> {
    /// Runs `group` until it stops. `fuel` counts branches; `horizon` is the program counter of the next group.
    #[inline(always)]
    pub(super) fn run_group(
        &mut self,
        warp: &mut Warp,
        group: &mut Group,
        mut horizon: u32,
        fuel: &mut u32,
    ) -> Result<Stop, Box<Raise>> {
        loop {
            let leave = self.stretch(warp, group, horizon, fuel);
            if self.is_spent() {
                let kind = crate::fault::FaultKind::StepLimit { steps: self.patience };
                return Err(Raise::new(kind, group.mask.trailing_zeros() as usize % LANES));
            }
            match leave {
                Leave::Slow(mask) => match self.step(warp, group, mask)? {
                    Flow::Next => {
                        group.pc += 1;
                        if group.pc >= horizon {
                            warp.park(*group);
                            return Ok(Stop::Parked);
                        }
                    }
                    Flow::Moved => {
                        // another depth, another horizon
                        if warp.ready.is_empty() {
                            horizon = u32::MAX;
                        } else {
                            warp.park(*group);
                            return Ok(Stop::Parked);
                        }
                    }
                    Flow::Parked => return Ok(Stop::Parked),
                },
                Leave::Split { taken, target } => {
                    let others = Group { mask: group.mask & !taken, pc: group.pc + 1, ..*group };
                    let taken = Group { mask: taken, pc: target, ..*group };
                    let (low, high) = if taken.pc < others.pc { (taken, others) } else { (others, taken) };
                    warp.park(high);
                    if low.pc >= horizon {
                        warp.park(low);
                        return Ok(Stop::Parked);
                    }
                    *group = low;
                    horizon = horizon.min(high.pc);
                }
                Leave::Horizon => {
                    warp.park(*group);
                    return Ok(Stop::Parked);
                }
                Leave::Spent => return Ok(Stop::Spent),
            }
        }
    }

    /// Runs fast instructions of one activation.
    #[inline(always)]
    fn stretch(&mut self, warp: &mut Warp, group: &mut Group, horizon: u32, fuel: &mut u32) -> Leave {
        let launch = self.launch;
        let code: &[Inst] = &launch.instance.program.code;
        let frame = group.frame;
        let all = group.mask;
        let mut pc = group.pc;
        let mut begin = pc;
        let index = warp.index as usize;
        let p = warp.registers.predicates.get_mut(frame.predicates as usize..).unwrap_or_default();
        let r = warp.registers.slots32.get_mut(frame.slots32 as usize..).unwrap_or_default();
        let l = warp.registers.slots64.get_mut(frame.slots64 as usize..).unwrap_or_default();

        let leave = loop {
            let Some(&inst) = code.get(pc as usize) else {
                break Leave::Slow(all);
            };
            let m = all & (p[inst.guard as usize] ^ inst.flip);
            if m == 0 {
                pc += 1;
                if pc >= horizon {
                    break Leave::Horizon;
                }
                continue;
            }
            macro_rules! global {
                () => {
                    Global {
                        memory: &mut self.memory,
                        reachable: &launch.reachable,
                        shapes: &mut self.shapes,
                        hint: &mut self.hints[pc as usize],
                    }
                };
            }
            match inst.op {
                Op::Other => break Leave::Slow(m),
                Op::Branch { target } => {
                    self.steps += u64::from(pc + 1 - begin);
                    if m != all {
                        begin = pc;
                        break Leave::Split { taken: m, target };
                    }
                    pc = target;
                    begin = pc;
                    *fuel -= 1;
                    if *fuel == 0 {
                        break Leave::Spent;
                    }
                    if pc >= horizon {
                        break Leave::Horizon;
                    }
                    continue;
                }

                Op::Mov32 { d, a } => map1_32(r, m, d, a, |x| x),
                Op::Mov64 { d, a } => map1_64(l, m, d, a, |x| x),
                Op::Special { d, which } => {
                    let row = match which {
                        Special::Tid(axis) => self.tids[index][axis as usize % 3],
                        Special::NTid(axis) => Row32::splat(axis_of(launch.block, axis)),
                        Special::CtaId(axis) => Row32::splat(self.block[axis as usize % 3]),
                        Special::NCtaId(axis) => Row32::splat(axis_of(launch.grid, axis)),
                        Special::LaneId => LANE_IDS,
                    };
                    put32(r, m, d, &row);
                }
                Op::Param32 { d, offset } => {
                    let bytes = launch.params.get(offset as usize..).and_then(|b| b.first_chunk());
                    put32(r, m, d, &Row32::splat(bytes.map_or(0, |b| u32::from_le_bytes(*b))));
                }
                Op::Param64 { d, offset } => {
                    let bytes = launch.params.get(offset as usize..).and_then(|b| b.first_chunk());
                    put64(l, m, d, &Row64::splat(bytes.map_or(0, |b| u64::from_le_bytes(*b))));
                }

                Op::Add32 { d, a, b } => map2_32(r, m, d, a, b, u32::wrapping_add),
                Op::Sub32 { d, a, b } => map2_32(r, m, d, a, b, u32::wrapping_sub),
                Op::Mul32 { d, a, b } => map2_32(r, m, d, a, b, u32::wrapping_mul),
                Op::MulHiU32 { d, a, b } => {
                    map2_32(r, m, d, a, b, |x, y| ((u64::from(x) * u64::from(y)) >> 32) as u32);
                }
                Op::MulHiS32 { d, a, b } => {
                    map2_32(r, m, d, a, b, |x, y| ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u32)
                }
                Op::MinU32 { d, a, b } => map2_32(r, m, d, a, b, u32::min),
                Op::MaxU32 { d, a, b } => map2_32(r, m, d, a, b, u32::max),
                Op::MinS32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| (x as i32).min(y as i32) as u32),
                Op::MaxS32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| (x as i32).max(y as i32) as u32),
                Op::And32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| x & y),
                Op::Or32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| x | y),
                Op::Xor32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| x ^ y),
                Op::Not32 { d, a } => map1_32(r, m, d, a, |x| !x),
                Op::Neg32 { d, a } => map1_32(r, m, d, a, u32::wrapping_neg),
                Op::Shl32 { d, a, b } => map2_32(r, m, d, a, b, shift_left),
                Op::ShrU32 { d, a, b } => map2_32(r, m, d, a, b, shift_right),
                Op::ShrS32 { d, a, b } => {
                    map2_32(r, m, d, a, b, |x, y| ((x as i32) >> y.min(31)) as u32);
                }
                Op::FunnelLeft { d, a, b, c } => {
                    map3_32(r, m, d, a, b, c, |x, y, s| shift_left(y, s & 31) | shift_right(x, 32 - (s & 31)))
                }
                Op::Lop3 { d, a, b, c, lut } => {
                    let pick = |bit: u8| if lut >> bit & 1 == 1 { u32::MAX } else { 0 };
                    let table: [u32; 8] = std::array::from_fn(|bit| pick(bit as u8));
                    map3_32(r, m, d, a, b, c, |x, y, z| {
                        let half = |t: usize| {
                            let low = z & table[t + 1] | !z & table[t];
                            let high = z & table[t + 3] | !z & table[t + 2];
                            y & high | !y & low
                        };
                        x & half(4) | !x & half(0)
                    });
                }
                Op::Mad32 { d, a, b, c } => {
                    map3_32(r, m, d, a, b, c, |x, y, z| x.wrapping_mul(y).wrapping_add(z));
                }

                Op::Add64 { d, a, b } => map2_64(l, m, d, a, b, u64::wrapping_add),
                Op::Sub64 { d, a, b } => map2_64(l, m, d, a, b, u64::wrapping_sub),
                Op::Mul64 { d, a, b } => map2_64(l, m, d, a, b, u64::wrapping_mul),
                Op::And64 { d, a, b } => map2_64(l, m, d, a, b, |x, y| x & y),
                Op::Or64 { d, a, b } => map2_64(l, m, d, a, b, |x, y| x | y),
                Op::Xor64 { d, a, b } => map2_64(l, m, d, a, b, |x, y| x ^ y),
                Op::Shl64 { d, a, b } => {
                    shift64(l, r, m, d, [a, b], |x, y| if y > 63 { 0 } else { x << (y & 63) });
                }
                Op::ShrU64 { d, a, b } => {
                    shift64(l, r, m, d, [a, b], |x, y| if y > 63 { 0 } else { x >> (y & 63) });
                }
                Op::ShrS64 { d, a, b } => {
                    shift64(l, r, m, d, [a, b], |x, y| ((x as i64) >> y.min(63)) as u64);
                }
                Op::MulWideU { d, a, b } => widen2(l, r, m, d, [a, b], |x, y| u64::from(x) * u64::from(y)),
                Op::MulWideS { d, a, b } => {
                    widen2(l, r, m, d, [a, b], |x, y| (i64::from(x as i32) * i64::from(y as i32)) as u64);
                }
                Op::MadWideU { d, a, b, c } => {
                    widen3(l, r, m, d, [a, b, c], |x, y, z| (u64::from(x) * u64::from(y)).wrapping_add(z))
                }
                Op::MadWideS { d, a, b, c } => widen3(l, r, m, d, [a, b, c], |x, y, z| {
                    ((i64::from(x as i32) * i64::from(y as i32)) as u64).wrapping_add(z)
                }),
                Op::ExtendU { d, a } => widen2(l, r, m, d, [a, a], |x, _| u64::from(x)),
                Op::ExtendS { d, a } => widen2(l, r, m, d, [a, a], |x, _| i64::from(x as i32) as u64),
                Op::Truncate { d, a } => narrow(r, l, m, d, a, |x| x as u32),

                Op::AddF32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| canonical(float(x) + float(y))),
                Op::SubF32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| canonical(float(x) - float(y))),
                Op::MulF32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| canonical(float(x) * float(y))),
                Op::DivF32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| canonical(float(x) / float(y))),
                Op::FmaF32 { d, a, b, c } => {
                    map3_32(r, m, d, a, b, c, |x, y, z| canonical(float(x).mul_add(float(y), float(z))))
                }
                Op::MinF32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| minimum(float(x), float(y))),
                Op::MaxF32 { d, a, b } => map2_32(r, m, d, a, b, |x, y| maximum(float(x), float(y))),
                Op::NegF32 { d, a } => map1_32(r, m, d, a, |x| x ^ 0x8000_0000),
                Op::AbsF32 { d, a } => map1_32(r, m, d, a, |x| x & 0x7fff_ffff),
                Op::SqrtF32 { d, a } => map1_32(r, m, d, a, |x| canonical(float(x).sqrt())),
                Op::RsqrtF32 { d, a } => {
                    map1_32(r, m, d, a, |x| canonical((1.0 / f64::from(float(x)).sqrt()) as f32));
                }
                Op::RcpF32 { d, a } => map1_32(r, m, d, a, |x| canonical(1.0 / float(x))),
                Op::AddF64 { d, a, b } => map2_64(l, m, d, a, b, |x, y| (double(x) + double(y)).to_bits()),
                Op::SubF64 { d, a, b } => map2_64(l, m, d, a, b, |x, y| (double(x) - double(y)).to_bits()),
                Op::MulF64 { d, a, b } => map2_64(l, m, d, a, b, |x, y| (double(x) * double(y)).to_bits()),
                Op::DivF64 { d, a, b } => map2_64(l, m, d, a, b, |x, y| (double(x) / double(y)).to_bits()),
                Op::FmaF64 { d, a, b, c } => {
                    map3_64(l, m, d, a, b, c, |x, y, z| double(x).mul_add(double(y), double(z)).to_bits())
                }
                Op::NegF64 { d, a } => map1_64(l, m, d, a, |x| x ^ 1 << 63),
                Op::IntToF32 { d, a } => map1_32(r, m, d, a, |x| (x as i32 as f32).to_bits()),
                Op::UintToF32 { d, a } => map1_32(r, m, d, a, |x| (x as f32).to_bits()),
                Op::F32ToInt { d, a } => map1_32(r, m, d, a, |x| float(x) as i32 as u32),
                Op::F32ToUint { d, a } => map1_32(r, m, d, a, |x| float(x) as u32),
                Op::F32ToF64 { d, a } => widen2(l, r, m, d, [a, a], |x, _| {
                    let value = float(x);
                    if value.is_nan() { 0x7fff_ffff_ffff_ffff } else { f64::from(value).to_bits() }
                }),
                Op::F64ToF32 { d, a } => narrow(r, l, m, d, a, |x| canonical(double(x) as f32)),

                Op::Eq32 { d, a, b, flip } => set(p, m, d, test32(r, a, b, |x, y| x == y) ^ flip),
                Op::LtU32 { d, a, b, flip } => set(p, m, d, test32(r, a, b, |x, y| x < y) ^ flip),
                Op::LtS32 { d, a, b, flip } => {
                    set(p, m, d, test32(r, a, b, |x, y| (x as i32) < y as i32) ^ flip);
                }
                Op::EqF32 { d, a, b, flip } => {
                    set(p, m, d, test32(r, a, b, |x, y| float(x) == float(y)) ^ flip);
                }
                Op::LtF32 { d, a, b, flip } => {
                    set(p, m, d, test32(r, a, b, |x, y| float(x) < float(y)) ^ flip);
                }
                Op::LeF32 { d, a, b, flip } => {
                    set(p, m, d, test32(r, a, b, |x, y| float(x) <= float(y)) ^ flip);
                }
                Op::Eq64 { d, a, b, flip } => set(p, m, d, test64(l, a, b, |x, y| x == y) ^ flip),
                Op::LtU64 { d, a, b, flip } => set(p, m, d, test64(l, a, b, |x, y| x < y) ^ flip),
                Op::LtS64 { d, a, b, flip } => {
                    set(p, m, d, test64(l, a, b, |x, y| (x as i64) < y as i64) ^ flip);
                }
                Op::EqF64 { d, a, b, flip } => {
                    set(p, m, d, test64(l, a, b, |x, y| double(x) == double(y)) ^ flip);
                }
                Op::LtF64 { d, a, b, flip } => {
                    set(p, m, d, test64(l, a, b, |x, y| double(x) < double(y)) ^ flip);
                }
                Op::LeF64 { d, a, b, flip } => {
                    set(p, m, d, test64(l, a, b, |x, y| double(x) <= double(y)) ^ flip);
                }
                Op::Select32 { d, a, b, p: by } => select32(r, m, p[by as usize], d, a, b),
                Op::Select64 { d, a, b, p: by } => select64(l, m, p[by as usize], d, a, b),
                Op::AndP { d, a, b } => set(p, m, d, p[a as usize] & p[b as usize]),
                Op::OrP { d, a, b } => set(p, m, d, p[a as usize] | p[b as usize]),
                Op::XorP { d, a, b } => set(p, m, d, p[a as usize] ^ p[b as usize]),

                Op::Load32 { d, a, offset } => {
                    if !global!().load32(r, &l[a as usize], m, [d], offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::Load32x2 { d, a, offset } => {
                    if !global!().load32(r, &l[a as usize], m, d, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::Load32x4 { d, a, offset } => {
                    if !global!().load32(r, &l[a as usize], m, d, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::Load64 { d, a, offset } => {
                    if !global!().load64(l, m, a, d, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::Load8 { d, a, offset } => {
                    if !global!().load8(r, &l[a as usize], m, d, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::Store32 { s, a, offset } => {
                    if !global!().store32(r, &l[a as usize], m, [s], offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::Store32x2 { s, a, offset } => {
                    if !global!().store32(r, &l[a as usize], m, s, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::Store32x4 { s, a, offset } => {
                    if !global!().store32(r, &l[a as usize], m, s, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::Store64 { s, a, offset } => {
                    if !global!().store64(l, m, a, s, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::LoadShared32 { d, a, offset } => {
                    if !(Shared { bytes: &mut self.shared }).load32(r, m, a, [d], offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::LoadShared32x2 { d, a, offset } => {
                    if !(Shared { bytes: &mut self.shared }).load32(r, m, a, d, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::LoadShared32x4 { d, a, offset } => {
                    if !(Shared { bytes: &mut self.shared }).load32(r, m, a, d, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::StoreShared32 { s, a, offset } => {
                    if !(Shared { bytes: &mut self.shared }).store32(r, m, a, s, offset) {
                        break Leave::Slow(m);
                    }
                }
                Op::AddShared32 { d, s, a, offset } => {
                    if !(Shared { bytes: &mut self.shared }).add32(r, m, (d, a, s), offset) {
                        break Leave::Slow(m);
                    }
                }
            }
            pc += 1;
            if pc >= horizon {
                break Leave::Horizon;
            }
        };
        self.steps += u64::from(pc - begin);
        group.pc = pc;
        leave
    }
}

const LANE_IDS: Row32 = {
    let mut rows = [[0; 8]; 4];
    let mut lane = 0;
    while lane < LANES {
        rows[lane / 8][lane % 8] = lane as u32;
        lane += 1;
    }
    Row32(rows)
};

fn axis_of(extent: crate::dim::Dim3, axis: u8) -> u32 {
    match axis {
        0 => extent.x,
        1 => extent.y,
        _ => extent.z,
    }
}

#[inline(always)]
fn set(predicates: &mut [u32], mask: u32, d: u32, value: u32) {
    let row = &mut predicates[d as usize];
    *row = if mask == FULL { value } else { *row & !mask | value & mask };
}
