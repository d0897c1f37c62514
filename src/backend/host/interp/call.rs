//! Calls: activations on top of each other, each lane with its own place to return to, and the functions that the
//! device provides. Arguments and results are bytes in the frames (rule 7 of the IR).

use super::access::{Raise, Refusal};
use super::context::Context;
use super::global::GlobalMemory;
use super::other::{Flow, Lanes, exit};
use super::printf;
use super::program::function_at;
use super::registers::{Frame, LANES, lanes};
use super::warp::{Group, Return, Warp};
use crate::fault::{AccessKind, FaultKind};
use crate::ptx::ir::{Call, CallTarget, FunctionId, FunctionKind, Intrinsic, Op, Space};

/// Calls within calls at most.
const DEPTH_LIMIT: u32 = 4096;
/// Bytes of a string that a kernel prints at most.
const STRING_LIMIT: usize = 1 << 16;

impl<M: GlobalMemory> Context<'_, M> {
    /// `call`
    pub(super) fn call(
        &mut self,
        warp: &mut Warp,
        group: &mut Group,
        mask: u32,
        call: &Call,
    ) -> Result<Flow, Box<Raise>> {
        let first = mask.trailing_zeros() as usize % LANES;
        let (target, together) = match &call.target {
            CallTarget::Intrinsic(intrinsic) => {
                self.intrinsic(warp, group, mask, *intrinsic, call)?;
                return Ok(Flow::Next);
            }
            CallTarget::Direct(id) => (*id, mask),
            CallTarget::Indirect { pointer, .. } => {
                let row = warp.registers.row(&group.frame, *pointer);
                let count = self.program().functions.len();
                let Some(id) = function_at(row[first], count) else {
                    return Err(Raise::new(FaultKind::BadCall, first));
                };
                let same = lanes(mask).filter(|&l| row[l] == row[first]).fold(0, |m, l| m | 1 << l);
                (id, same)
            }
        };
        self.check_callee(target, call, first)?;
        // lanes that call something else come back to this instruction, the others go past it
        warp.park(Group { mask: mask & !together, ..*group });
        warp.park(Group { mask: group.mask & !mask, pc: group.pc + 1, ..*group });
        let Some((caller, callee)) = self.layouts(group.frame.function, target.0) else {
            return Err(Raise::internal("call between functions that are not there"));
        };
        let frame = Frame {
            function: target.0,
            depth: group.frame.depth + 1,
            predicates: group.frame.predicates + caller.file.predicates,
            slots32: group.frame.slots32 + caller.file.slots32,
            slots64: group.frame.slots64 + caller.file.slots64,
            slots128: group.frame.slots128 + caller.file.slots128,
            local: group.frame.local + caller.frame_bytes,
        };
        let (from, to) = (group.frame.local + caller.call_offset, frame.local + callee.in_offset);
        let (frame_end, entry) = (frame.local.saturating_add(callee.frame_bytes), callee.entry);
        if frame.depth > DEPTH_LIMIT || !warp.local.enter(frame.local, frame_end, together) {
            return Err(Raise::new(FaultKind::StackOverflow, first));
        }
        self.enter(warp, &frame, together);
        for copy in &call.args {
            for lane in lanes(together) {
                let from = u64::from(from + copy.caller_offset);
                warp.local.copy(lane, from, u64::from(to + copy.callee_offset), copy.size as usize);
            }
        }
        let back = Return { pc: group.pc + 1, frame: group.frame };
        let depth = group.frame.depth as usize;
        if warp.returns.len() <= depth {
            warp.returns.resize(depth + 1, [Return::default(); LANES]);
        }
        lanes(together).for_each(|lane| warp.returns[depth][lane] = back);
        *group = Group { pc: entry, mask: together, frame };
        Ok(Flow::Moved)
    }

    fn layouts(
        &self,
        caller: u32,
        callee: u32,
    ) -> Option<(&super::program::Layout, &super::program::Layout)> {
        let functions = &self.program().functions;
        Some((functions.get(caller as usize)?, functions.get(callee as usize)?))
    }

    fn check_callee(&self, target: FunctionId, call: &Call, lane: usize) -> Result<(), Box<Raise>> {
        let Some(function) = self.program().module.functions.get(target.0 as usize) else {
            return Err(Raise::new(FaultKind::BadCall, lane));
        };
        if let Some(unsupported) = &function.unsupported {
            return Err(Raise::new(FaultKind::Unsupported { opcode: unsupported.what.clone() }, lane));
        }
        if !function.defined || function.code.is_empty() {
            let opcode = format!("call to `{}`, which this module does not define", function.name);
            return Err(Raise::new(FaultKind::Unsupported { opcode }, lane));
        }
        let fits =
            |size: u32, offset: u32, block: u32| offset.checked_add(size).is_some_and(|end| end <= block);
        let same = call.args.iter().all(|c| fits(c.size, c.callee_offset, function.param_bytes))
            && call.rets.iter().all(|c| fits(c.size, c.callee_offset, function.return_bytes))
            && call.args.len() == function.params.len()
            && function.kind == FunctionKind::Device;
        if same { Ok(()) } else { Err(Raise::new(FaultKind::BadCall, lane)) }
    }

    /// Prepares the registers of an activation.
    pub(super) fn enter(&mut self, warp: &mut Warp, frame: &Frame, mask: u32) {
        let Some(layout) = self.program().functions.get(frame.function as usize) else { return };
        let registers = &mut warp.registers;
        registers.enter(frame, &layout.file, mask);
        for &(row, value) in &layout.constants32 {
            if let Some(row) = registers.slots32.get_mut((frame.slots32 + row) as usize) {
                lanes(mask).for_each(|lane| *row.lane_mut(lane) = value);
            }
        }
        for &(row, value) in &layout.constants64 {
            if let Some(row) = registers.slots64.get_mut((frame.slots64 + row) as usize) {
                lanes(mask).for_each(|lane| *row.lane_mut(lane) = value);
            }
        }
        if let Some(row) = registers.predicates.get_mut((frame.predicates + layout.always) as usize) {
            *row |= mask;
        }
        if let Some(strict) = &mut self.strict {
            strict.enter(warp.index, frame, mask);
        }
    }

    /// `ret`: lanes go back to where they were called from, which need not be one place.
    pub(super) fn return_from(&mut self, warp: &mut Warp, group: &mut Group, mask: u32) -> Flow {
        let Some(depth) = group.frame.depth.checked_sub(1) else {
            return exit(warp, group, mask);
        };
        warp.park(Group { pc: group.pc + 1, mask: group.mask & !mask, ..*group });
        let Some(&returns) = warp.returns.get(depth as usize) else {
            return exit(warp, group, mask);
        };
        let callee = group.frame;
        let mut rest = mask;
        let single = lanes(mask).all(|l| returns[l] == returns[mask.trailing_zeros() as usize % LANES]);
        while rest != 0 {
            let back = returns[rest.trailing_zeros() as usize % LANES];
            let together = lanes(rest).filter(|&l| returns[l] == back).fold(0, |m, l| m | 1 << l);
            self.copy_results(warp, &callee, &back, together);
            let caller = Group { pc: back.pc, mask: together, frame: back.frame };
            if single {
                *group = caller;
                // others may be waiting at the call's own depth
                if warp.ready.is_empty() {
                    return Flow::Moved;
                }
            }
            warp.park(caller);
            rest &= !together;
        }
        Flow::Parked
    }

    fn copy_results(&self, warp: &mut Warp, callee: &Frame, back: &Return, mask: u32) {
        let Some((caller_layout, callee_layout)) = self.layouts(back.frame.function, callee.function) else {
            return;
        };
        let call = self.program().inst(back.frame.function, back.pc.wrapping_sub(1));
        let Some(Op::Call(call)) = call.map(|inst| &inst.op) else { return };
        for copy in &call.rets {
            let from = callee.local + callee_layout.out_offset + copy.callee_offset;
            let to = back.frame.local + caller_layout.call_offset + copy.caller_offset;
            for lane in lanes(mask) {
                warp.local.copy(lane, u64::from(from), u64::from(to), copy.size as usize);
            }
        }
    }

    /// A function of the device, lane by lane.
    fn intrinsic(
        &mut self,
        warp: &mut Warp,
        group: &Group,
        mask: u32,
        intrinsic: Intrinsic,
        call: &Call,
    ) -> Result<(), Box<Raise>> {
        let layout = self.program().functions.get(group.frame.function as usize);
        let block = u64::from(group.frame.local + layout.map_or(0, |l| l.call_offset));
        for lane in lanes(mask) {
            let on = Lanes { warp: &mut *warp, frame: group.frame, mask };
            let argument = |index: usize| -> u64 {
                let Some(copy) = call.args.get(index) else { return 0 };
                let size = copy.size.min(8) as usize;
                let mut all = [0; 8];
                if let Some(bytes) = on.warp.local.bytes(lane, block + u64::from(copy.caller_offset), size) {
                    all[..size].copy_from_slice(bytes);
                }
                u64::from_le_bytes(all)
            };
            let [a, b, c, d] = [0, 1, 2, 3].map(argument);
            let result = match intrinsic {
                Intrinsic::Vprintf => {
                    let format = self.string(&on, a, lane)?;
                    let text = printf::format(&format, |request| match request {
                        printf::Request::Number { offset, size } => {
                            let bytes = self.generic(&on, b + offset, size, lane)?;
                            Ok(printf::Answer::Number(bytes))
                        }
                        printf::Request::Text { address } => {
                            Ok(printf::Answer::Text(self.string(&on, address, lane)?))
                        }
                    })?;
                    self.output.push(text);
                    1
                }
                Intrinsic::AssertFail => {
                    let message = self.string(&on, a, lane)?;
                    let file = self.string(&on, b, lane)?;
                    let function = self.string(&on, d, lane)?;
                    let line = c as u32;
                    let message = format!("`{message}` in {function}, {file}:{line}");
                    return Err(Raise::new(FaultKind::Assert { message }, lane));
                }
                Intrinsic::Malloc => self.heap_allocate(a),
                // the heap lives as long as the launch
                Intrinsic::Free => 0,
            };
            if let Some(copy) = call.rets.first() {
                let size = copy.size.min(8) as usize;
                if let Some(bytes) = warp.local.bytes_mut(lane, block + u64::from(copy.caller_offset), size) {
                    bytes.copy_from_slice(&u64::to_le_bytes(result)[..size]);
                }
            }
        }
        Ok(())
    }

    /// A piece of the device heap, or null when it is used up.
    fn heap_allocate(&mut self, size: u64) -> u64 {
        let Some((start, len)) = self.launch.heap else { return 0 };
        match size.checked_next_multiple_of(16) {
            Some(size) if size <= len - self.heap_used => {
                let address = start + self.heap_used;
                self.heap_used += size;
                address
            }
            _ => 0,
        }
    }

    /// Up to 8 bytes at a generic address.
    fn generic(&mut self, on: &Lanes<'_>, address: u64, size: usize, lane: usize) -> Result<u64, Box<Raise>> {
        let mut all = [0; 8];
        for (i, byte) in all.iter_mut().take(size).enumerate() {
            let place =
                self.place(on, Space::Generic, address.wrapping_add(i as u64), 1, AccessKind::Load, lane)?;
            *byte = self.fetch(on.warp, lane, place, 1)[0];
        }
        Ok(u64::from_le_bytes(all))
    }

    /// The C string at a generic address.
    fn string(&mut self, on: &Lanes<'_>, address: u64, lane: usize) -> Result<String, Box<Raise>> {
        let mut bytes = Vec::new();
        while bytes.len() < STRING_LIMIT {
            let at = address.wrapping_add(bytes.len() as u64);
            match self.generic(on, at, 1, lane) {
                Ok(0) => break,
                Ok(byte) => bytes.push(byte as u8),
                // a string that runs out of its memory ends there
                Err(raise) if raise.refusal == Refusal::Outside && !bytes.is_empty() => break,
                Err(raise) => return Err(raise),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
