//! What is put before an access: the comparison of its address with the memory it may touch, and the note of a
//! failure. Straight-line code without a branch; the access itself is predicated.

use std::fmt::Write as _;

use super::compare::Located;
use super::items::Item;
use super::provenance::Origin;
use super::refuse::Refused;
use super::sites::{CheckedSite, Open, RecordedAddress, SiteKind};
use super::writer::Writer;
use crate::ptx::ir::{AddressBase, Guard, Inst, MemoryAccess, Space};

/// Where an access stands, and what is still to be checked of it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) pc: usize,
    /// Its number among those of its instruction.
    pub(super) number: usize,
    pub(super) open: Open,
}

impl Writer<'_, '_> {
    /// Appends the check of `access` to `text`: afterwards the predicate holds where the access may be made, and a
    /// failure is noted. `pardon` is a predicate under which anything goes. `None`: nothing to check.
    pub(super) fn check(
        &mut self,
        text: &mut String,
        place: Place,
        inst: &Inst,
        access: &MemoryAccess,
        pardon: Option<&str>,
    ) -> Result<Option<String>, Refused> {
        let MemoryAccess { kind, space, address, size } = *access;
        let Place { pc, number, open } = place;
        if self.is_named_and_inside(&address, size, kind) {
            return Ok(None);
        }
        let (origin, multiple) = self.provenance.origin(pc, number, &address);
        let index = self.indexed.get(&(pc, number)).cloned();
        let located = self.locate(text, inst, space, &address)?;
        let known_multiple = origin != Origin::Any && multiple >= size;
        let tests = match open.range && index.is_none() {
            true => {
                let align = if open.alignment && known_multiple { size } else { 1 };
                self.tests(inst, origin, matches!(located, Located::Narrow(_)), access, align)?
            }
            false => Vec::new(),
        };
        let p = self.p;
        let ok = format!("{p}ok{number}");
        if !open.range {
            let _ = write!(text, "setp.eq.u32 {ok}, {p}f, {p}f; ");
        } else if tests.is_empty() && index.is_none() {
            let _ = write!(text, "setp.ne.u32 {ok}, {p}f, {p}f; ");
        }
        let mut offset = match &located {
            Located::Narrow(name) => format!("cvt.u64.u32 {p}g, {name};"),
            Located::Wide(name) => format!("mov.u64 {p}g, {name};"),
        };
        if let (Some(_), AddressBase::Reg(reg)) = (&index, address.base)
            && address.offset != 0
        {
            // nothing else needs the sum
            let name = self.function.register_name(reg).unwrap_or_default();
            offset = format!("add.s64 {p}g, {name}, {};", address.offset);
        }
        let mut relative = false;
        if let Some((limit, name)) = &index {
            self.compare_index(text, name, *limit, &ok, "");
        }
        for (index, test) in tests.iter().enumerate() {
            let combine = if index == 0 { "" } else { ".or" };
            let (ty, distance) = self.compare(text, &located, test, &ok, combine);
            relative = tests.len() == 1
                && matches!(test.base, Item::SharedBase(_) | Item::Local { .. } | Item::ParamBase { .. });
            if relative {
                offset = match ty {
                    "u32" => format!("cvt.u64.u32 {p}g, {distance};"),
                    _ => format!("mov.u64 {p}g, {distance};"),
                };
            }
        }
        let looked_at = open.alignment && size > 1 && !(known_multiple && open.range);
        if looked_at {
            self.look_at_alignment(text, &located, size, &ok);
        }
        if let Some(pardon) = pardon {
            let _ = write!(text, "or.pred {ok}, {ok}, {pardon}; ");
        }
        let buffer = match (origin, space) {
            (Origin::Buffer(index), Space::Global | Space::Generic) => Some(index),
            _ => None,
        };
        let space = match (tests.first().map(|test| test.base), relative) {
            (Some(Item::SharedBase(_)), true) => Space::Shared,
            (Some(Item::Local { .. }), true) => Space::Local,
            (Some(Item::ParamBase { .. }), true) => Space::Param,
            _ => space,
        };
        let site = CheckedSite {
            function: self.id,
            pc: pc as u32,
            line: inst.line,
            span: inst.span,
            kind: SiteKind::Access(kind),
            space,
            buffer,
            bytes: size,
            address: if relative { RecordedAddress::Offset } else { RecordedAddress::Absolute },
        };
        let bad = match inst.guard {
            None => format!("!{ok}"),
            Some(guard) => {
                let guard = self.guard(text, inst, guard)?;
                let _ = write!(text, "not.pred {p}b, {ok}; and.pred {p}b, {p}b, {guard}; ");
                format!("{p}b")
            }
        };
        let site = self.site(pc, number, inst, site)?;
        self.note(text, site, Some(&bad), &offset);
        Ok(Some(ok))
    }

    /// A predicate register that holds where the instruction's guard lets it run.
    pub(super) fn guard(&self, text: &mut String, inst: &Inst, guard: Guard) -> Result<String, Refused> {
        let name = self
            .function
            .register_name(guard.predicate)
            .ok_or_else(|| Refused::inst(inst, "a guard that is no plain register"))?;
        if !guard.negated {
            return Ok(name);
        }
        let negated = format!("{}ng", self.p);
        let _ = write!(text, "not.pred {negated}, {name}; ");
        Ok(negated)
    }

    /// The number of a site, from 1. An access that stands in the text twice is one site.
    pub(super) fn site(
        &mut self,
        pc: usize,
        number: usize,
        inst: &Inst,
        site: CheckedSite,
    ) -> Result<usize, Refused> {
        if let Some(known) = self.numbers.get(&(pc, number)) {
            return Ok(*known);
        }
        self.output.sites.push(site);
        let site = self.output.sites.len();
        if site > super::record::MOST_SITES - 1 {
            return Err(Refused::inst(inst, "more accesses than a record can number"));
        }
        self.numbers.insert((pc, number), site);
        Ok(site)
    }

    /// Notes the site with this number as the thread's first failure where `bad` holds (always, if there is none) and
    /// nothing was noted before. `address` moves the address to its register.
    pub(super) fn note(&mut self, text: &mut String, site: usize, bad: Option<&str>, address: &str) {
        let p = self.p;
        let _ = match bad {
            Some(bad) => write!(text, "setp.eq.and.u32 {p}q, {p}f, 0, {bad}; "),
            None => write!(text, "setp.eq.u32 {p}q, {p}f, 0; "),
        };
        let _ = write!(text, "@{p}q mov.u32 {p}f, {site}; @{p}q {address} ");
        if self.options.diagnose {
            let record = super::record::write(p);
            let label = self.fresh_label();
            let _ = write!(text, "@!{p}q bra {label}; {record}{label}: ");
        }
    }

    /// A label that stands nowhere yet.
    pub(super) fn fresh_label(&mut self) -> String {
        self.labels += 1;
        format!("{}n{}", self.label, self.labels)
    }
}
