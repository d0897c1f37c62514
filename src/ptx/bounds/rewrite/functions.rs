//! Entries, exits and calls. A kernel that calls functions keeps a block of its local memory for them, and passes its
//! address as one parameter more, so that launches of one module on several streams share nothing:
//!
//! | bytes      | contents                                               |
//! |------------|--------------------------------------------------------|
//! | 0 … 7      | number of the first site that failed, plus 1; 0 if none |
//! | 8 … 15     | its address                                            |
//! | 16 … 23    | steps left                                             |
//! | 24 … 31    | address of the record                                  |
//! | 32 …       | bases and limits, 8 bytes each                         |

use std::fmt::Write as _;

use super::params::ExtraValue;
use super::record;
use super::refuse::Refused;
use super::writer::Writer;
use crate::ptx::ast::{OperandKind, Statement};
use crate::ptx::ir::{FunctionKind, Inst};

/// Where the bases and limits begin in the block.
const SLOTS: usize = 32;

/// Names of the registers that heads of regions compute in: predicates, of 16, 32, 64 bits.
pub(super) const SPARE: [&str; 4] = ["hp", "hh", "hr", "hd"];

impl Writer<'_, '_> {
    /// Code around a call of a function that was rewritten too.
    pub(super) fn call(&mut self, inst: &Inst) -> Result<(), Refused> {
        let p = self.p;
        self.calls = true;
        let Some(syntax) = self.syntax_of(inst) else { return Ok(()) };
        let argument = format!("{p}arg{}", inst.span.start);
        let mut before = format!(".param .b64 {argument}; st.param.b64 [{argument}], {p}s; ");
        before.push_str(&self.save());
        // `(results), name, (arguments)`: results stand before the name
        let name = syntax.operands.iter().position(|operand| matches!(operand.kind, OperandKind::Symbol(_)));
        let Some(name) = name else { return Err(Refused::inst(inst, "a call of no plain function")) };
        let (at, added) = match syntax.operands.get(name + 1) {
            Some(list) => {
                let empty = matches!(&list.kind, OperandKind::List(arguments) if arguments.is_empty());
                (list.span.end - 1, format!("{}{argument}", if empty { "" } else { ", " }))
            }
            None => (syntax.operands[name].span.end, format!(", ({argument})")),
        };
        self.output.edits.insert(inst.span.start, before);
        self.output.edits.insert(at, added);
        self.output.edits.insert(inst.span.end, format!(" {}", self.restore()));
        Ok(())
    }

    fn save(&self) -> String {
        let p = self.p;
        format!("st.local.u32 [{p}s], {p}f; st.local.u64 [{p}s+8], {p}g; st.local.u64 [{p}s+16], {p}c; ")
    }

    fn restore(&self) -> String {
        let p = self.p;
        format!("ld.local.u32 {p}f, [{p}s]; ld.local.u64 {p}g, [{p}s+8]; ld.local.u64 {p}c, [{p}s+16]; ")
    }

    /// Declarations and the values of all items at the entry, the record at the exit, the parameters in the list.
    pub(super) fn frame(&mut self) -> Result<(), Refused> {
        let p = self.p;
        let Some(body) = &self.syntax.body else { return Ok(()) };
        let begin = body.statements.iter().find_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction.span.start),
            Statement::Label(label) => Some(label.span.start),
            Statement::Block(block) => Some(block.span.start),
            _ => None,
        });
        let end = body.span.end - 1;
        let is_kernel = self.function.kind == FunctionKind::Kernel;
        let mut text = format!(
            ".reg .pred {p}ok0, {p}ok1, {p}h, {p}hg, {p}b, {p}q, {p}run, {p}ng, {p}ig; \
             .reg .b32 {p}f, {p}i, {p}j, {p}k, {p}m, {p}n; .reg .b64 {p}a, {p}c, {p}g, {p}r, {p}s, {p}t, {p}u; ",
        );
        text.push_str(&record::registers(p));
        for ((class, name), count) in ["pred", "b16", "b32", "b64"].iter().zip(SPARE).zip(self.spare) {
            if count > 0 {
                let _ = write!(text, ".reg .{class} {p}{name}<{count}>; ");
            }
        }
        let (entry, exit) = if is_kernel { self.kernel_frame()? } else { self.function_frame() };
        let (wide, narrow) = (self.items.len(), self.items.len());
        if wide > 0 {
            let _ = write!(text, ".reg .b64 {p}v<{wide}>; .reg .b32 {p}w<{narrow}>; ");
        }
        text.push_str(&entry);
        self.output.edits.insert_entry(begin.unwrap_or(end), text);
        if !self.cold.is_empty() {
            let cold = std::mem::take(&mut self.cold);
            self.output.edits.insert(end, format!("bra {}exit; {cold}", self.label));
        }
        self.output.edits.insert(end, exit);
        Ok(())
    }

    fn kernel_frame(&mut self) -> Result<(String, String), Refused> {
        let (p, label) = (self.p, self.label.clone());
        let mut entry = format!("mov.u32 {p}f, 0; mov.u64 {p}g, 0; ");
        let record_parameter = self.extra(ExtraValue::Record);
        match self.options.count_back_edges {
            true => {
                let steps = self.extra(ExtraValue::Steps);
                let _ = write!(entry, "ld.param.u64 {p}c, [{steps}]; ");
            }
            false => {
                let _ = write!(entry, "mov.u64 {p}c, 0; ");
            }
        }
        let _ = write!(entry, "ld.param.u64 {p}r, [{record_parameter}]; ");
        let slots: Vec<_> = self.output.slots.iter().map(|item| item.in_kernel()).collect();
        slots.iter().for_each(|item| {
            self.item(*item);
        });
        for (index, item) in self.items.clone().into_iter().enumerate() {
            entry.push_str(&self.define(index, item));
        }
        if self.calls {
            let bytes = SLOTS + 8 * slots.len();
            let _ = write!(entry, ".local .align 8 .b8 {p}state[{bytes}]; mov.u64 {p}s, {p}state; ");
            let _ = write!(entry, "st.local.u64 [{p}s+24], {p}r; ");
            for (slot, item) in slots.iter().enumerate() {
                let ty = if item.is_narrow() { "u32" } else { "u64" };
                let register = self.item(*item);
                let _ = write!(entry, "st.local.{ty} [{p}s+{}], {register}; ", SLOTS + 8 * slot);
            }
        }
        let mut exit = format!("{label}exit: {label}leave: ");
        if !self.options.diagnose {
            let _ = write!(exit, "setp.eq.u32 {p}q, {p}f, 0; @{p}q ret; {}", record::write(p));
        }
        exit.push_str("ret; ");
        let mut names = String::new();
        for index in 0..self.output.extras.len() {
            let _ = write!(names, ", .param .u64 {p}x{index}");
        }
        self.append_parameters(&names)?;
        Ok((entry, exit))
    }

    fn function_frame(&mut self) -> (String, String) {
        let (p, label) = (self.p, self.label.clone());
        let mut entry = format!("ld.param.u64 {p}s, [{p}in]; {}", self.restore());
        let _ = write!(entry, "ld.local.u64 {p}r, [{p}s+24]; ");
        for (index, item) in self.items.clone().into_iter().enumerate() {
            if !item.is_of_kernel() {
                entry.push_str(&self.define(index, item));
                continue;
            }
            let slot = self.output.slots.iter().position(|known| *known == item).unwrap_or_else(|| {
                self.output.slots.push(item);
                self.output.slots.len() - 1
            });
            let ty = if item.is_narrow() { "u32" } else { "u64" };
            let register = self.register_of(index, item);
            let _ = write!(entry, "ld.local.{ty} {register}, [{p}s+{}]; ", SLOTS + 8 * slot);
        }
        let mut exit = format!("{label}exit: {}ret; {label}leave: ", self.save());
        if !self.options.diagnose {
            let _ = write!(exit, "setp.eq.u32 {p}q, {p}f, 0; @{p}q exit; {}", record::write(p));
        }
        exit.push_str("exit; ");
        (entry, exit)
    }

    /// Puts parameters behind those of the kernel's list. `names` begins with a comma.
    fn append_parameters(&mut self, names: &str) -> Result<(), Refused> {
        append(&mut self.output.edits, self.syntax, names);
        Ok(())
    }
}

/// Puts parameters behind those of a function's list. `names` begins with a comma.
pub(super) fn append(edits: &mut super::edits::Edits, function: &crate::ptx::ast::Function<'_>, names: &str) {
    let alone = names.trim_start_matches([',', ' ']);
    match function.parameter_list {
        Some(list) if function.parameters.is_empty() => edits.insert(list.end - 1, alone),
        Some(list) => edits.insert(list.end - 1, names),
        None => edits.insert(function.name.span.end, format!("({alone})")),
    }
}
