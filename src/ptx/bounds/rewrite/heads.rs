//! The text of [regions](super::regions): the test at the head, the original behind it, and out of the way the copy with
//! a check at each access.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::check::Place;
use super::families::MOST_STEP;
use super::functions::SPARE;
use super::groups::Group;
use super::refuse::Refused;
use super::regions::Region;
use super::sites::Open;
use super::traces::target;
use super::values::{Block, Made};
use super::writer::{Checked, Writer};
use crate::ptx::ast::Instruction;
use crate::ptx::ir::{Inst, Reg, RegClass, Width};
use crate::ptx::source::Span;

/// What a head computes again, on the way to the values of its test.
#[derive(Default)]
struct Repeated {
    text: String,
    /// The registers that the repeated instructions write.
    names: HashMap<usize, String>,
    /// How many registers of each kind.
    count: [u32; 4],
}

impl Writer<'_, '_> {
    /// Rewrites the instructions of a trace.
    pub(super) fn block(
        &mut self,
        block: &Block<'_>,
        (begin, end): (usize, usize),
        open: &[Option<Open>],
    ) -> Result<(), Refused> {
        let function = self.function;
        for pc in begin..end {
            let Some(open) = open[pc] else { continue };
            for (number, access) in function.code[pc].op.memory_accesses().iter().enumerate() {
                let index = self.single_index(block, Place { pc, number, open }, access);
                self.indexed.extend(index.map(|index| ((pc, number), index)));
            }
        }
        let mut regions = self.regions(block, (begin, end), open).into_iter().peekable();
        let mut pc = begin;
        while pc < end {
            if let Some(region) = regions.next_if(|region| region.head == pc) {
                self.region(block, &region, open)?;
                pc = region.last + 1;
            } else {
                self.instruction(pc, &function.code[pc], open[pc])?;
                pc += 1;
            }
        }
        Ok(())
    }

    fn region(&mut self, block: &Block<'_>, region: &Region, open: &[Option<Open>]) -> Result<(), Refused> {
        let p = self.p;
        let function = self.function;
        let (head, last) = (&function.code[region.head], &function.code[region.last]);
        let (slow, join) = (self.fresh_label(), self.fresh_label());
        // the copy first, so that sites are numbered as they follow each other
        let mut copy = String::new();
        let mut labels: HashMap<usize, String> = HashMap::from([(region.last + 1, join.clone())]);
        let places = || open.iter().enumerate().take(region.last + 1).skip(region.head);
        for (pc, open) in places() {
            if pc > region.head && block.jumps.lead_to(pc) {
                let label = labels.entry(pc).or_insert_with(|| self.fresh_label());
                let _ = write!(copy, "{label}: ");
            }
            match target(&function.code[pc]) {
                Some(to) => {
                    let label = labels.entry(to).or_insert_with(|| self.fresh_label()).clone();
                    copy.push_str(&self.copied_jump(&function.code[pc], &label));
                }
                None => copy.push_str(&self.copied(pc, &function.code[pc], *open)?),
            }
        }
        let mut text = String::new();
        let mut repeated = Repeated::default();
        for (number, group) in region.groups.iter().filter(|group| !group.vouched).enumerate() {
            let tested = self.test(&mut text, block, (region.head, group), number == 0, &mut repeated);
            tested.ok_or_else(|| Refused::inst(head, "an address that is no plain register"))?;
        }
        for (spare, count) in self.spare.iter_mut().zip(repeated.count) {
            *spare = (*spare).max(count);
        }
        for step in &region.steps {
            // by its upper half, which moves out of a loop more easily
            let name = function.register_name(*step).unwrap_or_default();
            let half = MOST_STEP >> 32;
            let _ = write!(text, "mov.b64 {{{p}i, {p}j}}, {name}; add.u32 {p}j, {p}j, {half}; ");
            let _ = write!(text, "setp.lt.and.u32 {p}h, {p}j, {}, {p}h; ", 2 * half);
        }
        let _ = write!(text, "@!{p}h bra {slow}; ");
        self.output.edits.insert(head.span.start, text);
        for (pc, open) in places() {
            if !region.covered.contains(&pc) {
                self.instruction(pc, &function.code[pc], *open)?;
            }
        }
        let outermost = self.instructions.get(&head.span.start).is_some_and(|placed| placed.outermost);
        if outermost {
            let _ = write!(self.cold, "{slow}: {copy}bra {join}; ");
            self.output.edits.insert(last.span.end, format!(" {join}: "));
        } else {
            self.output.edits.insert(last.span.end, format!(" bra {join}; {slow}: {copy}{join}: "));
        }
        Ok(())
    }

    /// The instruction's text with the check of its accesses.
    fn copied(&mut self, pc: usize, inst: &Inst, open: Option<Open>) -> Result<String, Refused> {
        let Some(syntax) = self.syntax_of(inst) else {
            return Err(Refused::inst(inst, "an instruction that is not in the text"));
        };
        let has_accesses = !inst.op.memory_accesses().is_empty();
        let checked = match open.filter(|_| has_accesses) {
            Some(open) => self.checked(pc, inst, open)?,
            None => None,
        };
        Ok(match checked {
            Some(Checked { before, run }) => {
                let rest = self.on_one_line(Span::new(syntax.opcode.span.start, syntax.span.end));
                format!("{before}@{run} {rest} ")
            }
            None => format!("{} ", self.on_one_line(syntax.span)),
        })
    }

    /// A jump to another label.
    fn copied_jump(&self, inst: &Inst, label: &str) -> String {
        let guard = self.syntax_of(inst).and_then(|syntax| syntax.guard);
        let guard = guard.map_or(String::new(), |guard| self.on_one_line(guard.span));
        format!("{guard} bra {label}; ")
    }

    fn on_one_line(&self, span: Span) -> String {
        self.source.text(span).replace(['\n', '\r'], " ")
    }

    /// Appends the test of one group; the head's predicate holds afterwards where it and those before it hold.
    fn test(
        &mut self,
        text: &mut String,
        block: &Block<'_>,
        (head, group): (usize, &Group),
        first: bool,
        repeated: &mut Repeated,
    ) -> Option<()> {
        let p = self.p;
        let all = format!("{p}h");
        // an own predicate where it is not simply one more condition
        let alone = group.guard.is_some();
        let ok = if alone { format!("{p}hg") } else { all.clone() };
        let also = if alone || first { "" } else { ".and" };
        let (low, whole) = (group.low()?, group.whole()?);
        let mut tests = String::new();
        if let Some((limit, reg, made)) = self.group_index(block, group, head) {
            let index = self.at_head(block, head, reg, made, repeated)?;
            self.compare_index(&mut tests, &index, limit, &ok, also);
        } else {
            let name = self.at_head(block, head, low.reg, low.made, repeated)?;
            let offset = low.access.address.offset;
            let located = self.locate_from(&mut tests, group.space, low.reg, &name, offset)?;
            let inst = &self.function.code[low.pc];
            let places = self.tests(inst, group.origin, group.narrow, &whole, group.align()).ok()?;
            match places.as_slice() {
                [place] => {
                    self.compare(&mut tests, &located, place, &ok, also);
                }
                places => {
                    let one = format!("{p}ok0");
                    let _ = write!(tests, "setp.ne.u32 {one}, {p}f, {p}f; ");
                    for place in places {
                        self.compare(&mut tests, &located, place, &one, ".or");
                    }
                    let _ = match also {
                        "" => write!(tests, "mov.pred {ok}, {one}; "),
                        _ => write!(tests, "and.pred {ok}, {ok}, {one}; "),
                    };
                }
            }
        }
        if let Some(member) = group.looked_at() {
            let name = self.at_head(block, head, member.reg, member.made, repeated)?;
            let offset = member.access.address.offset;
            let located = self.locate_from(&mut tests, group.space, member.reg, &name, offset)?;
            self.look_at_alignment(&mut tests, &located, member.access.size, &ok);
        }
        if let Some((guard, made)) = group.guard {
            let guarded = self.at_head(block, head, guard.predicate, made, repeated)?;
            match guard.negated {
                true => {
                    let _ = write!(tests, "or.pred {ok}, {ok}, {guarded}; ");
                }
                false => {
                    let _ = write!(tests, "not.pred {p}b, {guarded}; or.pred {ok}, {ok}, {p}b; ");
                }
            }
            let _ = match first {
                true => write!(tests, "mov.pred {all}, {ok}; "),
                false => write!(tests, "and.pred {all}, {all}, {ok}; "),
            };
        }
        text.push_str(&std::mem::take(&mut repeated.text));
        text.push_str(&tests);
        Some(())
    }

    /// The register that holds at the head what `reg` holds once it is written at `made`, computed again if that is
    /// behind the head.
    fn at_head(
        &self,
        block: &Block<'_>,
        head: usize,
        reg: Reg,
        made: Made,
        repeated: &mut Repeated,
    ) -> Option<String> {
        let Some(write) = made.filter(|write| write.pc >= head) else {
            return self.function.register_name(reg);
        };
        let pc = write.pc;
        if let Some(name) = repeated.names.get(&pc) {
            return Some(name.clone());
        }
        let mut names = HashMap::new();
        for (used, made) in block.uses(pc) {
            names.insert(
                self.function.register_name(*used)?,
                self.at_head(block, head, *used, *made, repeated)?,
            );
        }
        let kind = match (reg.class(), reg.width) {
            (RegClass::Predicate, _) => 0,
            (RegClass::Slot32, Width::B8 | Width::B16) => 1,
            (RegClass::Slot32, _) => 2,
            (RegClass::Slot64, _) => 3,
            (RegClass::Slot128, _) => return None,
        };
        let name = format!("{}{}{}", self.p, SPARE[kind], repeated.count[kind]);
        repeated.count[kind] += 1;
        let text = self.renamed(self.syntax_of(&self.function.code[pc])?, &name, &names)?;
        let _ = write!(repeated.text, "{text} ");
        repeated.names.insert(pc, name.clone());
        Some(name)
    }

    /// The text of an instruction with another destination, its first operand, and other names for what it reads.
    fn renamed(
        &self,
        syntax: &Instruction<'_>,
        destination: &str,
        names: &HashMap<String, String>,
    ) -> Option<String> {
        let first = syntax.operands.first()?.span;
        let mut text = self.on_one_line(Span::new(syntax.opcode.span.start, first.start));
        text.push_str(destination);
        let rest = self.on_one_line(Span::new(first.end, syntax.span.end));
        let part_of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        let mut rest = rest.as_str();
        while !rest.is_empty() {
            let length = rest.find(|c| !part_of_a_name(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(length);
            text.push_str(names.get(word).map_or(word, String::as_str));
            let next = behind.find(part_of_a_name).unwrap_or(behind.len());
            text.push_str(&behind[..next]);
            rest = &behind[next..];
        }
        Some(text)
    }
}
