//! One function on its way through the rewriting: every instruction that touches memory, leaves, traps or calls gets
//! its new text, then the entry and the exit that they need.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::RewriteOptions;
use super::check::Place;
use super::edits::Edits;
use super::items::{Item, SharedNames};
use super::params::{ExtraValue, IndexLimit};
use super::pointers::{Pointers, leaders};
use super::provenance::Provenance;
use super::refuse::Refused;
use super::sites::{CheckedSite, Open, RecordedAddress, SiteKind, SiteSet};
use super::traces::Jumps;
use super::values::Block;
use crate::ptx::ast;
use crate::ptx::ir::{
    AddressBase, Call, CallTarget, Function, FunctionKind, Hint, Inst, Intrinsic, MemoryAccessKind, Module,
    Op, ParamBlock, Reg, Space, Symbol, VariableId, Width,
};
use crate::ptx::source::{Source, Span};

/// Everything that the rewriting of one function knows and collects.
pub(super) struct Writer<'a, 's> {
    /// Prefix of every register and parameter that is added; the text has no such name.
    pub(super) p: &'a str,
    /// Prefix of the labels that are added to this function.
    pub(super) label: String,
    pub(super) source: &'a Source,
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) id: u32,
    /// The kernel: `function` itself, or the one that `function` is called from.
    pub(super) kernel: &'a Function,
    pub(super) syntax: &'a ast::Function<'s>,
    pub(super) instructions: HashMap<u32, Placed<'a, 's>>,
    pub(super) provenance: Provenance<'a>,
    /// Parameters of the kernel that are buffers.
    pub(super) buffers: &'a [usize],
    /// Variables that some address may lead to.
    pub(super) named: &'a [VariableId],
    pub(super) shared: &'a SharedNames,
    pub(super) options: RewriteOptions,
    pub(super) items: Vec<Item>,
    /// Does it call functions that were rewritten?
    pub(super) calls: bool,
    /// Numbers of the sites, from 1, by instruction and access.
    pub(super) numbers: HashMap<(usize, usize), usize>,
    /// Accesses that are tested by an index, and the register that holds it.
    pub(super) indexed: HashMap<(usize, usize), (IndexLimit, String)>,
    /// Labels that were added.
    pub(super) labels: u32,
    /// Registers for what heads of regions compute: predicates, of 16, 32, 64 bits.
    pub(super) spare: [u32; 4],
    /// What stands behind the last instruction and is jumped to.
    pub(super) cold: String,
    pub(super) output: Output,
}

/// An instruction in the text.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a, 's> {
    pub(super) syntax: &'a ast::Instruction<'s>,
    /// Instructions with the same number stand in one scope, with nothing but instructions and labels between
    /// them.
    pub(super) stretch: u32,
    /// Does it stand in the function's own scope?
    pub(super) outermost: bool,
}

/// A checked access.
pub(super) struct Checked {
    /// What stands before it.
    pub(super) before: String,
    /// The predicate that tells whether it may be made.
    pub(super) run: String,
}

/// What the functions of one kernel give together.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) edits: Edits,
    pub(super) sites: Vec<CheckedSite>,
    /// The kernel's parameters behind its own.
    pub(super) extras: Vec<ExtraValue>,
    /// What functions get from the kernel by way of its local memory.
    pub(super) slots: Vec<Item>,
}

impl<'a, 's> Writer<'a, 's> {
    /// The name of a parameter behind the kernel's own.
    pub(super) fn extra(&mut self, value: ExtraValue) -> String {
        let index = self.output.extras.iter().position(|known| *known == value).unwrap_or_else(|| {
            self.output.extras.push(value);
            self.output.extras.len() - 1
        });
        format!("{}x{index}", self.p)
    }

    /// Rewrites the function. The texts of its entry and exit are put in once all sites are known.
    pub(super) fn run(mut self, open: &SiteSet) -> Result<Output, Refused> {
        let function = self.function;
        let is_kernel = function.kind == FunctionKind::Kernel;
        let open: Vec<Option<Open>> = (0..function.code.len())
            .map(|pc| if is_kernel { open.get(pc as u32) } else { Some(Open::WHOLLY) })
            .collect();
        let buffers = if is_kernel { self.buffers } else { &[] };
        let leader = leaders(&function.code);
        let pointers = Pointers::of(function, buffers, &leader);
        let jumps = Jumps::of(&function.code);
        let mut begin = 0;
        while begin < function.code.len() {
            let end = jumps.trace(begin, function.code.len());
            let block = Block::of(function, buffers, &pointers, &jumps, (begin, end));
            self.block(&block, (begin, end), &open)?;
            begin = end;
        }
        self.frame()?;
        Ok(self.output)
    }

    pub(super) fn instruction(&mut self, pc: usize, inst: &Inst, open: Option<Open>) -> Result<(), Refused> {
        match &inst.op {
            Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::AsyncCopy { .. } => match open {
                Some(open) => self.access(pc, inst, open),
                None => Ok(()),
            },
            Op::LoadMatrix { .. } | Op::StoreMatrix { .. } => match open {
                Some(open) => self.matrix(pc, inst, open),
                None => Ok(()),
            },
            Op::Hint { what: Hint::Prefetch | Hint::Discard | Hint::ApplyPriority, .. } | Op::Breakpoint => {
                // no effect on results, and an address that nobody checked
                let nothing = format!("mov.u32 {}i, 0;", self.p);
                self.instead(inst, nothing)
            }
            Op::Trap => self.stop(pc, inst, SiteKind::Trap),
            Op::Call(call) => match call.target {
                CallTarget::Intrinsic(Intrinsic::AssertFail) => self.stop(pc, inst, SiteKind::Assert),
                CallTarget::Direct(_) => self.call(inst),
                CallTarget::Intrinsic(Intrinsic::Vprintf) => self.printf(pc, inst, call),
                _ => Ok(()),
            },
            Op::Return if self.syntax_of(inst).is_some() => {
                let exit = format!("bra {}exit;", self.label);
                self.instead(inst, exit)
            }
            Op::Exit => {
                let leave = format!("bra {}leave;", self.label);
                self.instead(inst, leave)
            }
            Op::Branch { target, .. } if self.options.count_back_edges && *target as usize <= pc => {
                self.back_edge(pc, inst)
            }
            _ => Ok(()),
        }
    }

    /// The instruction in the syntax tree. An implied `ret` has none.
    pub(super) fn syntax_of(&self, inst: &Inst) -> Option<&'a ast::Instruction<'s>> {
        self.instructions.get(&inst.span.start).map(|placed| placed.syntax)
    }

    fn needed(&self, inst: &Inst) -> Result<Span, Refused> {
        let syntax = self.syntax_of(inst);
        syntax
            .map(|syntax| Span::new(syntax.opcode.span.start, syntax.span.end))
            .ok_or_else(|| Refused::inst(inst, "an instruction that is not in the text"))
    }

    /// Puts `text` in the place of the instruction, whose guard stays.
    fn instead(&mut self, inst: &Inst, text: String) -> Result<(), Refused> {
        let span = self.needed(inst)?;
        let lines = self.source.text(span).bytes().filter(|&byte| byte == b'\n').count();
        self.output.edits.replace(span, format!("{text}{}", "\n".repeat(lines)));
        Ok(())
    }

    /// Makes the instruction run where `predicate` holds, in the place of its guard.
    fn predicate(&mut self, inst: &Inst, predicate: &str) -> Result<(), Refused> {
        let span = self.needed(inst)?;
        let guard = self.syntax_of(inst).and_then(|syntax| syntax.guard).map(|guard| guard.span);
        match guard {
            Some(guard) => self.output.edits.replace(guard, format!("@{predicate}")),
            None => self.output.edits.insert(span.start, format!("@{predicate} ")),
        }
        Ok(())
    }

    fn access(&mut self, pc: usize, inst: &Inst, open: Open) -> Result<(), Refused> {
        if let Some(Checked { before, run }) = self.checked(pc, inst, open)? {
            self.output.edits.insert(inst.span.start, before);
            self.predicate(inst, &run)?;
        }
        Ok(())
    }

    /// The check of what `inst` accesses; `None`: there is nothing to check.
    pub(super) fn checked(&mut self, pc: usize, inst: &Inst, open: Open) -> Result<Option<Checked>, Refused> {
        let p = self.p;
        let mut text = String::new();
        let mut checked = Vec::new();
        let pardon = match &inst.op {
            Op::AsyncCopy { ignore_source: Some(ignored), .. } => {
                let name = ignored.value.reg().and_then(|reg| self.function.register_name(reg));
                let name =
                    name.ok_or_else(|| Refused::inst(inst, "a predicate that is no plain register"))?;
                match ignored.negated {
                    false => Some(name),
                    true => {
                        let _ = write!(text, "not.pred {p}ig, {name}; ");
                        Some(format!("{p}ig"))
                    }
                }
            }
            _ => None,
        };
        for (number, access) in inst.op.memory_accesses().iter().enumerate() {
            let pardon = pardon.as_deref().filter(|_| number == 0);
            let place = Place { pc, number, open };
            checked.extend(self.check(&mut text, place, inst, access, pardon)?);
        }
        let run = match checked.as_slice() {
            [] => return Ok(None),
            [one] => one.clone(),
            [one, other, ..] => {
                let _ = write!(text, "and.pred {p}ok0, {one}, {other}; ");
                format!("{p}ok0")
            }
        };
        let (run, bad) = match inst.guard {
            None => (run.clone(), format!("!{run}")),
            Some(guard) => {
                let guard = self.guard(&mut text, inst, guard)?;
                let _ = write!(text, "not.pred {p}b, {run}; and.pred {p}b, {p}b, {guard}; ");
                let _ = write!(text, "and.pred {p}run, {run}, {guard}; ");
                (format!("{p}run"), format!("{p}b"))
            }
        };
        let mut destinations = Vec::new();
        match &inst.op {
            Op::Load(load) => destinations.extend(load.dsts.iter().flatten().copied()),
            Op::Atomic(atomic) => destinations.extend(atomic.dsts.iter().flatten().copied()),
            _ => {}
        }
        self.clear(&mut text, inst, &destinations, &bad)?;
        Ok(Some(Checked { before: text, run }))
    }

    /// Appends code that clears registers where `bad` holds.
    fn clear(&self, text: &mut String, inst: &Inst, registers: &[Reg], bad: &str) -> Result<(), Refused> {
        let p = self.p;
        for reg in registers {
            let Some(name) = self.function.register_name(*reg) else {
                return Err(Refused::inst(inst, "a destination that is no plain register"));
            };
            let _ = match reg.width {
                Width::B16 | Width::B32 | Width::B64 => {
                    write!(text, "@{bad} mov.b{} {name}, 0; ", reg.width.bits())
                }
                Width::B128 => write!(text, "mov.u64 {p}u, 0; @{bad} mov.b128 {name}, {{{p}u, {p}u}}; "),
                Width::B8 | Width::Predicate => {
                    return Err(Refused::inst(inst, "a destination of 8 bits"));
                }
            };
        }
        Ok(())
    }

    /// `ldmatrix`, `stmatrix`: the warp does them together, so one lane's bad row stops all of it.
    fn matrix(&mut self, pc: usize, inst: &Inst, open: Open) -> Result<(), Refused> {
        let p = self.p;
        let (matrices, destinations) = match &inst.op {
            Op::LoadMatrix { dsts, .. } => (dsts.len(), dsts.iter().flatten().copied().collect()),
            Op::StoreMatrix { srcs, .. } => (srcs.len(), Vec::new()),
            _ => return Ok(()),
        };
        // only the first lanes give an address, eight for each matrix
        let mut text = format!("mov.u32 {p}i, %laneid; setp.ge.u32 {p}ig, {p}i, {}; ", 8 * matrices);
        if let Some(guard) = inst.guard {
            let guard = self.guard(&mut text, inst, guard)?;
            let _ = write!(text, "not.pred {p}b, {guard}; or.pred {p}ig, {p}ig, {p}b; ");
        }
        let accesses = inst.op.memory_accesses();
        let Some(access) = accesses.first() else { return Ok(()) };
        let pardon = format!("{p}ig");
        let place = Place { pc, number: 0, open };
        let Some(ok) = self.check(&mut text, place, inst, access, Some(&pardon))? else {
            return Ok(());
        };
        let _ = write!(text, "activemask.b32 {p}i; vote.sync.all.pred {p}run, {ok}, {p}i; ");
        let _ = write!(text, "not.pred {p}b, {p}run; ");
        if let Some(guard) = inst.guard {
            let guard = self.guard(&mut text, inst, guard)?;
            let _ = write!(text, "and.pred {p}b, {p}b, {guard}; and.pred {p}run, {p}run, {guard}; ");
        }
        self.clear(&mut text, inst, &destinations, &format!("{p}b"))?;
        self.output.edits.insert(inst.span.start, text);
        self.predicate(inst, &format!("{p}run"))
    }

    /// `vprintf` follows its two pointers unchecked, so they must be known.
    fn printf(&self, pc: usize, inst: &Inst, call: &Call) -> Result<(), Refused> {
        for argument in &call.args {
            let stored = self.function.code[..pc].iter().rposition(|inst| match &inst.op {
                Op::Store(store) => {
                    let parameter = Symbol::Param(ParamBlock::Call, argument.call_param);
                    store.space == Space::Param && store.address.base == AddressBase::Symbol(parameter)
                }
                _ => false,
            });
            if !stored.is_some_and(|at| self.provenance.passes_a_variable(at)) {
                return Err(Refused::inst(inst, "`vprintf` of an address that is no variable's"));
            }
        }
        Ok(())
    }

    fn event(&self, pc: usize, inst: &Inst, kind: SiteKind) -> CheckedSite {
        CheckedSite {
            function: self.id,
            pc: pc as u32,
            line: inst.line,
            span: inst.span,
            kind,
            space: Space::Generic,
            buffer: None,
            bytes: 0,
            address: RecordedAddress::None,
        }
    }

    /// `trap` and failed assertions: a record, and the end of the thread.
    fn stop(&mut self, pc: usize, inst: &Inst, kind: SiteKind) -> Result<(), Refused> {
        let p = self.p;
        let mut text = String::new();
        let guard = match inst.guard {
            Some(guard) => Some(self.guard(&mut text, inst, guard)?),
            None => None,
        };
        let site = self.site(pc, 0, inst, self.event(pc, inst, kind))?;
        self.note(&mut text, site, guard.as_deref(), &format!("mov.u64 {p}g, 0;"));
        self.output.edits.insert(inst.span.start, text);
        let leave = format!("bra {}leave;", self.label);
        self.instead(inst, leave)
    }

    /// A jump back spends one of the thread's steps; without any left the thread ends.
    fn back_edge(&mut self, pc: usize, inst: &Inst) -> Result<(), Refused> {
        let p = self.p;
        let mut text = String::new();
        let bad = match inst.guard {
            Some(guard) => {
                let guard = self.guard(&mut text, inst, guard)?;
                let _ = write!(text, "@{guard} add.s64 {p}c, {p}c, -1; ");
                let _ = write!(text, "setp.lt.and.s64 {p}b, {p}c, 0, {guard}; ");
                format!("{p}b")
            }
            None => {
                let _ = write!(text, "add.s64 {p}c, {p}c, -1; setp.lt.s64 {p}b, {p}c, 0; ");
                format!("{p}b")
            }
        };
        let site = self.site(pc, 0, inst, self.event(pc, inst, SiteKind::Steps))?;
        self.note(&mut text, site, Some(&bad), &format!("mov.u64 {p}g, 0;"));
        let _ = write!(text, "@{p}b bra {}leave; ", self.label);
        self.output.edits.insert(inst.span.start, text);
        Ok(())
    }
}

/// Does a launch need the rewritten kernel although each of its accesses was proved? So it is with `trap` and
/// assertions, which end a context on hardware.
pub(super) fn stops(function: &Function) -> bool {
    function.code.iter().any(|inst| match &inst.op {
        Op::Trap => true,
        Op::Call(call) => !matches!(call.target, CallTarget::Intrinsic(Intrinsic::Vprintf)),
        _ => false,
    })
}

/// Does it write memory, parameters and its own local memory aside?
pub(super) fn writes(inst: &Inst) -> bool {
    inst.op.memory_accesses().iter().any(|access| {
        access.kind != MemoryAccessKind::Read && matches!(access.space, Space::Global | Space::Generic)
    })
}
