//! From a record to a [`Fault`]: the place in the PTX, the thread, and the buffer that the access meant. The host device
//! does the same from what it sees while it runs a kernel.

use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;

use super::checked::Variant;
use crate::backend::LaunchBuffer;
use crate::dim::Dim3;
use crate::fault::{Access, AccessKind, Fault, FaultKind, NearBuffer, Space};
use crate::ptx::bounds::rewrite::record::Recorded;
use crate::ptx::bounds::rewrite::{CheckedSite, RecordedAddress, SiteKind};
use crate::ptx::ir::{self, MemoryAccessKind};
use crate::ptx::site::site;

/// Addresses below this are called a null pointer with an index.
const NULL_LIMIT: u64 = 1 << 20;

/// A launch whose record will be read.
pub(super) struct Checked {
    pub(super) variant: Arc<Variant>,
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) buffers: SmallVec<[LaunchBuffer; 4]>,
    pub(super) max_steps: Option<u64>,
    pub(super) location: &'static Location<'static>,
}

impl Checked {
    /// The fault that the launch's record tells of.
    pub(super) fn fault(&self, recorded: Recorded) -> Fault {
        let ptx = &self.variant.ptx;
        let name = ptx.source().name();
        let Some(place) = self.variant.rewritten.sites.get(usize::from(recorded.site)) else {
            let message = format!("a record names place {} of the kernel, which is none", recorded.site);
            return self.launched(Fault::new(FaultKind::Internal { message }, name, &*self.variant.kernel));
        };
        let access = self.access(place, recorded.address);
        let mut fault = Fault::new(self.kind(place, access.as_ref()), name, &*self.variant.kernel);
        let threads = (self.block.count() as u64).max(1);
        let (block, thread) = (recorded.thread / threads, recorded.thread % threads);
        // A grid has more than 2^32 blocks only along several axes.
        let [x, y] = [self.grid.x, self.grid.y].map(|blocks| u64::from(blocks.max(1)));
        let block = [block % x, block / x % y, block / x / y].map(|index| index as u32);
        fault.site =
            site(ptx.module(), ptx.source(), self.block, place.function, place.pc, block, thread as u32);
        fault.buffer = access.and_then(|access| self.nearest(place, &access));
        fault.access = access;
        self.launched(fault)
    }

    fn launched(&self, mut fault: Fault) -> Fault {
        fault.launched_at = Some(self.location);
        fault
    }

    fn access(&self, place: &CheckedSite, address: u64) -> Option<Access> {
        let SiteKind::Access(kind) = place.kind else { return None };
        if place.address == RecordedAddress::None {
            return None;
        }
        Some(Access {
            kind: match kind {
                MemoryAccessKind::Read => AccessKind::Load,
                MemoryAccessKind::Write => AccessKind::Store,
                MemoryAccessKind::Atomic => AccessKind::Atomic,
            },
            space: match place.space {
                ir::Space::Global => Space::Global,
                ir::Space::Shared => Space::Shared,
                ir::Space::Local => Space::Local,
                ir::Space::Const => Space::Const,
                ir::Space::Param => Space::Param,
                _ => Space::Generic,
            },
            address,
            bytes: place.bytes,
        })
    }

    fn kind(&self, place: &CheckedSite, access: Option<&Access>) -> FaultKind {
        let access = match place.kind {
            SiteKind::Trap => return FaultKind::Trap,
            SiteKind::Assert => {
                let message = "its text stays on the device; the PTX line has its place".to_owned();
                return FaultKind::Assert { message };
            }
            SiteKind::Steps => return FaultKind::StepLimit { steps: self.max_steps.unwrap_or(0) },
            SiteKind::Access(_) => access,
        };
        let Some(access) = access else { return FaultKind::OutOfRange };
        let size = u64::from(access.bytes);
        if size.is_power_of_two() && !access.address.is_multiple_of(size) {
            return FaultKind::Misaligned;
        }
        let absolute = is_of_all_memory(place);
        if absolute && access.address < NULL_LIMIT {
            return FaultKind::Null;
        }
        let inside = |buffer: &&LaunchBuffer| {
            absolute
                && place.buffer.is_none_or(|parameter| parameter == buffer.argument)
                && access.address.checked_sub(buffer.address).is_some_and(|offset| {
                    // the address is whatever the kernel made: past everything, too
                    buffer.bytes.checked_sub(size).is_some_and(|last| offset <= last)
                })
        };
        match self.buffers.iter().find(inside) {
            Some(buffer) if !buffer.writable && access.kind != AccessKind::Load => FaultKind::ReadOnly,
            _ => FaultKind::OutOfRange,
        }
    }

    /// The buffer that the address was made from, or the nearest.
    fn nearest(&self, place: &CheckedSite, access: &Access) -> Option<NearBuffer> {
        if !is_of_all_memory(place) {
            return None;
        }
        let kernel = self.variant.ptx.kernel(&self.variant.kernel)?;
        let near = |buffer: &LaunchBuffer| NearBuffer {
            argument: Some(buffer.argument),
            name: kernel.parameters.get(buffer.argument).map_or("", |p| p.name.as_str()).to_owned(),
            bytes: buffer.bytes,
            offset: i128::from(access.address) - i128::from(buffer.address),
        };
        match place.buffer {
            Some(parameter) => self.buffers.iter().find(|buffer| buffer.argument == parameter).map(near),
            None if access.address < NULL_LIMIT => NearBuffer::empty(self.buffers.iter().map(near), access),
            None => self.buffers.iter().map(near).min_by_key(|near| near.distance(access.bytes)),
        }
    }
}

/// Whether a record has an address that buffers can be compared with. Those of shared and local memory have spaces of
/// their own, which begin wherever the driver lets them.
fn is_of_all_memory(place: &CheckedSite) -> bool {
    place.address == RecordedAddress::Absolute && !matches!(place.space, ir::Space::Shared | ir::Space::Local)
}
