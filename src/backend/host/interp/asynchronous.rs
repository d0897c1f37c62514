//! `cp.async` and mbarrier objects. Copies happen at once, so that a group is complete when it is committed; what
//! remains are the arrivals, counted in the 64-bit object in shared memory:
//!
//! | bits  | field                                             |
//! |-------|---------------------------------------------------|
//! | 63    | phase                                             |
//! | 43–62 | arrivals that complete a phase                    |
//! | 23–42 | arrivals still pending in this phase              |
//! | 0–22  | bytes still to come, biased by 2²²                |

use super::access::{Place, Raise};
use super::context::Context;
use super::global::GlobalMemory;
use super::loads::How;
use super::other::Lanes;
use super::registers::{LANES, lanes};
use crate::fault::AccessKind;
use crate::ptx::ir::{Address, Mbarrier, MbarrierOp, Op, Operand, Space};

const COUNT_BITS: u32 = 20;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const BYTES_BIAS: i64 = 1 << 22;

/// The fields of an mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    phase: bool,
    expected: u64,
    pending: u64,
    bytes: i64,
}

impl Object {
    fn unpack(bits: u64) -> Self {
        Self {
            phase: bits >> 63 == 1,
            expected: bits >> 43 & COUNT_MASK,
            pending: bits >> 23 & COUNT_MASK,
            bytes: (bits & 0x7f_ffff) as i64 - BYTES_BIAS,
        }
    }

    fn pack(self) -> u64 {
        u64::from(self.phase) << 63
            | (self.expected & COUNT_MASK) << 43
            | (self.pending & COUNT_MASK) << 23
            | (self.bytes + BYTES_BIAS) as u64 & 0x7f_ffff
    }

    /// Begins the next phase if nothing is missing in this one.
    fn settle(mut self) -> Self {
        if self.pending == 0 && self.bytes == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
        self
    }

    fn arrive(mut self, count: u64) -> Self {
        self.pending = self.pending.saturating_sub(count);
        self.settle()
    }
}

impl<M: GlobalMemory> Context<'_, M> {
    /// `cp.async.*` and `mbarrier.*`.
    pub(super) fn asynchronous(&mut self, on: &mut Lanes<'_>, op: &Op, pc: u32) -> Result<(), Box<Raise>> {
        match op {
            Op::AsyncCopy { dst, src, size, source_size, ignore_source } => {
                let ignored = ignore_source.map_or(0, |predicate| on.holds(predicate));
                let sizes = source_size.map_or([u64::from(*size); LANES], |operand| on.row(operand));
                self.async_copy(on, [dst, src], *size as usize, &sizes, ignored, pc)
            }
            Op::AsyncArrive { space, address, no_increment } => {
                // the copies are done: the increment of the pending count and the arrival cancel out
                let places = self.objects(on, *space, address, AccessKind::Atomic, pc)?;
                if *no_increment {
                    self.update(on, &places, |object, _| (object.arrive(1), 0));
                }
                Ok(())
            }
            Op::Mbarrier(mbarrier) => self.mbarrier(on, mbarrier, pc),
            _ => Ok(()),
        }
    }

    fn async_copy(
        &mut self,
        on: &mut Lanes<'_>,
        [dst, src]: [&Address; 2],
        size: usize,
        sizes: &[u64; LANES],
        ignored: u32,
        pc: u32,
    ) -> Result<(), Box<Raise>> {
        let (to, from) = (self.addresses(on, dst), self.addresses(on, src));
        let mut copies = [(Place::Shared { offset: 0 }, [0_u8; 32]); LANES];
        for lane in lanes(on.mask) {
            let wanted = if ignored >> lane & 1 == 1 { 0 } else { (sizes[lane] as usize).min(size) };
            if wanted > 0 {
                // of a source that is only partly read, only that part must be there
                let address = from[lane];
                let kind = AccessKind::Load;
                if wanted == size {
                    let place = self.place(on, Space::Global, address, size, kind, lane)?;
                    self.observe(on, pc, lane, place, size, How::new(kind))?;
                    copies[lane].1 = self.fetch(on.warp, lane, place, size);
                } else {
                    for i in 0..wanted {
                        let place =
                            self.place(on, Space::Global, address.wrapping_add(i as u64), 1, kind, lane)?;
                        self.observe(on, pc, lane, place, 1, How::new(kind))?;
                        copies[lane].1[i] = self.fetch(on.warp, lane, place, 1)[0];
                    }
                }
            }
            copies[lane].0 = self.place(on, Space::Shared, to[lane], size, AccessKind::Store, lane)?;
            self.observe(on, pc, lane, copies[lane].0, size, How::new(AccessKind::Store))?;
        }
        for lane in lanes(on.mask) {
            let (place, bytes) = &copies[lane];
            self.put(on.warp, lane, *place, &bytes[..size]);
        }
        Ok(())
    }

    fn objects(
        &mut self,
        on: &Lanes<'_>,
        space: Space,
        address: &Address,
        kind: AccessKind,
        pc: u32,
    ) -> Result<[Place; LANES], Box<Raise>> {
        let addresses = self.addresses(on, address);
        let mut places = [Place::Shared { offset: 0 }; LANES];
        for lane in lanes(on.mask) {
            places[lane] = self.place(on, space, addresses[lane], 8, kind, lane)?;
            self.observe(on, pc, lane, places[lane], 8, How::new(kind))?;
        }
        Ok(places)
    }

    /// Changes the object of each lane in turn; `f` also gives the lane's result.
    fn update(
        &mut self,
        on: &mut Lanes<'_>,
        places: &[Place; LANES],
        f: impl Fn(Object, usize) -> (Object, u64),
    ) -> [u64; LANES] {
        let mut results = [0; LANES];
        for lane in lanes(on.mask) {
            let bytes = self.fetch(on.warp, lane, places[lane], 8);
            let bits = bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk));
            let (after, result) = f(Object::unpack(bits), lane);
            results[lane] = result;
            self.put(on.warp, lane, places[lane], &after.pack().to_le_bytes());
        }
        results
    }

    fn mbarrier(&mut self, on: &mut Lanes<'_>, mbarrier: &Mbarrier, pc: u32) -> Result<(), Box<Raise>> {
        let row = |operand: Option<Operand>, default: u64| operand.map_or([default; LANES], |o| on.row(o));
        let counts = row(mbarrier.count, 1);
        let states = row(mbarrier.state, 0);
        let Some(address) = &mbarrier.address else {
            let pending = states.map(|state| Object::unpack(state).pending);
            if let Some(dst) = mbarrier.dst {
                on.set(dst, &pending);
            }
            return Ok(());
        };
        // an object is born by a store
        let kind = if mbarrier.op == MbarrierOp::Init { AccessKind::Store } else { AccessKind::Atomic };
        let places = self.objects(on, mbarrier.space, address, kind, pc)?;
        let results = self.update(on, &places, |object, lane| {
            let count = counts[lane] & 0xffff_ffff;
            let token = object.pack();
            match mbarrier.op {
                MbarrierOp::Init => (Object { phase: false, expected: count, pending: count, bytes: 0 }, 0),
                MbarrierOp::Invalidate => (Object { phase: false, expected: 0, pending: 0, bytes: 0 }, 0),
                MbarrierOp::ExpectTx => (Object { bytes: object.bytes + count as i64, ..object }, 0),
                MbarrierOp::CompleteTx => {
                    (Object { bytes: object.bytes - count as i64, ..object }.settle(), 0)
                }
                MbarrierOp::Arrive { drop, .. } => {
                    let expected = object.expected.saturating_sub(if drop { count } else { 0 });
                    (Object { expected, ..object }.arrive(count), token)
                }
                MbarrierOp::ArriveExpectTx { drop } => {
                    let expected = object.expected.saturating_sub(u64::from(drop));
                    let bytes = object.bytes + count as i64;
                    (Object { expected, bytes, ..object }.arrive(1), token)
                }
                MbarrierOp::TestWait { parity, .. } => {
                    // complete: the phase asked about is not the one that runs
                    let asked =
                        if parity { states[lane] & 1 == 1 } else { Object::unpack(states[lane]).phase };
                    (object, u64::from(object.phase != asked))
                }
                MbarrierOp::PendingCount => (object, object.pending),
            }
        });
        if let Some(dst) = mbarrier.dst {
            on.set(dst, &results);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_with_its_last_arrival_and_byte() {
        let fresh = Object { phase: false, expected: 2, pending: 2, bytes: 0 };
        assert_eq!(Object::unpack(fresh.pack()), fresh);
        let once = fresh.arrive(1);
        assert!(!once.phase && once.pending == 1);
        let twice = once.arrive(1);
        assert!(twice.phase && twice.pending == 2);
        let waiting = Object { bytes: 64, ..fresh }.arrive(2);
        assert!(!waiting.phase, "bytes are still to come");
        assert!(Object { bytes: 0, ..waiting }.settle().phase);
    }
}
