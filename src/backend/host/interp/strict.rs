//! Strict mode: what only a watched run can see. Registers that nothing wrote are here; memory is in `shadow`, and
//! who is ordered before whom in `order`. The loop of `observed` asks before it runs an instruction.

use std::collections::HashMap;
use std::ops::Range;

use super::access::{Place, Raise};
use super::context::Launch;
use super::order::{Order, Thread};
use super::other::Lanes;
use super::registers::{FULL, Frame, LANES, lanes};
use super::shadow::{Conflict, Mark, Shadow, Touch};
use crate::backend::host::written::Written;
use crate::fault::{Access, AccessKind, FaultKind, Site, Space as FaultSpace};
use crate::ptx::ir::{Inst, IntegerOp, MemoryOrder, Op, Reg, RegClass};

/// What strict mode knows of a launch.
pub(super) struct Strict {
    /// Function layouts: bytes of `.local` variables, of the whole frame.
    frames: Vec<(u32, u32)>,
    /// Which lanes of a register were written, by warp of the block, class and row.
    written: HashMap<(u32, RegClass, u32), u32>,
    order: Order,
    global: HashMap<u32, Shadow>,
    /// What of each allocation was written before the launch.
    before: Vec<Written>,
    shared: Shadow,
    /// Bytes of local variables that were written, by thread of the block.
    local: HashMap<u32, Vec<bool>>,
    threads: u32,
    block: u32,
    /// Where the accesses that a report may name happened.
    blocks: Vec<[u32; 3]>,
}

/// An access that is about to happen.
pub(super) struct Event {
    pub(super) function: u32,
    pub(super) pc: u32,
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) kind: AccessKind,
    pub(super) non_coherent: bool,
    /// What a store writes.
    pub(super) data: [u8; 32],
}

impl Strict {
    /// Watches a launch; `before` says what of each allocation was written before it.
    pub(super) fn new(launch: &Launch, before: Vec<Written>) -> Self {
        let layouts = launch.program().functions.iter();
        Self {
            frames: layouts.map(|layout| (layout.in_offset, layout.frame_bytes)).collect(),
            written: HashMap::new(),
            order: Order::default(),
            global: HashMap::new(),
            before,
            shared: Shadow::default(),
            local: HashMap::new(),
            threads: launch.threads(),
            block: 0,
            blocks: Vec::new(),
        }
    }

    pub(super) fn begin_block(&mut self, block: [u32; 3]) {
        self.block = self.blocks.len() as u32;
        self.blocks.push(block);
        self.written.clear();
        self.local.clear();
        self.shared = Shadow::default();
    }

    /// An activation begins: its registers and local variables are unwritten, its parameter blocks are not.
    pub(super) fn enter(&mut self, warp: u32, frame: &Frame, mask: u32) {
        let bases = [
            (RegClass::Predicate, frame.predicates),
            (RegClass::Slot32, frame.slots32),
            (RegClass::Slot64, frame.slots64),
            (RegClass::Slot128, frame.slots128),
        ];
        self.written.iter_mut().for_each(|((of, class, row), written)| {
            let base = bases.iter().find(|(c, _)| c == class).map_or(0, |(_, base)| *base);
            if *of == warp && *row >= base {
                *written &= !mask;
            }
        });
        let Some(&(variables, whole)) = self.frames.get(frame.function as usize) else { return };
        for lane in lanes(mask) {
            let written = self.local.entry(warp * LANES as u32 + lane as u32).or_default();
            written.truncate(frame.local as usize);
            written.resize((frame.local + variables) as usize, false);
            written.resize((frame.local + whole) as usize, true);
        }
    }

    /// Checks what `inst` reads, and notes what it writes. Copies may copy what is unwritten; the copy is then
    /// unwritten too, as compilers move values that are never used.
    pub(super) fn registers(
        &mut self,
        warp: u32,
        frame: &Frame,
        inst: &Inst,
        mask: u32,
    ) -> Result<(), Box<Raise>> {
        let mut written = mask;
        if let Op::Mov { src, .. } = inst.op {
            written &= src.reg().map_or(FULL, |reg| self.written(warp, frame, reg));
        } else if !matches!(inst.op, Op::Select { .. } | Op::Pack { .. } | Op::Unpack { .. }) {
            let mut missing = 0;
            inst.op.for_each_use(|reg| missing |= mask & !self.written(warp, frame, reg));
            if missing != 0 {
                return Err(Raise::new(FaultKind::Uninitialised, missing.trailing_zeros() as usize));
            }
        } else {
            inst.op.for_each_use(|reg| {
                // of a selection only the predicate counts
                if reg.class() != RegClass::Predicate || !matches!(inst.op, Op::Select { .. }) {
                    return;
                }
                written &= self.written(warp, frame, reg);
            });
        }
        inst.op.for_each_def(|reg| {
            let row = self.written.entry(key(warp, frame, reg)).or_default();
            *row = *row & !mask | written;
        });
        self.synchronise(warp, inst, mask);
        Ok(())
    }

    /// Checks the predicate of a guard.
    pub(super) fn check_register(
        &self,
        warp: u32,
        frame: &Frame,
        reg: Reg,
        mask: u32,
    ) -> Result<(), Box<Raise>> {
        match mask & !self.written(warp, frame, reg) {
            0 => Ok(()),
            missing => Err(Raise::new(FaultKind::Uninitialised, missing.trailing_zeros() as usize)),
        }
    }

    fn written(&self, warp: u32, frame: &Frame, reg: Reg) -> u32 {
        self.written.get(&key(warp, frame, reg)).copied().unwrap_or(0)
    }

    /// Division by zero.
    pub(super) fn check_arithmetic(&self, on: &Lanes<'_>, op: &Op) -> Result<(), Box<Raise>> {
        let Op::Integer { op: IntegerOp::Div | IntegerOp::Rem, ty, b, .. } = op else { return Ok(()) };
        let divisors = on.row(*b);
        let zero = |lane: &usize| divisors[*lane] & super::integer::mask(ty.bits()) == 0;
        match lanes(on.mask).find(zero) {
            Some(lane) => Err(Raise::new(FaultKind::DivisionByZero, lane)),
            None => Ok(()),
        }
    }

    /// Fences and warp operations order what the lanes did before with what others do after.
    fn synchronise(&mut self, warp: u32, inst: &Inst, mask: u32) {
        let orders = match &inst.op {
            Op::Fence { .. }
            | Op::WarpBarrier { .. }
            | Op::Shuffle { mask: Some(_), .. }
            | Op::Vote { mask: Some(_), .. }
            | Op::Match { .. }
            | Op::Reduce { .. }
            | Op::MatrixMultiply(_)
            | Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::Mbarrier(_)
            | Op::AsyncArrive { .. }
            | Op::Barrier(_)
            | Op::Atomic(_) => true,
            Op::Load(load) => load.ordering.order != MemoryOrder::Weak,
            Op::Store(store) => !matches!(store.ordering.order, MemoryOrder::Weak | MemoryOrder::Volatile),
            _ => false,
        };
        if orders {
            for lane in lanes(mask) {
                self.order.synchronise(self.thread(warp, lane as u32));
            }
        }
    }

    /// A barrier of the block is complete.
    pub(super) fn block_synchronised(&mut self) {
        for thread in 0..self.threads {
            self.order.synchronise(Thread { block: self.block, thread });
        }
    }

    /// A warp operation is complete: its lanes see what the last of them did before it came.
    pub(super) fn lanes_synchronised(&mut self, warp: u32, mask: u32) {
        for lane in lanes(mask) {
            self.order.synchronise(self.thread(warp, lane as u32));
        }
    }

    fn thread(&self, warp: u32, lane: u32) -> Thread {
        Thread { block: self.block, thread: warp * LANES as u32 + lane }
    }

    /// Gives each range of global memory that the launch wrote to `note`, with its allocation.
    pub(super) fn each_written(&self, mut note: impl FnMut(u32, Range<usize>)) {
        for (&allocation, shadow) in &self.global {
            shadow.each_written(|range| note(allocation, range));
        }
    }

    /// Checks an access and notes it.
    pub(super) fn access(
        &mut self,
        event: &Event,
        place: Place,
        size: usize,
        ordered: bool,
        site: impl Fn(u32, u32, [u32; 3], u32) -> Option<Site>,
    ) -> Result<(), Box<Raise>> {
        let thread = self.thread(event.warp, event.lane);
        let refuse = |kind, space, address| {
            let access = Access { kind: event.kind, space, address, bytes: size as u32 };
            let mut raise = Raise::new(kind, event.lane as usize);
            raise.access = Some(access);
            Err(raise)
        };
        let (shadow, offset, space) = match place {
            Place::Param { .. } => return Ok(()),
            Place::Local { offset } => {
                let written = self.local.entry(thread.thread).or_default();
                let from = (offset as usize).min(written.len());
                let range = from..(from + size).min(written.len());
                if event.kind == AccessKind::Store {
                    written[range].fill(true);
                } else if !written[range].iter().all(|&byte| byte) {
                    return refuse(FaultKind::Uninitialised, FaultSpace::Local, offset);
                }
                return Ok(());
            }
            Place::Shared { offset } => (&mut self.shared, offset, FaultSpace::Shared),
            Place::Global { allocation, offset } => {
                (self.global.entry(allocation).or_default(), offset, FaultSpace::Global)
            }
        };
        let mark = Mark {
            thread,
            time: self.order.now(),
            function: event.function,
            pc: event.pc,
            ordered: ordered || event.kind == AccessKind::Atomic,
        };
        let touch = Touch { kind: event.kind, mark, data: event.data };
        if event.non_coherent && shadow.written(offset, size) {
            return refuse(FaultKind::NonCoherentLoad, space, offset as u64);
        }
        let before = match place {
            Place::Global { allocation, .. } => self.before.get(allocation as usize),
            _ => None,
        };
        let holds = |at| shadow.written(at, 1) || before.is_some_and(|before| before.contains(at..at + 1));
        if event.kind != AccessKind::Store
            && !before.is_some_and(|before| before.contains(offset..offset + size))
            && !(offset..offset + size).all(holds)
        {
            return refuse(FaultKind::Uninitialised, space, offset as u64);
        }
        let order = &self.order;
        match shadow.touch(offset, size, &touch, |earlier| order.is_before(earlier, thread)) {
            Ok(()) => Ok(()),
            Err(Conflict { with }) => {
                let block = self.blocks.get(with.thread.block as usize).copied().unwrap_or_default();
                match site(with.function, with.pc, block, with.thread.thread) {
                    Some(other) => {
                        refuse(FaultKind::DataRace { other: Box::new(other) }, space, offset as u64)
                    }
                    None => Err(Raise::internal("a race with an access that is not there")),
                }
            }
        }
    }
}

fn key(warp: u32, frame: &Frame, reg: Reg) -> (u32, RegClass, u32) {
    let base = match reg.class() {
        RegClass::Predicate => frame.predicates,
        RegClass::Slot32 => frame.slots32,
        RegClass::Slot64 => frame.slots64,
        RegClass::Slot128 => frame.slots128,
    };
    (warp, reg.class(), base + reg.index)
}
