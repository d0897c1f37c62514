//! `ld` and `st` of every space, width and vector, addresses of symbols, generic addresses, special registers.

use smallvec::SmallVec;

use super::access::{Place, Raise};
use super::context::Context;
use super::global::GlobalMemory;
use super::integer::signed;
use super::other::Lanes;
use super::program::function_address;
use super::registers::{Frame, LANES, lanes};
use super::warp::Warp;
use crate::backend::host::memory::{FIRST_SLOT, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, slot_of};
use crate::fault::AccessKind;
use crate::ptx::ir::{
    Address, AddressBase, Axis, FunctionKind, Load, MemoryOrder, Operand, ParamBlock, Reg, Space, SpecialReg,
    Store, Symbol, Width,
};

/// Bytes of the largest access: eight 32-bit or four 64-bit elements.
const LARGEST: usize = 32;
/// Offset in the lower 40 bits of an address.
const IN_WINDOW: u64 = SHARED_WINDOW - 1;

/// How memory is touched, for strict mode.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) kind: AccessKind,
    /// `.nc`
    pub(super) non_coherent: bool,
    /// Volatile, relaxed or stronger.
    pub(super) ordered: bool,
    /// What a store writes.
    pub(super) data: [u8; LARGEST],
}

impl How {
    pub(super) fn new(kind: AccessKind) -> Self {
        Self { kind, non_coherent: false, ordered: false, data: [0; LARGEST] }
    }
}

impl<M: GlobalMemory> Context<'_, M> {
    /// `ld`
    pub(super) fn load(&mut self, on: &mut Lanes<'_>, load: &Load, pc: u32) -> Result<(), Box<Raise>> {
        let size = load.ty.bytes() as usize;
        let total = size * load.dsts.len();
        let addresses = self.addresses(on, &load.address);
        let ordered = load.ordering.order != MemoryOrder::Weak;
        let how = How { ordered, ..How::new(AccessKind::Load) };
        let mut places = [Place::Shared { offset: 0 }; LANES];
        for lane in lanes(on.mask) {
            places[lane] = self.place(on, load.space, addresses[lane], total, AccessKind::Load, lane)?;
            let how = How { non_coherent: load.non_coherent, ..how };
            self.observe(on, pc, lane, places[lane], total, how)?;
        }
        if load.ty.bits() <= 64 {
            self.load_words(on, load, &places);
        } else {
            self.load_wide(on, load, &places);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.loaded_bytes += u64::from(on.mask.count_ones()) * total as u64;
        }
        Ok(())
    }

    /// Elements of up to 64 bits, extended to their registers by the type's sign.
    fn load_words(&mut self, on: &mut Lanes<'_>, load: &Load, places: &[Place; LANES]) {
        let size = load.ty.bytes() as usize;
        let bits = load.ty.bits();
        let mut rows: SmallVec<[[u64; LANES]; 4]> = SmallVec::from_elem([0; LANES], load.dsts.len());
        for lane in lanes(on.mask) {
            let bytes = self.fetch(on.warp, lane, places[lane], size * load.dsts.len());
            for (row, element) in rows.iter_mut().zip(bytes.chunks_exact(size)) {
                let mut whole = [0; 8];
                whole[..size].copy_from_slice(element);
                let value = u64::from_le_bytes(whole);
                row[lane] = if load.ty.is_signed() { signed(value, bits) as u64 } else { value };
            }
        }
        for (dst, row) in load.dsts.iter().zip(&rows) {
            if let Some(dst) = dst {
                on.warp.registers.set(&on.frame, *dst, on.mask, row);
            }
        }
    }

    /// Elements of 128 bits.
    fn load_wide(&mut self, on: &mut Lanes<'_>, load: &Load, places: &[Place; LANES]) {
        let size = load.ty.bytes() as usize;
        for (element, dst) in load.dsts.iter().enumerate() {
            let mut row = [0; LANES];
            for lane in lanes(on.mask) {
                let bytes = self.fetch(on.warp, lane, places[lane], size * load.dsts.len());
                row[lane] = number(&bytes[element * size..][..size]);
            }
            if let Some(dst) = dst {
                on.warp.registers.set_wide(&on.frame, *dst, on.mask, &row);
            }
        }
    }

    /// `st`: all lanes are checked before one writes.
    pub(super) fn store(&mut self, on: &mut Lanes<'_>, store: &Store, pc: u32) -> Result<(), Box<Raise>> {
        let size = store.ty.bytes() as usize;
        let total = size * store.srcs.len();
        let addresses = self.addresses(on, &store.address);
        let mut places = [Place::Shared { offset: 0 }; LANES];
        for lane in lanes(on.mask) {
            places[lane] = self.place(on, store.space, addresses[lane], total, AccessKind::Store, lane)?;
        }
        let mut data = [[0_u8; LARGEST]; LANES];
        for (element, &src) in store.srcs.iter().enumerate() {
            let row = on.warp.registers.wide_row(&on.frame, src);
            for (bytes, value) in data.iter_mut().zip(row) {
                bytes[element * size..][..size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        if self.strict.is_some() {
            let ordered = store.ordering.order != MemoryOrder::Weak;
            for lane in lanes(on.mask) {
                let how = How { ordered, data: data[lane], ..How::new(AccessKind::Store) };
                self.observe(on, pc, lane, places[lane], total, how)?;
            }
        }
        for lane in lanes(on.mask) {
            self.put(on.warp, lane, places[lane], &data[lane][..total]);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.stored_bytes += u64::from(on.mask.count_ones()) * total as u64;
        }
        Ok(())
    }

    /// The address of each lane.
    pub(super) fn addresses(&self, on: &Lanes<'_>, address: &Address) -> [u64; LANES] {
        match address.base {
            AddressBase::Absolute => [address.offset as u64; LANES],
            AddressBase::Symbol(symbol) => {
                [self.symbol_address(&on.frame, symbol).wrapping_add_signed(address.offset); LANES]
            }
            // a 32-bit address wraps in 32 bits
            AddressBase::Reg(reg) if reg.width == Width::B32 => on
                .row(Operand::Reg(reg))
                .map(|base| u64::from((base as u32).wrapping_add(address.offset as u32))),
            AddressBase::Reg(reg) => {
                on.row(Operand::Reg(reg)).map(|base| base.wrapping_add_signed(address.offset))
            }
        }
    }

    /// The address of a declaration, in its own space.
    pub(super) fn symbol_address(&self, frame: &Frame, symbol: Symbol) -> u64 {
        let module = &self.program().module;
        let function = module.functions.get(frame.function as usize);
        let layout = self.program().functions.get(frame.function as usize);
        let (Some(function), Some(layout)) = (function, layout) else { return 0 };
        let in_frame = |offset: u32| u64::from(frame.local) + u64::from(offset);
        match symbol {
            Symbol::Variable(id) => self.launch.instance.variable(id).map_or(0, |(address, _)| address),
            Symbol::Shared(id) => {
                let offset = module.variables.get(id.0 as usize).and_then(|v| v.shared_offset);
                u64::from(offset.unwrap_or(u32::MAX))
            }
            Symbol::DynamicShared(_) => u64::from(self.launch.dynamic_offset),
            Symbol::Local(index) => {
                function.locals.get(index as usize).map_or(0, |local| in_frame(local.offset))
            }
            Symbol::Function(id) => function_address(id),
            Symbol::Param(block, index) => {
                let (params, base) = match block {
                    ParamBlock::In => (&function.params, layout.in_offset),
                    ParamBlock::Out => (&function.returns, layout.out_offset),
                    ParamBlock::Call => (&function.call_params, layout.call_offset),
                };
                let offset = params.get(index as usize).map_or(0, |param| param.offset);
                match (block, function.kind) {
                    (ParamBlock::In, FunctionKind::Kernel) => u64::from(offset),
                    // the blocks of a call lie in the frame, which is local memory
                    _ => LOCAL_WINDOW + in_frame(base + offset),
                }
            }
        }
    }

    /// Checks one lane's address.
    pub(super) fn place(
        &self,
        on: &Lanes<'_>,
        space: Space,
        address: u64,
        size: usize,
        kind: AccessKind,
        lane: usize,
    ) -> Result<Place, Box<Raise>> {
        let frame_bytes =
            self.program().functions.get(on.frame.function as usize).map_or(0, |l| l.frame_bytes);
        let end = super::access::frame_end(&on.frame, frame_bytes).min(on.warp.local.size());
        self.bounds(end).place(space, address, size as u32, kind, lane)
    }

    /// Tells strict mode of an access that is about to happen.
    pub(super) fn observe(
        &mut self,
        on: &Lanes<'_>,
        pc: u32,
        lane: usize,
        place: Place,
        size: usize,
        how: How,
    ) -> Result<(), Box<Raise>> {
        let Some(strict) = &mut self.strict else { return Ok(()) };
        let event = super::strict::Event {
            function: on.frame.function,
            pc,
            warp: on.warp.index,
            lane: lane as u32,
            kind: how.kind,
            non_coherent: how.non_coherent,
            data: how.data,
        };
        let launch = self.launch;
        let checked = strict.access(&event, place, size, how.ordered, |function, pc, block, thread| {
            super::report::site(launch.program(), launch.block, function, pc, block, thread)
        });
        checked.map_err(|mut raise| {
            // Strict mode counts bytes from the allocation's start; a report is about addresses.
            if let (Place::Global { allocation, offset }, Some(access)) = (place, &mut raise.access) {
                access.address = launch.reachable.address_of(allocation, offset).unwrap_or(access.address);
            }
            raise
        })
    }

    /// Reads up to 32 bytes at a checked place.
    pub(super) fn fetch(&mut self, warp: &Warp, lane: usize, place: Place, size: usize) -> [u8; LARGEST] {
        let mut bytes = [0; LARGEST];
        let memory = &mut self.memory;
        let from = match place {
            Place::Global { allocation, offset } => {
                match size {
                    1 => bytes[..1].copy_from_slice(&memory.read::<1>(allocation, offset)),
                    2 => bytes[..2].copy_from_slice(&memory.read::<2>(allocation, offset)),
                    4 => bytes[..4].copy_from_slice(&memory.read::<4>(allocation, offset)),
                    8 => bytes[..8].copy_from_slice(&memory.read::<8>(allocation, offset)),
                    16 => bytes[..16].copy_from_slice(&memory.read::<16>(allocation, offset)),
                    _ => bytes
                        .iter_mut()
                        .take(size)
                        .enumerate()
                        .for_each(|(i, byte)| [*byte] = memory.read::<1>(allocation, offset + i)),
                }
                return bytes;
            }
            Place::Shared { offset } => self.shared.get(offset..offset + size),
            Place::Local { offset } => warp.local.bytes(lane, offset, size),
            Place::Param { offset } => self.launch.params.get(offset..offset + size),
        };
        if let Some(from) = from {
            bytes[..size].copy_from_slice(from);
        }
        bytes
    }

    /// Writes at a checked place.
    pub(super) fn put(&mut self, warp: &mut Warp, lane: usize, place: Place, data: &[u8]) {
        let to = match place {
            Place::Global { allocation, offset } => {
                if let Ok(data) = data.try_into() {
                    self.memory.write::<4>(allocation, offset, data);
                } else if let Ok(data) = data.try_into() {
                    self.memory.write::<8>(allocation, offset, data);
                } else if let Ok(data) = data.try_into() {
                    self.memory.write::<16>(allocation, offset, data);
                } else {
                    for (i, byte) in data.iter().enumerate() {
                        self.memory.write::<1>(allocation, offset + i, &[*byte]);
                    }
                }
                return;
            }
            Place::Shared { offset } => self.shared.get_mut(offset..offset + data.len()),
            Place::Local { offset } => warp.local.bytes_mut(lane, offset, data.len()),
            // nobody may write there
            Place::Param { .. } => None,
        };
        if let Some(to) = to {
            to.copy_from_slice(data);
        }
    }

    /// A special register.
    pub(super) fn read_special(&mut self, on: &mut Lanes<'_>, dst: Reg, special: SpecialReg) {
        let launch = self.launch;
        let axis = |values: [u32; 3], axis| match axis {
            Axis::X => values[0],
            Axis::Y => values[1],
            Axis::Z => values[2],
        };
        let extent = |d: crate::dim::Dim3| [d.x, d.y, d.z];
        let warp = on.warp.index;
        let lane_row = |f: fn(u32) -> u32| std::array::from_fn(|lane| u64::from(f(lane as u32)));
        let below = |lane: u32| (1_u32 << lane) - 1;
        let row = match special {
            SpecialReg::Tid(a) => match self.tids.get(warp as usize) {
                Some(rows) => {
                    let row = match a {
                        Axis::X => &rows[0],
                        Axis::Y => &rows[1],
                        Axis::Z => &rows[2],
                    };
                    std::array::from_fn(|lane| u64::from(row.lane(lane)))
                }
                None => [0; LANES],
            },
            SpecialReg::LaneId => lane_row(|lane| lane),
            SpecialReg::LaneMaskEq => lane_row(|lane| 1 << lane),
            SpecialReg::LaneMaskLt => std::array::from_fn(|l| u64::from(below(l as u32))),
            SpecialReg::LaneMaskLe => std::array::from_fn(|l| u64::from(below(l as u32) | 1 << l)),
            SpecialReg::LaneMaskGe => std::array::from_fn(|l| u64::from(!below(l as u32))),
            SpecialReg::LaneMaskGt => std::array::from_fn(|l| u64::from(!(below(l as u32) | 1 << l))),
            uniform => {
                let value = match uniform {
                    SpecialReg::NTid(a) => u64::from(axis(extent(launch.block), a)),
                    SpecialReg::CtaId(a) | SpecialReg::ClusterId(a) => u64::from(axis(self.block, a)),
                    SpecialReg::NCtaId(a) | SpecialReg::NClusterId(a) => {
                        u64::from(axis(extent(launch.grid), a))
                    }
                    SpecialReg::WarpId => u64::from(warp),
                    SpecialReg::NWarpId => u64::from(launch.threads().div_ceil(LANES as u32)),
                    SpecialReg::NSmId => 1,
                    SpecialReg::ClusterNCtaId(_) | SpecialReg::ClusterNCtaRank => 1,
                    SpecialReg::DynamicSmemSize => u64::from(launch.dynamic_shared),
                    SpecialReg::TotalSmemSize | SpecialReg::AggregateSmemSize => {
                        u64::from(launch.shared_bytes)
                    }
                    // time is counted in steps of the block, so that a run can be repeated
                    SpecialReg::Clock | SpecialReg::GlobalTimerLo => self.tick() & 0xffff_ffff,
                    SpecialReg::ClockHi | SpecialReg::GlobalTimerHi => self.tick() >> 32,
                    SpecialReg::Clock64 | SpecialReg::GlobalTimer => self.tick(),
                    _ => 0,
                };
                [value; LANES]
            }
        };
        on.set(dst, &row);
    }

    fn tick(&mut self) -> u64 {
        self.steps += 1;
        self.steps - self.block_began
    }
}

fn number(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    all[..bytes.len().min(16)].copy_from_slice(&bytes[..bytes.len().min(16)]);
    u128::from_le_bytes(all)
}

fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Generic | Space::Global | Space::Const => 0,
    }
}

/// `cvta`. Addresses of global and constant memory are generic addresses already, and so are those of a
/// function's parameters, which lie in local memory.
pub(super) fn convert_address(to_generic: bool, space: Space, address: u64) -> u64 {
    match (window(space), to_generic) {
        (0, _) => address,
        (window, true) if slot_of(address) == 0 => window + address,
        (_, true) => address,
        (window, false) if slot_of(address) == slot_of(window) => address & IN_WINDOW,
        (_, false) => address,
    }
}

/// `isspacep`
pub(super) fn is_space(space: Space, address: u64, is_constant: impl Fn(u64) -> bool) -> bool {
    match space {
        Space::Shared | Space::Local | Space::Param => slot_of(address) == slot_of(window(space)),
        Space::Const => is_constant(address),
        Space::Global => slot_of(address) >= FIRST_SLOT && !is_constant(address),
        Space::Generic => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_addresses_go_there_and_back() {
        for space in [Space::Shared, Space::Local, Space::Param] {
            let generic = convert_address(true, space, 0x40);
            assert!(is_space(space, generic, |_| false));
            assert!(!is_space(Space::Global, generic, |_| false));
            assert_eq!(convert_address(false, space, generic), 0x40);
        }
        let global = (FIRST_SLOT << 40) + 8;
        assert_eq!(convert_address(true, Space::Global, global), global);
        assert!(is_space(Space::Global, global, |_| false));
        assert!(!is_space(Space::Global, 8, |_| false), "the null page is nobody's");
    }
}
