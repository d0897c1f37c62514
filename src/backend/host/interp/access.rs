//! Which memory a launch may touch, and where an address leads: the checks that every access passes. What the
//! access then does is in `loads` and `atomics`; how a refusal is told is in `report`.

use super::registers::Frame;
use crate::backend::host::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, slot_of};
use crate::fault::{Access, AccessKind, FaultKind, Space as FaultSpace};
use crate::ptx::ir::Space;

/// A stretch of global memory that the launch may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) writable: bool,
    /// `.const` memory, for `isspacep`.
    pub(super) constant: bool,
    /// Index of the allocation it lies in, and its offset there.
    pub(super) allocation: u32,
    pub(super) offset: usize,
}

impl Stretch {
    /// The offset in the allocation of `size` bytes at `address`, if they lie in this stretch.
    #[inline(always)]
    pub(super) fn offset_of(&self, address: u64, size: u64) -> Option<usize> {
        let inside = address.wrapping_sub(self.start);
        let fits = size <= self.len && inside <= self.len - size;
        fits.then(|| self.offset + inside as usize)
    }
}

/// All of the stretches, by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Reachable {
    stretches: Vec<Stretch>,
    /// With overlapping stretches (one buffer given twice) a search by address must look at all of them.
    disjoint: bool,
}

impl Reachable {
    /// The address of a byte of an allocation of which some stretch is reachable.
    pub(super) fn address_of(&self, allocation: u32, offset: usize) -> Option<u64> {
        let stretch = self.stretches.iter().find(|stretch| stretch.allocation == allocation)?;
        Some(stretch.start.wrapping_sub(stretch.offset as u64).wrapping_add(offset as u64))
    }

    pub(super) fn new(mut stretches: Vec<Stretch>) -> Self {
        stretches.sort_by_key(|s| (s.start, !s.writable));
        let disjoint = stretches.windows(2).all(|w| w[0].start + w[0].len <= w[1].start);
        Self { stretches, disjoint }
    }

    /// The stretch with this index; an empty one past the end.
    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> Stretch {
        const NONE: Stretch =
            Stretch { start: 0, len: 0, writable: false, constant: false, allocation: u32::MAX, offset: 0 };
        self.stretches.get(index as usize).copied().unwrap_or(NONE)
    }

    /// The index of a stretch that holds `size` bytes at `address`, and may be written if `write`.
    pub(super) fn find(&self, address: u64, size: u64, write: bool) -> Result<u32, Refusal> {
        let holds = |s: &Stretch| s.offset_of(address, size).is_some();
        let mut read_only = false;
        let from = match self.disjoint && self.stretches.len() > 8 {
            true => self.stretches.partition_point(|s| s.start <= address).saturating_sub(1),
            false => 0,
        };
        for (index, stretch) in self.stretches.iter().enumerate().skip(from) {
            if self.disjoint && stretch.start > address {
                break;
            }
            if holds(stretch) {
                if stretch.writable || !write {
                    return Ok(index as u32);
                }
                read_only = true;
            }
        }
        Err(if read_only { Refusal::Is(FaultKind::ReadOnly) } else { Refusal::Outside })
    }

    /// Which of `count` allocations the launch may write.
    pub(super) fn writable_allocations(&self, count: usize) -> Vec<bool> {
        let mut writable = vec![false; count];
        for stretch in self.writable() {
            if let Some(entry) = writable.get_mut(stretch.allocation as usize) {
                *entry = true;
            }
        }
        writable
    }

    /// Every stretch that the launch may write.
    pub(super) fn writable(&self) -> impl Iterator<Item = &Stretch> {
        self.stretches.iter().filter(|stretch| stretch.writable)
    }

    pub(super) fn is_constant(&self, address: u64) -> bool {
        self.stretches.iter().any(|s| s.constant && s.offset_of(address, 1).is_some())
    }
}

/// Why an access is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Is(FaultKind),
    /// Outside of everything the launch may touch. Whether that is freed, stray or near a buffer is found out
    /// when the fault is reported.
    Outside,
}

/// Something a lane did wrong. The launch ends with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Raise {
    pub(super) refusal: Refusal,
    /// Lane of the warp that did it.
    pub(super) lane: u32,
    pub(super) access: Option<Access>,
    /// The instruction, filled in by the loop that ran it.
    pub(super) function: u32,
    pub(super) pc: u32,
    /// The warp's number in its block, filled in likewise.
    pub(super) warp: u32,
}

impl Raise {
    pub(super) fn new(kind: FaultKind, lane: usize) -> Box<Self> {
        Self::refused(Refusal::Is(kind), lane, None)
    }

    pub(super) fn refused(refusal: Refusal, lane: usize, access: Option<Access>) -> Box<Self> {
        Box::new(Self { refusal, lane: lane as u32, access, function: 0, pc: 0, warp: 0 })
    }

    pub(super) fn internal(message: impl Into<String>) -> Box<Self> {
        Self::new(FaultKind::Internal { message: message.into() }, 0)
    }
}

/// Where a checked address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Global {
        allocation: u32,
        offset: usize,
    },
    Shared {
        offset: usize,
    },
    Local {
        offset: u64,
    },
    /// In the kernel's parameters.
    Param {
        offset: usize,
    },
}

/// What the check of an address needs to know.
pub(super) struct Bounds<'a> {
    pub(super) reachable: &'a Reachable,
    pub(super) shared_bytes: u64,
    pub(super) param_bytes: u64,
    /// End of the local frames of the lanes that run.
    pub(super) local_bytes: u64,
}

impl Bounds<'_> {
    /// Where `size` bytes at `address` in `space` lie, or why nobody may touch them.
    pub(super) fn place(
        &self,
        space: Space,
        address: u64,
        size: u32,
        kind: AccessKind,
        lane: usize,
    ) -> Result<Place, Box<Raise>> {
        let (space, address) = match space {
            Space::Generic | Space::Param => match slot_of(address) {
                1 if space == Space::Generic => (Space::Shared, address - SHARED_WINDOW),
                2 => (Space::Local, address - LOCAL_WINDOW),
                3 => (Space::Param, address - PARAM_WINDOW),
                _ if space == Space::Generic => (Space::Generic, address),
                _ => (Space::Param, address),
            },
            Space::Local if slot_of(address) == 2 => (Space::Local, address - LOCAL_WINDOW),
            other => (other, address),
        };
        let write = kind != AccessKind::Load;
        let refuse = |refusal| {
            let access = Access { kind, space: fault_space(space), address, bytes: size };
            Err(Raise::refused(refusal, lane, Some(access)))
        };
        if address % u64::from(size.max(1)) != 0 && size.is_power_of_two() {
            // a null pointer plus a little is the more telling story
            let null = matches!(space, Space::Generic | Space::Global) && slot_of(address) == 0;
            return refuse(if null { Refusal::Outside } else { Refusal::Is(FaultKind::Misaligned) });
        }
        let inside = |limit: u64| {
            let size = u64::from(size);
            size <= limit && address <= limit - size
        };
        match space {
            Space::Shared if inside(self.shared_bytes) => Ok(Place::Shared { offset: address as usize }),
            Space::Local if inside(self.local_bytes) => Ok(Place::Local { offset: address }),
            Space::Param if write => refuse(Refusal::Is(FaultKind::ReadOnly)),
            Space::Param if inside(self.param_bytes) => Ok(Place::Param { offset: address as usize }),
            Space::Shared | Space::Local | Space::Param => refuse(Refusal::Is(FaultKind::OutOfRange)),
            Space::Generic | Space::Global | Space::Const => {
                match self.reachable.find(address, u64::from(size), write) {
                    Ok(index) => {
                        let stretch = self.reachable.get(index);
                        let offset = stretch.offset_of(address, u64::from(size)).unwrap_or(0);
                        Ok(Place::Global { allocation: stretch.allocation, offset })
                    }
                    Err(refusal) => refuse(refusal),
                }
            }
        }
    }
}

fn fault_space(space: Space) -> FaultSpace {
    match space {
        Space::Generic => FaultSpace::Generic,
        Space::Global => FaultSpace::Global,
        Space::Shared => FaultSpace::Shared,
        Space::Local => FaultSpace::Local,
        Space::Const => FaultSpace::Const,
        Space::Param => FaultSpace::Param,
    }
}

/// The end of what the lanes of `frame` may touch of their local memory.
pub(super) fn frame_end(frame: &Frame, bytes: u32) -> u64 {
    u64::from(frame.local) + u64::from(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(start: u64, len: u64, writable: bool) -> Stretch {
        Stretch { start, len, writable, constant: false, allocation: 0, offset: 0 }
    }

    #[test]
    fn a_stretch_ends_exactly() {
        let s = stretch(1000, 16, true);
        assert_eq!(s.offset_of(1000, 16), Some(0));
        assert_eq!(s.offset_of(1012, 4), Some(12));
        assert_eq!(s.offset_of(1013, 4), None);
        assert_eq!(s.offset_of(999, 4), None);
        assert_eq!(s.offset_of(u64::MAX, 4), None);
        assert_eq!(stretch(1000, 2, true).offset_of(1000, 4), None);
    }

    #[test]
    fn a_writable_view_of_a_read_only_buffer_is_found() {
        let reachable = Reachable::new(vec![stretch(1000, 100, false), stretch(1040, 20, true)]);
        assert!(reachable.find(1040, 4, true).is_ok());
        assert_eq!(reachable.find(1036, 4, true), Err(Refusal::Is(FaultKind::ReadOnly)));
        assert!(reachable.find(1096, 4, false).is_ok());
        assert_eq!(reachable.find(1098, 4, false), Err(Refusal::Outside));
    }

    #[test]
    fn many_stretches_are_searched_by_address() {
        let many = (0..100).map(|i| stretch(i * 64, 32, true)).collect();
        let reachable = Reachable::new(many);
        for i in 0..100 {
            let index = reachable.find(i * 64 + 28, 4, true).unwrap();
            assert_eq!(reachable.get(index).start, i * 64);
            assert_eq!(reachable.find(i * 64 + 32, 4, true), Err(Refusal::Outside));
        }
    }
}
